//! What keeps a skill from being read, installed or kept, for people.

use std::io;

/// What is in the way.
#[derive(Debug, thiserror::Error)]
pub enum SkillError {
    /// The disk refuses.
    #[error("{path} cannot be {done}: {source}")]
    Io {
        /// Which file or folder.
        path: String,
        /// What was tried: `read`, `written`.
        done: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The folder or the archive is none that a skill can be made of.
    #[error("{0}")]
    Unfit(String),
    /// The skill's name cannot be used.
    #[error("the name {name:?} {why}")]
    Name {
        /// As it is written.
        name: String,
        /// Why not.
        why: String,
    },
    /// The list of what is installed and reviewed is damaged.
    #[error("{path} cannot be read ({why}): repair it, or remove it and review the skills again")]
    Lock {
        /// Where it lies.
        path: String,
        /// What is wrong.
        why: String,
    },
}

impl SkillError {
    /// Says what the disk refused.
    pub(crate) fn io(path: &std::path::Path, done: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::Io { path, done, source }
    }

    /// Says that something is no skill.
    pub(crate) fn unfit(why: impl Into<String>) -> Self {
        Self::Unfit(why.into())
    }
}
