//! How hard a model thinks before it answers.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How hard a model thinks, from not at all to as hard as it can. Every provider has its own words for some of these.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Effort {
    /// Not at all.
    None,
    /// As little as it can.
    Minimal,
    /// Little.
    Low,
    /// As its provider means it for most work.
    Medium,
    /// Much.
    High,
    /// More than much.
    Xhigh,
    /// As hard as it can.
    Max,
}

impl Effort {
    /// Every level, the least first.
    pub const ALL: [Self; 7] =
        [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// Returns the level as config and commands write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// Reads a level.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str().eq_ignore_ascii_case(text.trim()))
    }
}

/// No such level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("takes none, minimal, low, medium, high, xhigh or max, not {0:?}")]
pub struct UnknownEffort(String);

impl FromStr for Effort {
    type Err = UnknownEffort;

    fn from_str(text: &str) -> Result<Self, UnknownEffort> {
        Self::parse(text).ok_or_else(|| UnknownEffort(text.chars().take(60).collect()))
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_read_as_it_is_written() {
        for level in Effort::ALL {
            assert_eq!(Effort::parse(level.as_str()), Some(level));
            assert_eq!(serde_json::to_value(level).unwrap(), level.as_str());
        }
        assert_eq!(Effort::parse(" High "), Some(Effort::High));
        assert_eq!(Effort::parse("harder"), None);
        let why = "harder".parse::<Effort>().unwrap_err().to_string();
        assert_eq!(why, "takes none, minimal, low, medium, high, xhigh or max, not \"harder\"");
    }
}
