//! What a command comes to, and why it failed.

use crate::config::problem::Problems;

/// Why a command failed.
pub(super) enum Failure {
    /// It did not work: exit 1.
    Failed(anyhow::Error),
    /// It did not work, and what was printed says so already: exit 1.
    Told,
    /// The command line or the config is wrong: exit 2. Empty: what was printed says so already.
    Usage(String),
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        match error.into().downcast::<Problems>() {
            Ok(problems) => Self::Usage(problems.to_string()),
            Err(error) => Self::Failed(error),
        }
    }
}

/// What a command comes to.
pub(super) type Outcome = Result<(), Failure>;
