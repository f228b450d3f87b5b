//! The environment of a command: what it needs to work, and nothing that the daemon alone should know.

use std::collections::BTreeMap;

use crate::ToolError;

/// What git is told whatever a repository's own config says. A folder that only looks like a bare repository can be
/// written like any other, and its config names programs: git takes none for a repository unasked, nor starts
/// the one that `git status` would.
const GIT: [(&str, &str); 2] = [("safe.bareRepository", "explicit"), ("core.fsmonitor", "false")];
/// How git is told by its environment: so many keys, each with a value.
const GIT_COUNT: &str = "GIT_CONFIG_COUNT";

/// The daemon's own environment, read by config.
pub(super) type Environment = BTreeMap<String, String>;

/// The variables that every command gets, where the daemon has them.
const USUAL: [&str; 9] =
    ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER", "XDG_RUNTIME_DIR"];
/// Where programs are looked for when the daemon does not know.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// The variable that every process of ours carries, and its descendants: how survivors are found.
pub(super) const MARK: &str = "SELKIE_PROCESS";

/// Builds the environment of one command.
///
/// # Errors
/// When `asked` names a variable that a call may not set.
pub(super) fn environment(
    own: &Environment,
    injected: &[String],
    asked: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, ToolError> {
    if let Some(name) = asked.keys().find(|name| is_kept(name, injected)) {
        return Err(ToolError::tell(format!(
            "env may not set {name}: PATH, LD_*, BASH_ENV, git's config and what config injects stay as they are"
        )));
    }
    if let Some(name) = asked.keys().find(|name| !is_name(name)) {
        return Err(ToolError::tell(format!("invalid env: {name:?} is not a variable's name")));
    }
    if let Some((name, _)) = asked.iter().find(|(_, value)| value.contains('\0')) {
        return Err(ToolError::tell(format!("invalid env: {name} contains a NUL character")));
    }
    let usual = |name: &&String| {
        USUAL.contains(&name.as_str()) || name.starts_with("LC_") || injected.contains(name)
    };
    let mut all: BTreeMap<String, String> =
        own.iter().filter(|(n, _)| usual(n)).map(|(n, v)| (n.clone(), v.clone())).collect();
    all.entry("PATH".to_owned()).or_insert_with(|| PATH.to_owned());
    // No colours, no pagers, no questions: nobody looks at a terminal.
    for (name, value) in
        [("TERM", "dumb"), ("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0")]
    {
        all.insert(name.to_owned(), value.to_owned());
    }
    tell_git(&mut all);
    all.extend(asked.iter().map(|(n, v)| (n.clone(), v.clone())));
    Ok(all)
}

/// Adds what git is told to what the environment tells it already: the last one counts.
fn tell_git(all: &mut BTreeMap<String, String>) {
    let told = all.get(GIT_COUNT).and_then(|count| count.trim().parse::<usize>().ok());
    let mut count = told.unwrap_or_default();
    for (key, value) in GIT {
        all.insert(format!("GIT_CONFIG_KEY_{count}"), key.to_owned());
        all.insert(format!("GIT_CONFIG_VALUE_{count}"), value.to_owned());
        count = count.saturating_add(1);
    }
    all.insert(GIT_COUNT.to_owned(), count.to_string());
}

fn is_kept(name: &str, injected: &[String]) -> bool {
    let upper = name.to_ascii_uppercase();
    upper == "PATH"
        || upper == MARK
        || upper.starts_with("LD_")
        || upper.starts_with("DYLD_")
        || ["BASH_ENV", "ENV", "IFS", "SHELLOPTS", "BASHOPTS"].contains(&upper.as_str())
        || upper.starts_with("BASH_FUNC_")
        || [GIT_COUNT, "GIT_CONFIG_PARAMETERS"].contains(&upper.as_str())
        || upper.starts_with("GIT_CONFIG_KEY_")
        || upper.starts_with("GIT_CONFIG_VALUE_")
        || injected.iter().any(|i| i.eq_ignore_ascii_case(name))
}

/// Whether a text can be a variable's name.
pub fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn secrets_of_the_daemon_stay_with_it() {
        let own =
            map(&[("OPENAI_API_KEY", "sk"), ("HOME", "/h"), ("LC_ALL", "C"), ("GH_TOKEN", "t")]);
        let all = environment(&own, &["GH_TOKEN".to_owned()], &map(&[("A", "b")])).unwrap();
        let names: Vec<_> = all.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "A",
                "GH_TOKEN",
                "GIT_CONFIG_COUNT",
                "GIT_CONFIG_KEY_0",
                "GIT_CONFIG_KEY_1",
                "GIT_CONFIG_VALUE_0",
                "GIT_CONFIG_VALUE_1",
                "GIT_PAGER",
                "GIT_TERMINAL_PROMPT",
                "HOME",
                "LC_ALL",
                "PAGER",
                "PATH",
                "TERM"
            ]
        );
        assert_eq!(all["PATH"], PATH);
    }

    #[test]
    fn what_a_person_tells_git_stays_and_ours_comes_last() {
        let names = [GIT_COUNT, "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"];
        let own = names.into_iter().zip(["1", "user.name", "Ann"]).collect::<Vec<_>>();
        let all = environment(&map(&own), &names.map(str::to_owned), &map(&[])).unwrap();
        let told = |what: &str, at: usize| all[&format!("GIT_CONFIG_{what}_{at}")].as_str();
        assert_eq!(all[GIT_COUNT], "3");
        assert_eq!((told("KEY", 0), told("VALUE", 0)), ("user.name", "Ann"));
        assert_eq!((told("KEY", 1), told("VALUE", 1)), GIT[0]);
        assert_eq!((told("KEY", 2), told("VALUE", 2)), GIT[1]);
        let asked = map(&[(GIT_COUNT, "0")]);
        assert!(environment(&Environment::new(), &[], &asked).is_err());
    }

    proptest! {
        /// No spelling of a call's `env` changes what programs are found or loaded.
        #[test]
        fn loaders_stay(name in "(PATH|path|LD_[A-Z_]{0,9}|ld_preload|Gh_Token|BASH_ENV)", value in ".*") {
            let injected = ["GH_TOKEN".to_owned()];
            let asked = map(&[(name.as_str(), value.as_str())]);
            prop_assert!(environment(&Environment::new(), &injected, &asked).is_err());
        }
    }
}
