//! What was in a file before: the files themselves, the newest ten of each, so that what an editor still writes into one
//! is not lost either.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use chrono::{DateTime, NaiveDateTime, Utc};
use serde::{Deserialize, Serialize};

use super::disk::{gone, made, private};
use super::save_in_progress::Look;
use super::seal::{Seal, SealCheck};

/// So many earlier versions of a file are kept.
pub const MAX_KEPT: usize = 10;
/// The folder of the state folder where they lie. No tool reaches it.
pub(super) const NAME: &str = "kept";
/// What lies beside a file while it is changed.
const STAGED: &str = "next";
/// The same while it is being written.
const PART: &str = "part";
/// What stood in a file's place, where it cannot be exchanged in one step.
const OLD: &str = "old";
/// What the file looked like that we staged last.
const OURS: &str = "ours";

/// What the readers of a file have noted of it.
const NOTED: &str = "said";
/// How a version's name begins.
const STAMP: &str = "%Y%m%dT%H%M%S%.3fZ";

/// An earlier version of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Its name; it begins with when another one took its place.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Until when it stood in its place.
    pub at: Option<DateTime<Utc>>,
}

/// The earlier versions of one file.
pub(super) struct Keep {
    folder: PathBuf,
    seal: Seal,
}

impl Keep {
    pub fn of(state: &Path, file: &str) -> Self {
        let folder = state.join(NAME).join(file.replace('/', "."));
        Self { folder, seal: Seal::of(state, file) }
    }

    /// Makes its folder.
    pub fn made(&self) -> io::Result<&Path> {
        made(&self.folder)?;
        Ok(&self.folder)
    }

    /// The path of what is staged.
    pub fn path(&self) -> PathBuf {
        self.folder.join(STAGED)
    }

    /// The path of what is being written.
    pub fn part(&self) -> PathBuf {
        self.folder.join(PART)
    }

    /// The path of what stood there.
    pub fn old(&self) -> PathBuf {
        self.folder.join(OLD)
    }

