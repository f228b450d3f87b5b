//! Why a document was not read.

use crate::kind::Kind;

/// Why a document was not read, in words that follow "it".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// It wants a password.
    #[error("is {0} that is encrypted, and was not read")]
    Encrypted(&'static str),
    /// It is known, and nobody here can read it.
    #[error("is {0}, which is not read here: {1}")]
    Unsupported(&'static str, &'static str),
    /// It is no document.
    #[error("is {0}, and no document")]
    NoDocument(&'static str),
    /// Its bytes break off or contradict each other.
    #[error("is {what} that is damaged ({why})", what = .0.name(), why = .1)]
    Damaged(Kind, String),
    /// It would take more than a document may.
    #[error("is a document that takes more than is allowed: {0}")]
    TooLarge(&'static str),
}
