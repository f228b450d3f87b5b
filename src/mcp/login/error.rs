//! Why nobody is signed in.

use crate::text::short;

/// Why nobody is signed in.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LoginError {
    /// It cannot go on, for a reason that is whole in itself.
    #[error("{0}")]
    Unusable(String),
    /// There is no answer, or none that can be used.
    #[error("{what}: {why}")]
    Answer {
        /// Who was asked.
        what: &'static str,
        /// Why it is none.
        why: String,
    },
    /// The authorization server says no.
    #[error("{what} refuses: {code}{}", behind(.words))]
    Refused {
        /// Who.
        what: &'static str,
        /// Its word for it, such as `access_denied`.
        code: String,
        /// More of its words, cleaned and cut.
        words: String,
    },
    /// What was granted is over.
    #[error("the sign-in at the MCP server is over: an owner can run `selkie mcp login {0}`")]
    Over(String),
}

impl LoginError {
    /// What speaks of another authorization server than the one that was asked.
    pub(crate) fn issuer(what: &str, named: &str, wanted: &str) -> Self {
        let named = short(named, 200);
        Self::Unusable(format!(
            "{what} names the issuer {named:?}, not {wanted:?}: nothing of it is used"
        ))
    }
}

/// Puts a server's words behind ours, where there are any.
pub(crate) fn behind(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(": {words}") }
}
