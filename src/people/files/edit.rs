//! One change of one file: made twice it is made once, so that it can be made again after a crash and on top of what
//! somebody else has written.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::change;
use super::change::Change;
use super::done::{ChangedText, FileResult};
use super::lines;
use super::lines::NewLine;
use crate::contacts::{Contacts, Shelf};
use crate::todo::{Entry, List, Todos};

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Edit {
    /// Of one of the two todo files.
    Todos {
        /// Which.
        list: List,
        /// What is taken out, where it stands there.
        take: Vec<Entry>,
        /// What is put on top, where it does not stand there.
        put: Vec<Entry>,
    },
    /// Of one of the two files of contacts.
    Contacts {
        /// Which.
        shelf: Shelf,
        /// The changes, in their order.
        changes: Vec<Change>,
    },
    /// Of one of the two todo files: the items of a chat go on with it under another id.
    Moved {
        /// Which.
        list: List,
        /// The chat's id before.
        from: String,
        /// Its id now.
        to: String,
    },
    /// Of a whole file, whatever stands there.
    Whole {
        /// Its name in the state folder.
        file: String,
        /// What is to stand there.
        text: String,
    },
    /// Of the lines of any file.
    Lines {
        /// Its name in the state folder.
        file: String,
        /// Lines that are taken out, each once, to the letter but for white space at its end.
        take: Vec<String>,
        /// Lines that are put in, where they do not stand there.
        put: Vec<NewLine>,
    },
}

impl Edit {
    /// Returns the file's name in the state folder.
    pub fn file(&self) -> &str {
        match self {
            Self::Todos { list, .. } => list.file(),
            Self::Contacts { shelf, .. } => shelf.file(),
            Self::Moved { list, .. } => list.file(),
            Self::Whole { file, .. } => file,
            Self::Lines { file, .. } => file,
        }
    }

    /// Makes the change.
    pub(super) fn apply(&self, source: &str, now: DateTime<Utc>) -> ChangedText {
        match self {
            Self::Todos { list, take, put } => {
                todos(*list, take, put, &Source { text: source, now })
            }
            Self::Contacts { shelf, changes } => {
                let mut contacts = Contacts::read(*shelf, source);
                let made = change::apply(changes, &mut contacts, now);
                let done = FileResult { contacts: made, ..FileResult::default() };
                ChangedText { text: contacts.to_string(), done }
            }
            Self::Moved { list, from, to } => {
                let mut todos = Todos::read(*list, source);
                todos.move_chat(from, to, now);
                ChangedText { text: todos.to_string(), done: FileResult::default() }
            }
            Self::Whole { text, .. } => {
                ChangedText { text: text.clone(), done: FileResult::default() }
            }
            Self::Lines { take, put, .. } => lines::change(source, take, put),
        }
    }
}

/// What is changed, and when.
struct Source<'s> {
    text: &'s str,
    now: DateTime<Utc>,
}

fn todos(list: List, take: &[Entry], put: &[Entry], source: &Source<'_>) -> ChangedText {
    let now = source.now;
    let mut todos = Todos::read(list, source.text);
    let taken = take.iter().filter(|entry| todos.take(entry, now)).count();
    // The first of them ends on top.
    let put = put.iter().rev().filter(|entry| todos.put(entry, now)).count();
    let done = match list {
        List::Open => FileResult { put, taken, ..FileResult::default() },
        List::Done => FileResult { ticked: put, ..FileResult::default() },
    };
    ChangedText { text: todos.to_string(), done }
}
