//! Why an agent cannot be spoken with any more.

/// Why an agent cannot be spoken with any more, to follow `the agent`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AcpError {
    /// A line is longer than [`crate::MAX_LINE`].
    #[error("wrote a line of more than {} bytes", crate::MAX_LINE)]
    LongLine,
    /// A line is no message.
    #[error("wrote a line that is no message of the protocol: {0}")]
    Garbage(String),
    /// It speaks another version.
    #[error("speaks version {0} of the protocol, and selkie speaks version 1")]
    Version(String),
    /// It wants somebody to sign in first.
    #[error("wants somebody to sign in first: start it by hand once, or give it a key by `env`")]
    SignedOut,
    /// It answers a request with an error.
    #[error("answers {method} with an error: {message}")]
    Refused {
        /// The request.
        method: &'static str,
        /// In its words.
        message: String,
    },
    /// Its answer lacks what the protocol demands.
    #[error("answers {0} without what the protocol demands")]
    Incomplete(&'static str),
}
