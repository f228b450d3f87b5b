//! What is wrong with `skills`.

use crate::problem::Wrong;
use crate::source::path;
use selkie_skills::Settings;

/// All of them are looked through before each task.
const MAX_FOLDERS: usize = 32;

/// Lists what is wrong.
pub fn problems(settings: &Settings) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    if settings.folders.len() > MAX_FOLDERS {
        let many = settings.folders.len();
        wrong.push((
            path(&["skills", "folders"]),
            format!("takes {MAX_FOLDERS} folders at most, not {many}"),
        ));
    }
    for (index, folder) in settings.folders.iter().enumerate() {
        let shown = folder.display().to_string();
        let why = match folder {
            folder if !folder.is_absolute() => {
                "takes whole paths of folders that hold skills (/srv/skills)"
            }
            folder if folder.parent().is_none() => {
                "takes a folder that holds skills, and not the whole machine"
            }
            _ => continue,
        };
        wrong.push((
            path(&["skills", "folders", &index.to_string()]),
            format!("{why}, not {shown:?}"),
        ));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_says_what_is_taken() {
        let settings = serde_json::json!({ "folders": ["skills", "", "/", "/srv/skills"] });
        let settings: Settings = serde_json::from_value(settings).unwrap();
        let said = problems(&settings);
        let said = said.iter().map(|(path, message)| format!("{}: {message}", path.join(".")));
        insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"), @r#"
        skills.folders.0: takes whole paths of folders that hold skills (/srv/skills), not "skills"
        skills.folders.1: takes whole paths of folders that hold skills (/srv/skills), not ""
        skills.folders.2: takes a folder that holds skills, and not the whole machine, not "/"
        "#);
        let many = Settings { folders: vec!["/a".into(); 33], ..Settings::default() };
        assert!(problems(&many)[0].1.contains("at most, not 33"));
    }
}
