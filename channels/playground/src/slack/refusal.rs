//! Why a call is not done, in Slack's words.

use serde_json::Value;

/// Why a call is not done.
pub(super) enum Refusal {
    /// 429, with the seconds to wait.
    Limited(u64),
    /// A scope is missing.
    Scope(&'static str),
    /// `invalid_blocks`, and what is wrong with them.
    Blocks(String),
    /// Any other of Slack's words.
    Word(String),
}

impl Refusal {
    /// Slack's word for it.
    pub(super) fn word(self) -> String {
        match self {
            Self::Limited(_) => "ratelimited".to_owned(),
            Self::Scope(_) => "missing_scope".to_owned(),
            Self::Blocks(_) => "invalid_blocks".to_owned(),
            Self::Word(word) => word,
        }
    }
}

impl From<&str> for Refusal {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}

/// What a method answers.
pub(super) type MethodResult = Result<Value, Refusal>;
