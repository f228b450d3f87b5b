//! Whose a file is: selkie signs what it writes with a digest, and so knows what a person has changed.

use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::text::UNIT;

/// No unit is longer.
const MAX_LENGTH: u64 = 256 * 1024;
/// So many versions of a person's are kept.
const MAX_KEPT: u32 = 20;
const BEGIN: &str = "# Written by selkie ";
const DIGEST: &str = ", digest ";

/// What lies where selkie writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitState {
    /// Nothing.
    Nothing,
    /// What selkie has written, without its first line.
    Ours(String),
    /// Something that a person has made or changed.
    Theirs,
}

/// Puts the line before a text by which it is known again, and what a person changes it with instead.
pub fn signed(body: &str, to_edit: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "{BEGIN}{version}{DIGEST}{}\n# Put your own settings into `{to_edit}`: `selkie service install` replaces this file.\n{body}",
        digest(body)
    )
}

/// Whether this is the unit that comes with this selkie, written by it or put there by hand.
pub fn is_this_selkies(text: &str) -> bool {
    body(text) == Some(UNIT)
}

/// Looks what lies there.
///
/// # Errors
/// When it cannot be read.
pub fn found(path: &Path) -> io::Result<UnitState> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(UnitState::Nothing),
        Err(error) => return Err(error),
        // A link is how a person masks a unit, or keeps it elsewhere.
        Ok(metadata) if !metadata.is_file() => return Ok(UnitState::Theirs),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_LENGTH + 1).read_to_end(&mut bytes)?;
    let text = String::from_utf8(bytes).unwrap_or_default();
    Ok(body(&text).map_or(UnitState::Theirs, |body| UnitState::Ours(body.to_owned())))
}

/// Returns what selkie wrote; `None` when it is no longer what it wrote.
fn body(text: &str) -> Option<&str> {
    if text == UNIT {
        return Some(text);
    }
    let (first, rest) = text.split_once('\n')?;
    let (_, noted) = first.strip_prefix(BEGIN)?.split_once(DIGEST)?;
    let (_, body) = rest.split_once('\n')?;
    (noted == digest(body)).then_some(body)
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a file in one step, readable for everybody, as systemd wants it.
///
/// # Errors
/// When it cannot be written; nothing is left of it then.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    make_folder(folder)?;
    let part = ending(path, "part");
    // What a killed install has left is taken away, whatever it is.
    fs::remove_file(&part).ok();
    let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(&part);
    let written = made.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        // The process keeps others out of what it makes: a unit is for everybody.
        file.set_permissions(Permissions::from_mode(0o644))?;
        file.sync_all()?;
        fs::rename(&part, path)
    });
    if written.is_err() {
        fs::remove_file(&part).ok();
    }
    written
}

/// Makes a folder and those above it that are missing, open to everybody: the process keeps others out of what it makes,
/// and units are for everybody to see.
fn make_folder(folder: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|path| !path.is_dir()).collect();
    for path in missing.into_iter().rev() {
        fs::create_dir(path)?;
        fs::set_permissions(path, Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Moves what a person has made aside, and says where to.
///
/// # Errors
/// When it cannot be moved.
pub fn put_aside(path: &Path) -> io::Result<PathBuf> {
    // What was kept before is kept.
    let mut names = (1..=MAX_KEPT).map(|number| match number {
        1 => ending(path, "old"),
        number => ending(path, &format!("old.{number}")),
    });
    let free = names.find(|name| name.symlink_metadata().is_err());
    let aside = free.ok_or_else(|| {
        io::Error::other(format!("{MAX_KEPT} old ones are kept already: remove some"))
    })?;
    fs::rename(path, &aside)?;
    Ok(aside)
}

fn ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_selkie_wrote_is_known_again_until_somebody_changes_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("below/selkie.service");
        assert_eq!(found(&file).unwrap(), UnitState::Nothing);
        let text = signed("[Service]\n", "systemctl edit selkie");
        write(&file, &text).unwrap();
        assert_eq!(found(&file).unwrap(), UnitState::Ours("[Service]\n".to_owned()));
        for changed in [text.replace("[Service]", "[Unit]"), format!("{text}#"), String::new()] {
            write(&file, &changed).unwrap();
            assert_eq!(found(&file).unwrap(), UnitState::Theirs, "{changed}");
        }
        let aside = put_aside(&file).unwrap();
        write(&file, "again").unwrap();
        let again = put_aside(&file).unwrap();
        assert!(aside.is_file() && again.is_file() && aside != again);
        std::os::unix::fs::symlink("/dev/null", &file).unwrap();
        assert_eq!(found(&file).unwrap(), UnitState::Theirs);
    }

    #[test]
    fn the_trees_unit_is_ours_however_it_came_there() {
        assert!(is_this_selkies(UNIT) && is_this_selkies(&signed(UNIT, "systemctl edit selkie")));
        assert!(!is_this_selkies(&signed("[Unit]\n", "systemctl edit selkie")));
    }
}
