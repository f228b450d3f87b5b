//! What a command comes to, and why it failed.

use selkie_app::answered::NotDone;
use selkie_channel_core::Redactor;
use selkie_config::problem::Problems;

/// Why a command failed.
pub(super) enum Failure {
    /// It did not work: exit 1.
    Failed(anyhow::Error),
    /// It did not work, and what was printed says so already: exit 1.
    Told,
    /// The command line or the config is wrong: exit 2. Empty: what was printed says so already.
    Usage(String),
}

impl Failure {
    /// Returns it without the secrets that a redactor knows: for words of others.
    pub(super) fn cleaned(self, redactor: &Redactor) -> Self {
        match self {
            Self::Failed(error) => {
                Self::Failed(anyhow::anyhow!(redactor.clean(&format!("{error:#}"))))
            }
            other => other,
        }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        let error = error.into();
        match (error.downcast_ref::<Problems>(), error.downcast_ref::<NotDone>()) {
            (Some(problems), _) => Self::Usage(problems.to_string()),
            (_, Some(NotDone::Mistyped(why))) => Self::Usage(why.clone()),
            _ => Self::Failed(error),
        }
    }
}

/// What a command comes to.
pub(super) type Outcome = Result<(), Failure>;
