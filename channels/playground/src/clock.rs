//! The playground's time: an argument, with the only read of the machine's clock in this crate.

use std::sync::Arc;

use chrono::{DateTime, Utc};

/// Tells the wall-clock time to the emulated servers.
pub type Now = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// The machine's clock.
#[expect(clippy::disallowed_methods, reason = "the crate's one read of the wall clock")]
pub(crate) fn machine() -> Now {
    Arc::new(Utc::now)
}
