//! One change of one file: made twice it is made once, so that it can be made again after a crash and on top of what
//! somebody else has written.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::people::todo::{Entry, List, Todos};

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
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// How many of `TODO.md` were put.
    pub put: usize,
    /// How many of it were taken.
    pub taken: usize,
    /// How many were put into `TODO.DONE.md`.
    pub ticked: usize,
}

impl Done {
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            put: self.put + other.put,
            taken: self.taken + other.taken,
            ticked: self.ticked + other.ticked,
        }
    }
}

/// A file's text after a change.
pub(super) struct Changed {
    pub text: String,
    pub done: Done,
}

impl Edit {
    /// Returns the file's name in the state folder.
    pub fn file(&self) -> &'static str {
        match self {
            Self::Todos { list, .. } => list.file(),
        }
    }

    /// Makes the change.
    pub(super) fn apply(&self, source: &str, now: DateTime<Utc>) -> Changed {
        let Self::Todos { list, take, put } = self;
        let mut todos = Todos::read(*list, source);
        let taken = take.iter().filter(|entry| todos.take(entry, now)).count();
        // The first of them ends on top.
        let put = put.iter().rev().filter(|entry| todos.put(entry, now)).count();
        let done = match list {
            List::Open => Done { put, taken, ticked: 0 },
            List::Done => Done { ticked: put, ..Done::default() },
        };
        Changed { text: todos.to_string(), done }
    }
}
