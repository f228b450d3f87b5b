//! What is noted of whose words the items of the todo files are, beside the files: what each says, the level it was written
//! with, and the chat it belongs to.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::disk::gone;
use super::kept_versions::NAME;
use super::seal::{Seal, SealCheck, names};
use crate::todo::List;
use selkie_domain::fingerprint::Gist;
use selkie_domain::taint::Taint;

/// What is noted, in its folder.
const NOTE: &str = "whose.json";
/// What it was known by in earlier versions.
const SEALS: &str = "whose.sum";
/// Bytes of it that are read.
const MAX_SEALS: u64 = 4096;
/// Bytes that are read; the lists themselves have fewer.
const MAX_LENGTH: u64 = 64 * 1024 * 1024;

/// What is noted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Marks {
    /// The lists whose level stands in marks: that of others stands on their file, as earlier versions had it.
    pub lists: Vec<List>,
    /// The oldest first.
    pub marks: Vec<Mark>,
    /// What was noted before is lost, and nobody has said since whose the items are.
    #[serde(default, skip_serializing_if = "is_not")]
    pub is_lost: bool,
}

/// What was found of it.
pub(super) enum MarkLookup {
    /// This.
    These(Marks),
    /// Nothing, and nothing was written before.
    Nothing,
    /// It is gone, or not what was written.
    Lost,
}

/// Whose something is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Mark {
    /// What it says.
    pub gist: Gist,
    /// The level it was written with.
    pub level: Taint,
    /// The chat whose item it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<String>,
    /// Whoever's item it is has written these very words, and nobody else's were in play.
    #[serde(default, rename = "own", skip_serializing_if = "is_not")]
    pub is_own: bool,
    /// Nobody had noted it: it stood there as another program wrote it, or after a loss.
    #[serde(default, rename = "found", skip_serializing_if = "is_not")]
    pub is_found: bool,
}

impl Mark {
    /// What somebody said, out of words of this level.
    pub fn of(gist: Gist, level: Taint, chat: Option<String>) -> Self {
        Self { gist, level, chat, is_own: false, is_found: false }
    }
}

fn is_not(what: &bool) -> bool {
    !what
}

impl Marks {
    /// Reads what is noted.
    pub fn read(state: &Path) -> io::Result<MarkLookup> {
        let bytes = read(&path(state), MAX_LENGTH)?;
        let is_newest = match Seal::of(state, NOTE).says(bytes.as_deref())? {
            SealCheck::Whole => true,
            SealCheck::Broken => false,
            // Earlier versions kept what it is known by beside it. Without any nobody knows.
            SealCheck::Never => match (&bytes, read(&seals_before(state), MAX_SEALS)?) {
                (None, None) => return Ok(MarkLookup::Nothing),
                (Some(bytes), Some(seals)) => names(&seals, bytes),
                _ => false,
            },
        };
        let marks = bytes.filter(|_| is_newest).and_then(|b| serde_json::from_slice(&b).ok());
        Ok(marks.map_or(MarkLookup::Lost, MarkLookup::These))
    }

    /// Writes it, with what it is known by: somebody else's, or an empty one, is not taken for it.
    pub fn write(&self, state: &Path) -> io::Result<()> {
        let bytes = serde_json::to_vec(self)?;
        let old = read(&path(state), MAX_LENGTH)?;
        Seal::of(state, NOTE).replace(&path(state), old.as_deref(), &bytes)?;
        gone(fs::remove_file(seals_before(state)))
    }

    /// Takes what is noted, as it stands there, for the newest.
    pub fn seal(state: &Path) -> io::Result<()> {
        match read(&path(state), MAX_LENGTH)? {
            Some(bytes) => Seal::of(state, NOTE).renew(&bytes),
            None => Ok(()),
        }
    }

    /// Notes more, each once: what is said again has the higher level.
    pub fn add(&mut self, more: impl IntoIterator<Item = Mark>) {
        let key = |mark: &Mark| (mark.gist.clone(), mark.chat.clone());
        let known = self.marks.iter().enumerate().map(|(at, mark)| (key(mark), at));
        let mut known: HashMap<_, usize> = known.collect();
        for mark in more.into_iter().filter(|mark| !mark.gist.is_empty()) {
            match known.get(&key(&mark)) {
                Some(at) => {
                    let known = &mut self.marks[*at];
                    known.level = known.level.max(mark.level);
                    known.is_own |= mark.is_own;
                    // Who writes it out of others' words has noted it from then on.
                    known.is_found &= mark.is_found || !mark.level.is_any();
                }
                None => {
                    known.insert(key(&mark), self.marks.len());
                    self.marks.push(mark);
                }
            }
        }
    }

    /// Somebody says that these are words of their own, or of the chat that they name.
    pub fn trust(&mut self, own: impl IntoIterator<Item = Mark>) {
        let own: HashSet<Mark> = own
            .into_iter()
            .map(|mark| Mark { is_own: true, ..Mark::of(mark.gist, Taint::Clean, mark.chat) })
            .collect();
        for mark in &mut self.marks {
            let same = Mark {
                is_own: true,
                ..Mark::of(mark.gist.clone(), Taint::Clean, mark.chat.clone())
            };
            if own.contains(&same) {
                *mark = same;
            }
        }
        self.add(own);
        self.is_lost = false;
    }

    /// The items of a chat go on with it under another id.
    pub fn move_chat(&mut self, from: &str, to: &str) {
        for mark in self.marks.iter_mut().filter(|mark| mark.chat.as_deref() == Some(from)) {
            mark.chat = Some(to.to_owned());
        }
        let all = std::mem::take(&mut self.marks);
        self.add(all);
    }
}

/// Reads a file; nothing of what is none, or longer than any of ours.
fn read(path: &Path, longest: u64) -> io::Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() || found.len() > longest => Ok(Some(Vec::new())),
        Ok(_) => fs::read(path).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn path(state: &Path) -> PathBuf {
    state.join(NAME).join(NOTE)
}

fn seals_before(state: &Path) -> PathBuf {
    state.join(NAME).join(SEALS)
}