    /// Reads what is staged, or came out.
    pub fn staged(&self) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.path()) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Notes what looks so as ours.
    pub fn note(&self, ours: Look) -> io::Result<()> {
        private(&self.folder.join(OURS), true)?.write_all(ours.line().as_bytes())
    }

    /// Whether what looks so is as we wrote it.
    pub fn is_ours(&self, look: Look) -> bool {
        self.ours().is_some_and(|ours| ours == look.line())
    }

    /// Whether there were words in the file before.
    pub fn had_words(&self) -> bool {
        let newest = self.kept().ok().and_then(|kept| kept.last()?.metadata().ok());
        self.ours().is_some() || newest.is_some_and(|newest| newest.len() > 0)
    }

    fn ours(&self) -> Option<String> {
        fs::read_to_string(self.folder.join(OURS)).ok()
    }

    /// Keeps what came out, and forgets the oldest; returns where it lies.
    pub fn keep(&self, now: DateTime<Utc>) -> io::Result<PathBuf> {
        let version = self.next_version(now)?;
        fs::rename(self.path(), &version)?;
        self.forget_oldest().map(|()| version)
    }

    /// Keeps what came out, and leaves it where it lies, too.
    pub fn also_keep(&self, now: DateTime<Utc>) -> io::Result<PathBuf> {
        let version = self.next_version(now)?;
        fs::hard_link(self.path(), &version)?;
        self.forget_oldest().map(|()| version)
    }

    fn next_version(&self, now: DateTime<Utc>) -> io::Result<PathBuf> {
        let stamp = now.format(STAMP).to_string();
        let name =
            |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let names = self.kept()?.iter().filter_map(name).collect::<Vec<_>>();
        // Those of one moment are numbered in their order.
        let of_now = names
            .iter()
            .filter_map(|name| name.strip_prefix(&stamp)?.strip_prefix('-')?.parse::<u32>().ok());
        let number = of_now.max().map_or(0, |last| last.saturating_add(1));
        Ok(self.folder.join(format!("{stamp}-{number:06}")))
    }

    fn forget_oldest(&self) -> io::Result<()> {
        for old in self.kept()?.iter().rev().skip(MAX_KEPT) {
            fs::remove_file(old)?;
        }
        File::open(&self.folder)?.sync_all()
    }

    /// Throws away what is staged.
    pub fn drop_staged(&self) -> io::Result<()> {
        fs::remove_file(self.path())
    }

    /// Throws away everything that is kept of the file.
    pub fn forget(&self) -> io::Result<()> {
        gone(fs::remove_dir_all(&self.folder))?;
        self.seal.forget()
    }

    /// Throws away everything but what is noted of the file, and what it looks like.
    pub fn forget_versions(&self) -> io::Result<()> {
        if !self.noted().exists() {
            return gone(fs::remove_dir_all(&self.folder));
        }
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path != self.noted() && path != self.folder.join(OURS) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    /// The path of what is noted of the file.
    pub fn noted(&self) -> PathBuf {
        self.folder.join(NOTED)
    }

    /// What is known of the note that stands there.
    pub fn sealed(&self, note: Option<&[u8]>) -> io::Result<SealCheck> {
        self.seal.says(note)
    }

    /// Notes this.
    pub fn set_note(&self, note: &[u8]) -> io::Result<()> {
        let before = match fs::read(self.noted()) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            read => Some(read?),
        };
        self.made()?;
        self.seal.replace(&self.noted(), before.as_deref(), note)
    }

    /// Takes no note for the newest from here on, until there is a new one.
    pub fn lose_note(&self) -> io::Result<()> {
        self.seal.lose()
    }

    /// Notes the same of the file that this one becomes, as far as it is whole.
    pub fn note_along(&self, to: &Self) -> io::Result<()> {
        match fs::read(self.noted()) {
            Ok(note) if self.sealed(Some(&note))? != SealCheck::Broken => to.set_note(&note),
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ if self.sealed(None)? == SealCheck::Never => Ok(()),
            // What is lost here is lost there.
            _ => to.seal.renew(b""),
        }
    }

    /// Lists what is kept, the oldest first.
    pub fn kept(&self) -> io::Result<Vec<PathBuf>> {
        let mut all: Vec<PathBuf> = fs::read_dir(&self.folder)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<io::Result<_>>()?;
        let is_version = |name: &str| name.starts_with(|c: char| c.is_ascii_digit());
        all.retain(|path| path.file_name().is_some_and(|name| is_version(&name.to_string_lossy())));
        all.sort();
        Ok(all)
    }

    /// Lists the versions, the newest first.
    pub fn versions(&self) -> io::Result<Vec<Version>> {
        let kept = match self.kept() {
            Err(error) if is_absent(&error) => Vec::new(),
            kept => kept?,
        };
        let version = |path: &PathBuf| {
            let name = path.file_name()?.to_string_lossy().into_owned();
            let stamp = name.split('-').next().unwrap_or_default();
            let at = NaiveDateTime::parse_from_str(stamp, STAMP).ok().map(|at| at.and_utc());
            Some(Version { bytes: path.metadata().ok()?.len(), at, name })
        };
        Ok(kept.iter().rev().filter_map(version).collect())
    }

    /// Reads a version.
    pub fn version(&self, name: &str) -> io::Result<Vec<u8>> {
        let found = self.kept()?.into_iter().find(|path| path.ends_with(name));
        fs::read(found.ok_or(ErrorKind::NotFound)?)
    }

    /// Throws away what was staged and never noted.
    pub fn sweep(state: &Path) -> io::Result<()> {
        let entries = match fs::read_dir(state.join(NAME)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let folder = entry?.path();
            for left in [STAGED, PART] {
                match fs::remove_file(folder.join(left)) {
                    Err(error) if !is_absent(&error) => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// Takes every note for the newest.
pub(super) fn seal_all(state: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(state.join(NAME)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        // What is no text is none of ours.
        let Ok(name) = entry.file_name().into_string() else { continue };
        match fs::read(entry.path().join(NOTED)) {
            Ok(note) => Seal::of(state, &name).renew(&note)?,
            Err(error) if is_absent(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Waits until no other process changes anything.
pub(super) fn lock(state: &Path) -> io::Result<File> {
    let file = private(&folder(state)?.join("lock"), false)?;
    file.lock()?;
    Ok(file)
}

/// Makes the folder of everything that is kept.
pub(crate) fn folder(state: &Path) -> io::Result<PathBuf> {
    let folder = state.join(NAME);
    made(&folder)?;
    Ok(folder)
}
