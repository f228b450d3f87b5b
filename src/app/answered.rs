//! Why something that the command line asked for was not done.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

use selkie_schedule::book::BookError;
use selkie_store::StoreError;

/// Why it was not done, for whoever asked.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotDone {
    /// It stands against what there is, or the store does not answer.
    #[error("{0}")]
    Refused(String),
    /// What was typed cannot be taken.
    #[error("{0}")]
    Mistyped(String),
}

impl NotDone {
    /// It stands against what there is.
    pub fn refused(why: impl Display) -> Self {
        Self::Refused(why.to_string())
    }

    /// What is wrong with something is wrong with what was typed.
    pub fn mistyped(error: BookError) -> Self {
        match error {
            BookError::Refused(why) => Self::Mistyped(why),
            BookError::Store(error) => error.into(),
        }
    }
}

impl From<BookError> for NotDone {
    fn from(error: BookError) -> Self {
        Self::refused(error)
    }
}

impl From<StoreError> for NotDone {
    fn from(error: StoreError) -> Self {
        Self::refused(error)
    }
}
