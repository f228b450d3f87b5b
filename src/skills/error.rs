//! What keeps a skill from being read, installed or kept, for people.

use std::io;
use std::path::Path;

/// What is in the way, in words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SkillError(String);

impl SkillError {
    /// Says what the disk refused: to have a file or folder `read` or `written`.
    pub(crate) fn io(path: &Path, done: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.display().to_string();
        move |why| Self(format!("{path} cannot be {done}: {why}"))
    }

    pub(crate) fn unfit(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}
