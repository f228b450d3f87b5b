//! The look at who may read the state folder and the credentials in it. The config and the files of its secrets are
//! judged where they are read.

use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::finding::Finding;
use super::look::Look;
use selkie_app::build::AppConfig;
use selkie_tools::paths::CREDENTIALS;

const WHAT: &str = "permissions";
/// So many files of credentials are looked at.
const MAX_FILES: usize = 200;

/// Looks at folders and files that are there.
pub fn look(plan: &AppConfig) -> Look {
    let state = plan.folders.state.clone();
    Look::here(WHAT, move || findings(&state))
}

fn findings(state: &Path) -> Vec<Finding> {
    let credentials = state.join(CREDENTIALS);
    let folders = [state, &credentials].into_iter().filter_map(folder);
    let files = files(&credentials);
    let mut findings: Vec<Finding> = folders.chain(files.iter().filter_map(|f| file(f))).collect();
    if findings.is_empty() && state.exists() {
        findings.push(Finding::fine(WHAT, "the state folder is closed to others"));
    }
    findings
}

/// The files in the folders of a folder, some of them.
fn files(credentials: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.flatten().map(|entry| entry.path()).take(MAX_FILES).collect::<Vec<_>>()
    };
    let below = entries(credentials).into_iter().flat_map(|folder| entries(&folder));
    below.filter(|path| path.is_file()).take(MAX_FILES).collect()
}

/// What is not there is open to nobody.
fn mode(path: &Path, what: fn(&Metadata) -> bool) -> Option<u32> {
    let found = path.metadata().ok().filter(what)?;
    Some(found.permissions().mode() & 0o777)
}

fn folder(path: &Path) -> Option<Finding> {
    let mode = mode(path, Metadata::is_dir).filter(|mode| mode & 0o077 != 0)?;
    let path = path.display();
    Some(Finding::warning(
        WHAT,
        format!(
            "{path} is open to others (mode {mode:04o}): it contains conversations and credentials"
        ),
        format!("chmod 700 {path}; selkie run does the same"),
    ))
}

fn file(path: &Path) -> Option<Finding> {
    let mode = mode(path, Metadata::is_file).filter(|mode| mode & 0o077 != 0)?;
    let path = path.display();
    Some(Finding::error(
        WHAT,
        format!("{path} holds credentials and is open to others (mode {mode:04o})"),
        format!("chmod 600 {path}, and replace the credentials if other people use this machine"),
    ))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};

    use super::*;
    use crate::doctor::finding::Level;

    #[test]
    fn what_is_open_to_others_is_named() {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("state");
        let token = state.join("credentials/x/token");
        fs::create_dir_all(token.parent().unwrap()).unwrap();
        let set =
            |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        fs::write(&token, "x").unwrap();
        set(&token, 0o600);
        for folder in [&state, &state.join("credentials")] {
            set(folder, 0o700);
        }
        let levels = || findings(&state).iter().map(|f| f.level).collect::<Vec<_>>();
        assert_eq!(levels(), [Level::Fine]);
        set(&state, 0o755);
        assert_eq!(levels(), [Level::Warning]);
        set(&token, 0o640);
        assert_eq!(levels(), [Level::Warning, Level::Error]);
    }
}
