//! What is noted of whose words the items of the todo files are, beside the files: what each says, the level it was written
//! with, and the chat it belongs to.

use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::keep::{NAME, replace};
use crate::domain::gist::Gist;
use crate::domain::taint::Taint;
use crate::people::todo::List;

/// Bytes that are read; the lists themselves have fewer.
const LONGEST: u64 = 64 * 1024 * 1024;

/// What is noted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Marks {
    /// The lists whose level stands in marks: that of others stands on their file, as earlier versions had it.
    pub lists: Vec<List>,
    /// The oldest first.
    pub marks: Vec<Mark>,
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
}

impl Marks {
    /// Reads what is noted; `None` where that cannot be read any more.
    pub fn read(state: &Path) -> io::Result<Option<Self>> {
        let path = path(state);
        let found = match fs::metadata(&path) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Some(Self::default())),
            Err(error) => return Err(error),
        };
        let bytes = if found.len() > LONGEST { Vec::new() } else { fs::read(&path)? };
        let read = serde_json::from_slice(&bytes);
        let told = read.inspect_err(|error| {
            tracing::error!(%error, file = %path.display(), "whose the todo items are cannot be read: all that stand there count as others' words until they are gone, or written again in other words");
        });
        Ok(told.ok())
    }

    pub fn write(&self, state: &Path) -> io::Result<()> {
        replace(&path(state), &serde_json::to_vec(self)?)
    }

    /// Notes more, each once: what is said again has the higher level.
    pub fn add(&mut self, more: impl IntoIterator<Item = Mark>) {
        let key = |mark: &Mark| (mark.gist.clone(), mark.chat.clone());
        let known = self.marks.iter().enumerate().map(|(at, mark)| (key(mark), at));
        let mut known: HashMap<_, usize> = known.collect();
        for mark in more.into_iter().filter(|mark| !mark.gist.is_empty()) {
            match known.get(&key(&mark)) {
                Some(at) => self.marks[*at].level = self.marks[*at].level.max(mark.level),
                None => {
                    known.insert(key(&mark), self.marks.len());
                    self.marks.push(mark);
                }
            }
        }
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

fn path(state: &Path) -> PathBuf {
    state.join(NAME).join("whose.json")
}
