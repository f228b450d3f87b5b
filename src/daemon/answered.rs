//! What the command line is answered: what it asked for, or why that was not done.

use serde::{Deserialize, Serialize};

use crate::schedule::book::BookError;
use crate::store::StoreError;

/// What comes of something that was asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answered<T> {
    /// It was done.
    Done(T),
    /// It was not, and why.
    Refused(String),
    /// It cannot be: what was typed cannot be taken.
    Mistyped(String),
}

/// Why it was not done.
#[derive(Debug)]
pub enum NotDone {
    /// It stands against what there is.
    Refused(String),
    /// What was typed cannot be taken.
    Mistyped(String),
    /// The store does not answer.
    Store(StoreError),
}

impl NotDone {
    /// What is wrong with something is wrong with what was typed.
    pub fn mistyped(error: BookError) -> Self {
        match error {
            BookError::Refused(why) => Self::Mistyped(why),
            BookError::Store(error) => Self::Store(error),
        }
    }
}

impl From<BookError> for NotDone {
    fn from(error: BookError) -> Self {
        match error {
            BookError::Refused(why) => Self::Refused(why),
            BookError::Store(error) => Self::Store(error),
        }
    }
}

impl From<StoreError> for NotDone {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl<T> Answered<T> {
    /// Tells what came of it.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn of(done: Result<T, NotDone>) -> anyhow::Result<Self> {
        match done {
            Ok(done) => Ok(Self::Done(done)),
            Err(NotDone::Refused(why)) => Ok(Self::Refused(why)),
            Err(NotDone::Mistyped(why)) => Ok(Self::Mistyped(why)),
            Err(NotDone::Store(error)) => Err(error.into()),
        }
    }
}
