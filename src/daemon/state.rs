//! The state folder on disk: made for us alone, and laid out on the first start.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use anyhow::Context;

use crate::config::paths::Folders;

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        /// Every file of a new state folder, by its name inside it.
        const TEMPLATES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../state/templates/", $name)))),*];
    };
}

templates![
    "TODO.md",
    "HEARTBEAT.md",
    "contacts/ACTIVE.md",
    "contacts/INACTIVE.md",
    "persona/IDENTITY.md",
    "persona/SOUL.md",
    "skills/README.md",
    "schemas/README.md",
];

/// Makes both folders (0700) and writes the templates that are missing in a new state folder.
///
/// # Errors
/// When a folder or file cannot be made; says which, and what to set.
pub fn prepare(folders: &Folders) -> anyhow::Result<()> {
    make(&folders.state).with_context(|| {
        let path = folders.state.display();
        format!(
            "the state folder {path} cannot be made: set file_state_dir or --state to one that can"
        )
    })?;
    make(&folders.cache).with_context(|| {
        let path = folders.cache.display();
        format!("the cache folder {path} cannot be made: set file_cache_dir to one that can")
    })?;
    for (name, text) in TEMPLATES {
        let path = folders.state.join(name);
        write_new(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}

fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        make(parent)?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_new_folder_is_laid_out_and_files_that_exist_are_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders { state: home.path().join("s"), cache: home.path().join("c/c") };
        prepare(&folders).unwrap();
        let mode = fs::metadata(&folders.state).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert!(folders.state.join("contacts/ACTIVE.md").is_file());
        fs::write(folders.state.join("TODO.md"), "mine").unwrap();
        prepare(&folders).unwrap();
        assert_eq!(fs::read_to_string(folders.state.join("TODO.md")).unwrap(), "mine");
    }

    #[test]
    fn every_template_of_the_checkout_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("state/templates");
        let mut found = 0;
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path != root.join("README.md") {
                    let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
                    assert!(TEMPLATES.iter().any(|(n, _)| *n == name), "{name} is not embedded");
                    found += 1;
                }
            }
        }
        assert_eq!(found, TEMPLATES.len());
    }
}
