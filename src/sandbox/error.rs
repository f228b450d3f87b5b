//! What can go wrong between a plan and its program.

use std::io;

/// Why a program was not started.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// Less is in force than was asked for.
    #[error("the sandbox is not in force: {0}")]
    NotInForce(String),
    /// A folder that has to be open for writing holds files of the bot's own.
    #[error(
        "{folder} holds {closed}, which is the bot's own: the sandbox can only open a folder as a whole"
    )]
    HoldsOwn {
        /// The folder.
        folder: String,
        /// What lies in it.
        closed: String,
    },
    /// The line to the daemon broke, or said something else.
    #[error("the plan of the sandbox did not arrive: {0}")]
    Plan(String),
    /// The system refused.
    #[error(transparent)]
    System(#[from] io::Error),
}
