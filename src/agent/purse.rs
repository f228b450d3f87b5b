//! Counters beside the task's own that its usage goes to: a person's, a conversation's.

use crate::domain::usage::{Spent, Usage};

/// Whoever a task's usage is counted for, and how much they may use.
pub trait Purse: Send + Sync {
    /// Returns what a usage adds to which counters, for the write that stores it.
    fn adds(&self, usage: Usage) -> Vec<Spent>;

    /// Says why nothing more may be used; `came_to` is what these counters have come to. `None` while something
    /// is left.
    fn emptied(&self, added: &[Spent], came_to: &[u64]) -> Option<Emptied>;
}

/// Nothing more may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emptied {
    /// For the owner: which limit.
    pub why: String,
    /// For the person.
    pub text: String,
}
