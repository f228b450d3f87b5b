//! What keeps a file from being read or changed, for people.

use std::io::{self, ErrorKind};

use crate::text::Unreadable;

/// What kept a file from being read or changed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The disk refuses.
    #[error("{file} cannot be {done}: {source}{}", room(source))]
    Io {
        /// Which.
        file: String,
        /// What was tried: `read`, `written`.
        done: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// It is no text.
    #[error("{file} cannot be read: {why}")]
    Unreadable {
        /// Which.
        file: String,
        /// Why.
        why: Unreadable,
    },
    /// It is no file of its own.
    #[error("{file} {why}: it is left alone")]
    Odd {
        /// Which.
        file: String,
        /// What it is.
        why: &'static str,
    },
    /// Somebody is in the middle of writing it.
    #[error("{0} is being written by somebody: nothing was changed, try again in a moment")]
    Written(String),
    /// Somebody has emptied it: they may be about to write it anew.
    #[error(
        "{0} is empty where it had entries a moment ago: if that is meant, try again in a few seconds; nothing was changed"
    )]
    Emptied(String),
    /// The same, where another file has changed already.
    #[error("{0} is being written by somebody: its part of the change follows with the next one")]
    Follows(String),
    /// Somebody wrote into the file that had been there, and what they wrote cannot be taken over.
    #[error(
        "{file} is changed, but somebody was still writing the earlier one: look at kept/{file}"
    )]
    Aside {
        /// Which.
        file: String,
    },
    /// Somebody writes without an end.
    #[error("{0} is being changed by somebody else again and again: try again later")]
    Busy(String),
}

impl FileError {
    /// The work on a file did not come to its end.
    pub fn ended(error: &tokio::task::JoinError) -> Self {
        written("a file", io::Error::other(error.to_string()))
    }

    /// What is noted of reminders cannot be read or written.
    pub fn of_reminders(source: io::Error) -> Self {
        written("kept/due.json", source)
    }

    /// Whether the change is not made again by itself.
    pub(super) fn is_last(&self) -> bool {
        use FileError::{Aside, Emptied, Unreadable, Written};
        matches!(self, Unreadable { .. } | Written(_) | Emptied(_) | Aside { .. })
    }
}

/// What to do where there is no room; what was written before that stands.
fn room(source: &io::Error) -> &'static str {
    match source.kind() {
        ErrorKind::StorageFull | ErrorKind::FileTooLarge | ErrorKind::QuotaExceeded => {
            ": the disk takes no more: free space or raise the limit, then try again"
        }
        _ => "",
    }
}

/// The disk refuses to write.
pub(super) fn written(file: &str, source: io::Error) -> FileError {
    FileError::Io { file: file.to_owned(), done: "written", source }
}

/// The disk refuses the note of a change.
pub(super) fn unnoted(source: io::Error) -> FileError {
    written("the note of a change", source)
}

/// It is no text.
pub(super) fn unreadable(file: &str, why: Unreadable) -> FileError {
    FileError::Unreadable { file: file.to_owned(), why }
}
