//! The note of a change that is being made: a crash before its end leaves it, and who finds it finishes the change.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::disk::replace;
use super::edit::Edit;
use selkie_domain::taint::Taint;

/// Bytes of a note; ours have some thousand.
const MAX_LENGTH: u64 = 1024 * 1024;

/// What is going to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Journal {
    /// The time it is done at.
    pub now: DateTime<Utc>,
    /// The level of what its words came out of.
    pub level: Taint,
    /// The files, in their order.
    pub steps: Vec<Step>,
}

/// One file's part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Step {
    pub edit: Edit,
    /// What was read, and what takes its place: neither is somebody else's.
    known: Vec<String>,
}

impl Step {
    pub fn new(edit: Edit, read: Option<&[u8]>, new: &str) -> Self {
        let known = read.into_iter().chain([new.as_bytes()]).map(digest).collect();
        Self { edit, known }
    }

    /// Whether a content is none that somebody else has written in between.
    pub fn knows(&self, content: &[u8]) -> bool {
        self.known.contains(&digest(content))
    }
}

impl Journal {
    /// The same, where one of its changes is made on top of something else.
    pub fn with(&self, edit: &Edit, read: Option<&[u8]>, new: &str) -> Self {
        let mut journal = self.clone();
        let more = Step::new(edit.clone(), read, new).known;
        for step in journal.steps.iter_mut().filter(|step| step.edit == *edit) {
            step.known.extend(more.iter().cloned());
        }
        journal
    }

    /// Whether something is noted.
    pub fn is_there(state: &Path) -> bool {
        path(state).exists()
    }

    /// Reads what is noted. A note that cannot be read is put aside.
    pub fn read(state: &Path) -> io::Result<Option<Self>> {
        let path = path(state);
        let found = match fs::metadata(&path) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let bytes = if found.len() > MAX_LENGTH { Vec::new() } else { fs::read(&path)? };
        match serde_json::from_slice(&bytes) {
            Ok(journal) => Ok(Some(journal)),
            Err(error) => {
                let aside = path.with_extension("unreadable");
                fs::rename(&path, &aside)?;
                tracing::error!(%error, kept = %aside.display(), "the note of a change cannot be read: look at the kept files beside it");
                Ok(None)
            }
        }
    }

    /// Notes it.
    pub fn write(&self, state: &Path) -> io::Result<()> {
        replace(&path(state), &serde_json::to_vec(self)?)
    }
}

/// Forgets the note: all is done.
pub(super) fn clear(state: &Path) -> io::Result<()> {
    match fs::remove_file(path(state)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn path(state: &Path) -> PathBuf {
    state.join(super::kept_versions::NAME).join("change.json")
}

fn digest(content: &[u8]) -> String {
    let bytes = Sha256::digest(content);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
