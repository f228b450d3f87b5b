//! The state and cache folders on disk: made for us alone.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use anyhow::Context;

use selkie_config::paths::Folders;
use selkie_tools::paths::CREDENTIALS;

/// Makes both folders, for us alone.
///
/// # Errors
/// When a folder or file cannot be made; says which, and what to set.
pub fn prepare(folders: &Folders) -> anyhow::Result<()> {
    make(&folders.state).with_context(|| {
        let path = folders.state.display();
        format!(
            "the state folder {path} cannot be created: set file_state_dir or --state to one that can"
        )
    })?;
    make(&folders.cache).with_context(|| {
        let path = folders.cache.display();
        format!("the cache folder {path} cannot be created: set file_cache_dir to one that can")
    })?;
    for (folder, most) in [(&folders.state, 0o700), (&folders.cache, 0o750)] {
        tighten(folder, most);
    }
    keep_apart(&folders.state).context("the credentials of channels cannot be moved")?;
    Ok(())
}

/// Takes rights of others from a folder that was there before.
fn tighten(folder: &Path, most: u32) {
    let tightened = fs::metadata(folder).and_then(|found| {
        let mode = found.permissions().mode() & 0o7777;
        if mode & !most & 0o777 == 0 {
            return Ok(None);
        }
        fs::set_permissions(folder, Permissions::from_mode(mode & most))?;
        Ok(Some(mode))
    });
    let path = folder.display();
    match tightened {
        Ok(None) => {}
        Ok(Some(mode)) => {
            tracing::info!(folder = %path, "was open to others (mode {mode:04o}): closed to them");
        }
        Err(error) => {
            tracing::warn!(folder = %path, %error, "is open to others and cannot be closed: see its owner and mode");
        }
    }
}

/// What channels keep for themselves lies below `credentials`, where no tool looks; earlier versions had
/// it below `channels`.
fn keep_apart(state: &Path) -> io::Result<()> {
    let old = state.join("channels");
    let new = state.join(CREDENTIALS);
    make(&new)?;
    tighten(&new, 0o700);
    let entries = match fs::read_dir(&old) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let there = new.join(entry.file_name());
        // What is there already is newer.
        if !there.exists() {
            fs::rename(entry.path(), &there)?;
        }
        if there.is_dir() {
            tighten(&there, 0o700);
            for file in fs::read_dir(&there)? {
                tighten(&file?.path(), 0o600);
            }
        }
    }
    // What is left there is not ours.
    _ = fs::remove_dir(&old);
    Ok(())
}

/// Makes a folder for us alone, unless it is there.
pub fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_were_open_are_closed_and_credentials_move() {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders { state: home.path().join("s"), cache: home.path().join("c") };
        for folder in ["s/channels/x", "c"] {
            fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        let token = home.path().join("s/channels/x/oauth2.json");
        fs::write(&token, "token").unwrap();
        for (path, mode) in [("s", 0o755), ("c", 0o775), ("s/channels/x/oauth2.json", 0o644)] {
            fs::set_permissions(home.path().join(path), Permissions::from_mode(mode)).unwrap();
        }
        prepare(&folders).unwrap();
        let mode =
            |path: &str| fs::metadata(home.path().join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("s"), mode("c"), mode("s/credentials")), (0o700, 0o750, 0o700));
        assert_eq!(mode("s/credentials/x/oauth2.json"), 0o600);
        assert!(!token.exists() && !home.path().join("s/channels").exists());
        prepare(&folders).unwrap();
        let kept = fs::read_to_string(home.path().join("s/credentials/x/oauth2.json")).unwrap();
        assert_eq!(kept, "token");
    }
}
