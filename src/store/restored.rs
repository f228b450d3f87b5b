//! A life that came out of a backup: from which one, and what becomes of what waited in it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::error::{Result, StoreError};

/// Which backup a life came out of. While it stands in the store nothing is heard, begun or sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreOrigin {
    /// The backup's name.
    pub from: String,
    /// When that was made.
    pub made_at: DateTime<Utc>,
    /// When it was restored.
    pub at: DateTime<Utc>,
    /// Selkie ran when the backup was made, and may have answered since what waits in it.
    pub was_running: bool,
    /// The conversations whose tasks were running when it was made: they are stopped here, and get no answer.
    #[serde(default)]
    pub stopped: Vec<String>,
}

impl RestoreOrigin {
    /// Reads it as it is stored.
    ///
    /// # Errors
    /// `Corrupt` when it cannot be read.
    pub fn stored(text: Option<String>) -> Result<Option<Self>> {
        let unread = |error| StoreError::Corrupt(format!("meta.restored: {error}"));
        text.map(|text| serde_json::from_str(&text).map_err(unread)).transpose()
    }

    /// Says what is held, and what lets it go on; `made_at` is when the backup was made, as who reads it writes times.
    pub fn says(&self, made_at: &str) -> String {
        format!(
            "this selkie was restored from {}, made {made_at}: it receives, starts and sends nothing until you run `selkie resume`",
            self.from
        )
    }

    /// What becomes of what waits where nobody says it: nothing is answered twice, nothing is lost.
    pub fn usual(&self) -> RestorePolicy {
        if self.was_running { RestorePolicy::Drop } else { RestorePolicy::Answer }
    }
}

/// What becomes of what waited when a backup was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestorePolicy {
    /// Messages are answered and missed times of schedules made up for, as after any pause.
    Answer,
    /// Messages stay unanswered and missed times are passed over: the one that the backup was made of has done it.
    Drop,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseResult {
    /// Tasks that were stopped.
    pub stopped: u64,
    /// Tasks that go on.
    pub goes_on: u64,
}
