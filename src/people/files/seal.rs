//! What the notes in `kept/` are known by, in a folder of its own: a note that is gone, or that somebody has brought back from
//! before, is not taken for the newest.

use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::disk::{gone, made, put, replace};

/// The folder of the state folder where they lie. No tool reaches it.
const NAME: &str = "seals";
/// Bytes of one that are read.
const MAX_LENGTH: u64 = 4096;

/// The seal of one note.
pub(super) struct Seal {
    path: PathBuf,
}

/// What a seal says of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SealCheck {
    /// Nothing was sealed.
    Never,
    /// It is the newest.
    Whole,
    /// It is not.
    Broken,
}

impl Seal {
    /// The seal of the note of a file, or of one that goes by that name.
    pub fn of(state: &Path, file: &str) -> Self {
        Self { path: state.join(NAME).join(file.replace('/', ".")) }
    }

    /// Says what these bytes are, which stand where the note stands.
    pub fn says(&self, note: Option<&[u8]>) -> io::Result<SealCheck> {
        let mut seals = Vec::new();
        match fs::File::open(&self.path) {
            Ok(file) => file.take(MAX_LENGTH).read_to_end(&mut seals)?,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(SealCheck::Never),
            Err(error) => return Err(error),
        };
        Ok(match note.is_some_and(|note| names(&seals, note)) {
            true => SealCheck::Whole,
            false => SealCheck::Broken,
        })
    }

    /// Replaces a note by another one, and the seal with it: whatever comes in between, one of them is the newest.
    pub fn replace(&self, note: &Path, before: Option<&[u8]>, bytes: &[u8]) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            made(folder)?;
        }
        let both = [Some(bytes), before].into_iter().flatten().map(digest).collect::<Vec<_>>();
        replace(&self.path, both.join("\n").as_bytes())?;
        replace(note, bytes)?;
        // Not synced: if it is lost, both still are.
        put(&self.path, digest(bytes).as_bytes()).map(drop)
    }

    /// Takes a note as it is for the newest.
    pub fn renew(&self, note: &[u8]) -> io::Result<()> {
        self.path.parent().map_or(Ok(()), made)?;
        replace(&self.path, digest(note).as_bytes())
    }

    /// Takes no note for the newest.
    pub fn lose(&self) -> io::Result<()> {
        self.path.parent().map_or(Ok(()), made)?;
        replace(&self.path, b"")
    }

    /// Throws it away.
    pub fn forget(&self) -> io::Result<()> {
        gone(fs::remove_file(&self.path))
    }
}

/// Whether there is any: the first look at the lists makes one.
pub(super) fn is_any(state: &Path) -> bool {
    fs::read_dir(state.join(NAME)).is_ok_and(|mut all| all.next().is_some())
}

/// Whether one of these lines is what a note is known by.
fn names(seals: &[u8], note: &[u8]) -> bool {
    let digest = digest(note);
    seals.split(|byte| *byte == b'\n').any(|line| line == digest.as_bytes())
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_note_is_whole() {
        let home = tempfile::tempdir().unwrap();
        let (seal, note) = (Seal::of(home.path(), "memory/a.md"), home.path().join("note"));
        assert_eq!(seal.says(Some(b"one")).unwrap(), SealCheck::Never);
        seal.replace(&note, None, b"one").unwrap();
        assert_eq!(seal.says(Some(b"one")).unwrap(), SealCheck::Whole);
        seal.replace(&note, Some(b"one"), b"two").unwrap();
        assert_eq!(fs::read(&note).unwrap(), b"two");
        for broken in [None, Some(&b"one"[..]), Some(b"")] {
            assert_eq!(seal.says(broken).unwrap(), SealCheck::Broken, "{broken:?}");
        }
        fs::write(&seal.path, "").unwrap();
        assert_eq!(seal.says(Some(b"two")).unwrap(), SealCheck::Broken);
        seal.renew(b"two").unwrap();
        assert_eq!(seal.says(Some(b"two")).unwrap(), SealCheck::Whole);
        seal.forget().unwrap();
        assert_eq!(seal.says(Some(b"two")).unwrap(), SealCheck::Never);
    }

    /// A kill between the seal and its note.
    #[test]
    fn the_note_before_holds_until_the_new_one_is_in_place() {
        let home = tempfile::tempdir().unwrap();
        let seal = Seal::of(home.path(), "a.md");
        seal.replace(&home.path().join("note"), None, b"one").unwrap();
        seal.replace(&home.path().join("no/folder"), Some(b"one"), b"two").unwrap_err();
        assert_eq!(seal.says(Some(b"one")).unwrap(), SealCheck::Whole);
    }
}
