//! A finding: what is so, how bad it is, and what to do.

use selkie_channel_core::{Examination, Gravity};
use serde::Serialize;

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// It does not work.
    Error,
    /// It works, and something about it will be missed.
    Warning,
    /// It could not be found out.
    Unknown,
    /// It is as it should be.
    Fine,
}

impl Level {
    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Unknown => "unknown",
            Self::Fine => "fine",
        }
    }
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// What was looked at: `config`, `channel`, `model`.
    pub what: &'static str,
    /// Which one of it; empty where there is but one.
    pub name: String,
    /// What is so.
    #[serde(rename = "says")]
    pub message: String,
    /// What to do; empty where nothing is to be done or the words before say it.
    pub advice: String,
}

impl Finding {
    /// It is as it should be.
    pub fn fine(what: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { level: Level::Fine, what, name: String::new(), message, advice: String::new() }
    }

    /// It could not be found out.
    pub fn unknown(what: &'static str, message: impl Into<String>) -> Self {
        Self { level: Level::Unknown, ..Self::fine(what, message) }
    }

    /// It works, and something will be missed.
    pub fn warning(
        what: &'static str,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { level: Level::Warning, advice: advice.into(), ..Self::fine(what, message) }
    }

    /// It does not work.
    pub fn error(
        what: &'static str,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { level: Level::Error, ..Self::warning(what, message, advice) }
    }

    /// Says which one it is.
    #[must_use]
    pub fn of(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Takes what a channel has found.
    pub fn of_channel(found: Examination) -> Self {
        let Examination { gravity, message, advice } = found;
        let level = match gravity {
            Gravity::Fine => Level::Fine,
            Gravity::Warning => Level::Warning,
            Gravity::Error => Level::Error,
        };
        Self { level, advice, ..Self::fine("channel", message) }
    }
}
