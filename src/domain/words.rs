//! Words that a task is to read, or to say, and that came as no message: typed at the command line, or a schedule's.

use chrono::{DateTime, Utc};
use selkie_channel_core::PersonId;
use serde::Serialize;

/// What somebody wants done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Words {
    /// Whose they are.
    pub person: PersonId,
    /// The name that people know; may be empty.
    pub name: String,
    /// When they were said, or became due.
    pub at: DateTime<Utc>,
    /// What was said; empty when it is older than it is kept.
    pub text: String,
    /// What the model is told beside them; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// They are said as they are; no model is asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fixed: bool,
}

impl Words {
    /// Words that somebody says now.
    pub fn said(person: PersonId, at: DateTime<Utc>, text: impl Into<String>) -> Self {
        let (name, note) = (String::new(), String::new());
        Self { person, name, at, text: text.into(), note, fixed: false }
    }
}
