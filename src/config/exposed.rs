//! Files that hold secrets and can be read by every user of the machine.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Anybody's right to read.
const ANYBODY: u32 = 0o004;

/// Says of the config, given when it holds secrets itself, and of the files of secrets which can be read by anybody.
pub fn notes(config: Option<&Path>, files: &[PathBuf]) -> Vec<String> {
    let is_open = |file: &&Path| file.metadata().is_ok_and(|m| m.mode() & ANYBODY != 0);
    let all = config.into_iter().chain(files.iter().map(PathBuf::as_path));
    let note = |file: &Path| {
        let file = file.display();
        format!(
            "{file} holds a secret, and every user of this machine can read it: chmod 600 {file}, or keep the secret \
             elsewhere, in a file of its own (the key with _file behind it) or a systemd credential"
        )
    };
    all.filter(is_open).map(note).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_what_anybody_can_read_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, mode| {
            let file = dir.path().join(name);
            std::fs::write(&file, "x").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            file
        };
        let files =
            [file("own", 0o600), file("group", 0o640), file("all", 0o644), dir.path().join("none")];
        let said = notes(Some(&file("config", 0o666)), &files);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said.iter().all(|note| note.contains("chmod 600") && note.contains("credential")));
        assert!(
            said[0].contains("config holds a secret") && said[1].contains("/all holds a secret"),
            "{said:?}"
        );
    }
}
