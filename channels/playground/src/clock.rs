//! The playground's time: an argument, with the only read of the machine's clock in this crate.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use serde::Serialize;

/// Tells the wall-clock time to the emulated servers.
pub type Now = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// The machine's clock.
#[expect(clippy::disallowed_methods, reason = "the crate's one read of the wall clock")]
pub(crate) fn machine() -> Now {
    Arc::new(Utc::now)
}

/// Moves the time a step forward, for whoever shares it with us.
#[derive(Clone)]
pub struct Mover {
    /// The zone in which times are read, as `Europe/Berlin`.
    pub zone: String,
    /// Goes to the next thing that is due on the way to a written time; says in words why not.
    pub step: Arc<dyn Fn(String) -> BoxFuture<'static, Result<ClockMove, String>> + Send + Sync>,
}

/// Where a step has led.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ClockMove {
    /// What the clock shows.
    pub now: DateTime<Utc>,
    /// Where it is to go.
    pub until: DateTime<Utc>,
    /// Whether something came due.
    pub due: bool,
}
