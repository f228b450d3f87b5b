//! Words that a task is to read and that came as no message: typed at the command line, for one.

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
    /// When they were said.
    pub at: DateTime<Utc>,
    /// What was said; empty when it is older than it is kept.
    pub text: String,
}
