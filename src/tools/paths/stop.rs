//! When work that may wait for the disk has to end.

use std::io;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::scope::Scope;

/// Tells blocking work to end: the task was stopped, the call is over, or its time is up.
#[derive(Clone)]
pub struct Stop {
    cancel: CancellationToken,
    deadline: Instant,
}

impl Stop {
    /// Follows a scope. Cancel `cancel`, a child of the scope's, when the call's future is dropped.
    pub fn of(scope: &Scope, cancel: CancellationToken) -> Self {
        Self { cancel, deadline: scope.deadline }
    }

    /// Fails when it is time to end.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`].
    pub fn check(&self) -> io::Result<()> {
        if self.cancel.is_cancelled() || Instant::now() >= self.deadline {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "stopped before it was done"));
        }
        Ok(())
    }
}
