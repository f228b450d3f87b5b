//! Limits beside the task's own that its usage counts against: a person's, a conversation's.

use selkie_domain::usage::Usage;

/// How much whoever a task's usage is counted for may use.
pub trait Quota: Send + Sync {
    /// Counts a usage, and says why nothing more may be used. `None` while something is left.
    fn count(&self, usage: Usage) -> Option<QuotaError>;
}

/// Nothing more may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaError {
    /// For the owner: which limit.
    pub why: String,
    /// For the person.
    pub text: String,
}
