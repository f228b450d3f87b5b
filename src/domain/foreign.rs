//! What is known of a tool that is not selkie's own: a program of the operator's, a tool of another server.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// What shaping, dispatch and approvals go by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// The server that it is asked of; none for a program.
    pub server: Option<&'static str>,
    /// Whether people on the allow list use it, too; else owners alone.
    pub is_for_allowed: bool,
    /// Whether it is there only in the places that the config names for it.
    pub is_placed: bool,
    /// Tells it from another one that is called the same later: an approval covers it.
    pub identity: String,
}

/// Keeps a name for as long as the program runs: names of tools are compared everywhere and few. The same name is kept
/// once, however often a config is read.
pub fn lasting(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = names.get(name) {
        return kept;
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once() {
        let first = lasting(&["clock", "now"].join("__"));
        assert!(std::ptr::eq(first, lasting("clock__now")));
    }
}
