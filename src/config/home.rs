//! Paths that begin with `~/`: below the home folder, as a shell has them.

use serde_json::Value;

use crate::problem::Wrong;

/// Our own keys that hold a path; `*` is any name.
const PATHS: [&[&str]; 6] = [
    &["file_state_dir"],
    &["file_cache_dir"],
    &["workspace", "dir"],
    &["agents", "*", "workspace"],
    &["backup", "dir"],
    &["tools", "bash", "rewrite", "binary"],
];

/// Puts the home folder in the place of `~/`, in every key that holds a path and in every `<key>_file`. What
/// cannot be told stays as it is written.
pub fn expand(value: &mut Value, home: Option<&str>) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    walk(value, &mut Vec::new(), &mut |path, text| {
        let named = path.last().is_some_and(|key| key.ends_with("_file"));
        let fits = |(part, known): (&String, &&str)| *known == "*" || part == known;
        let known = PATHS
            .iter()
            .any(|known| path.len() == known.len() && path.iter().zip(*known).all(fits));
        let opened = matches!(path, [section, list, _] if section == "sandbox" && ["read", "write"].contains(&&**list));
        let denied = path.len() > 1 && path[path.len() - 2] == "deny_paths";
        if !named && !known && !opened && !denied {
            return;
        }
        match expanded(text, home) {
            // A list of what is denied is expanded where it is used: commands may write both.
            Ok(Some(path)) if !denied => *text = path,
            Ok(_) => {}
            Err(message) => wrong.push((path.to_vec(), message)),
        }
    });
    wrong
}

/// Returns a path below the home folder; `None` when it does not begin there.
///
/// # Errors
/// When it names somebody else's home, or nobody knows where home is.
pub fn expanded(text: &str, home: Option<&str>) -> Result<Option<String>, String> {
    let Some(rest) = text.trim().strip_prefix('~') else { return Ok(None) };
    if !rest.is_empty() && !rest.starts_with('/') {
        return Err(format!(
            "takes a path, or one below ~/, not {text:?}: write other people's homes out"
        ));
    }
    match home.filter(|home| !home.is_empty()) {
        Some(home) => Ok(Some(format!("{}{rest}", home.trim_end_matches('/')))),
        None => Err(format!("is {text:?}, and HOME is not set: write the path out")),
    }
}

fn walk(value: &mut Value, path: &mut Vec<String>, visit: &mut dyn FnMut(&[String], &mut String)) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                path.push(key.clone());
                walk(inner, path, visit);
                path.pop();
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter_mut().enumerate() {
                path.push(index.to_string());
                walk(inner, path, visit);
                path.pop();
            }
        }
        Value::String(text) => visit(path, text),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tilde_is_the_home_folder_and_nobody_elses() {
        let mut value = json!({
            "file_state_dir": "~/s", "workspace": {"dir": "~"}, "owners": ["~/x"],
            "pigeon": {"bot_token_file": "~/token"}, "file_cache_dir": "~ada/c",
            "tools": {"bash": {"deny_paths": ["~/.ssh", "~bob"]}},
        });
        let wrong = expand(&mut value, Some("/home/me"));
        assert_eq!(value["file_state_dir"], "/home/me/s");
        assert_eq!(value["workspace"]["dir"], "/home/me");
        assert_eq!(value["pigeon"]["bot_token_file"], "/home/me/token");
        assert_eq!(
            (&value["owners"][0], &value["tools"]["bash"]["deny_paths"][0]),
            (&json!("~/x"), &json!("~/.ssh"))
        );
        let keys: Vec<String> = wrong.iter().map(|(path, _)| path.join(".")).collect();
        assert_eq!(keys, ["file_cache_dir", "tools.bash.deny_paths.1"]);
        assert!(expanded("~/x", None).is_err());
    }
}
