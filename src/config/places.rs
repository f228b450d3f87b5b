//! Whether the folders that the config names can be used: they are there, or can be made.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use selkie_channel_core::Problem;

use crate::config::paths::Folders;
use crate::config::settings::Settings;

/// Looks at every folder. Nothing is made.
pub fn problems(settings: &Settings, folders: &Folders, here: &Path) -> Vec<Problem> {
    let workspace = settings.workspace.dir.as_ref().map(|dir| here.join(dir));
    let all = [
        ("file_state_dir", Some(&folders.state)),
        ("file_cache_dir", Some(&folders.cache)),
        ("workspace.dir", workspace.as_ref()),
    ];
    let wrong = |(key, path): (&str, Option<&PathBuf>)| {
        let says = unusable(path?)?;
        Some(Problem { key: key.to_owned(), says })
    };
    all.into_iter().filter_map(wrong).collect()
}

/// Says why a folder cannot be used; the nearest folder that is there decides about one that is not.
fn unusable(path: &Path) -> Option<String> {
    let shown = path.display();
    let there = path.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok())?;
    if !there.is_dir() {
        return Some(format!("is {shown}, and {} is not a folder", there.display()));
    }
    let error = match access(there, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) if is_the_kernels(there) => "it belongs to the kernel".to_owned(),
        Ok(()) => return None,
        Err(error) => error.to_string(),
    };
    let what = if there == path { "cannot be written to" } else { "cannot be created" };
    Some(format!("is {shown}, which {what}: {}: {error}", there.display()))
}

/// Root is told that it may write to `/proc` and `/sys`, and cannot.
fn is_the_kernels(folder: &Path) -> bool {
    ["/proc", "/sys", "/dev"].iter().any(|kernel| folder.starts_with(kernel))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_missing_is_judged_by_the_one_above_it() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("file"), "").unwrap();
        let said = |name: &str| {
            let text = unusable(&home.path().join(name));
            text.map(|t| t.replace(home.path().to_str().unwrap(), "…"))
        };
        assert_eq!(said("new/deep"), None);
        assert_eq!(said(""), None);
        assert_eq!(said("file/x").unwrap(), "is …/file/x, and …/file is not a folder");
        // Nobody makes folders there, root neither.
        assert!(unusable(Path::new("/proc/selkie/state")).is_some());
    }
}
