//! What of the config is not in force: what waits for a restart, and what nobody has loaded.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// What is not in force; nothing of it where all is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotInForce {
    /// Keys that a reload has loaded and that are in force from the next start on.
    pub restart_due: Vec<DueKey>,
    /// The config says something else by now than what was loaded.
    pub not_loaded: Option<NotLoaded>,
}

/// A key that waits for a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DueKey {
    /// The key.
    pub key: String,
    /// When a reload found it changed.
    pub since: DateTime<Utc>,
}

/// A config that was changed and not loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotLoaded {
    /// The file that was changed last: the config, or one that it names for a secret.
    pub file: String,
    /// When it was changed; unknown where it is gone.
    pub changed_at: Option<DateTime<Utc>>,
    /// The keys whose values differ.
    pub keys: Vec<String>,
    /// How much is wrong with it: with anything it cannot be loaded.
    pub faults: usize,
    /// Why a reload has refused just this.
    #[serde(default)]
    pub refused: Option<RefusedReload>,
}

/// A reload that did not put all of it in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedReload {
    /// When.
    pub at: DateTime<Utc>,
    /// What was refused, and why.
    pub why: Vec<String>,
}
