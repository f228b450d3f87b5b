//! What keeps a file from being read or changed, for people.

use std::io;

use crate::people::text::Unreadable;

/// What kept a file from being read or changed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The disk refuses.
    #[error("{file} cannot be {done}: {source}")]
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
    /// Somebody writes without an end.
    #[error("{0} is being changed by somebody else again and again: try again later")]
    Busy(String),
}

/// The disk refuses to write.
pub(super) fn written(file: &str, source: io::Error) -> FileError {
    FileError::Io { file: file.to_owned(), done: "written", source }
}

/// It is no text.
pub(super) fn unreadable(file: &str, why: Unreadable) -> FileError {
    FileError::Unreadable { file: file.to_owned(), why }
}
