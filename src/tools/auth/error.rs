//! Why a credential cannot be used. Nothing of it stands in here.

use crate::shell::OwnProgramError;

/// Why a credential cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// There is none.
    #[error("the credential is empty")]
    Empty,
    /// It is no name with a password.
    #[error("the credential is to be user:password for bind: basic")]
    NoPair,
    /// It does not fit into a header.
    #[error("the credential holds characters that no header has")]
    Unfit,
    /// What a program printed is no text.
    #[error("credential_command prints no text in UTF-8")]
    NoText,
    /// The program gave none.
    #[error("credential_command: {0}")]
    Command(#[from] OwnProgramError),
    /// The address or the method is not what the credential is for.
    #[error("{0}")]
    NotAllowed(String),
}
