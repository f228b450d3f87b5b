//! The clocks that a daemon goes by: the machine's, or a demo's that can be moved.

use std::path::Path;
use std::sync::Arc;

use crate::config::source::Environment;
use crate::domain::clock::{SharedClock, SystemClock};
use crate::schedule::alarm::{Alarm, SystemAlarm};
use crate::schedule::movable::MovableClocks;
use crate::schedule::zone::{Host, Zone};

/// The clocks that everything goes by.
#[derive(Clone)]
pub struct Clocks {
    /// Tells the time of day.
    pub clock: SharedClock,
    /// Rings when a schedule comes due.
    pub alarm: Arc<dyn Alarm>,
}

impl Clocks {
    /// The machine's.
    pub fn machine() -> Self {
        let clock: SharedClock = Arc::new(SystemClock);
        Self { alarm: SystemAlarm::shared(Arc::clone(&clock)), clock }
    }

    /// Those of a demo.
    pub fn movable(clocks: &Arc<MovableClocks>) -> Self {
        Self { clock: Arc::clone(clocks) as _, alarm: Arc::clone(clocks) as _ }
    }
}

/// The zone that this machine is in, UTC where it does not say.
pub fn host_zone(env: &Environment) -> Zone {
    let link = std::fs::read_link("/etc/localtime").ok();
    let written = std::fs::read_to_string("/etc/timezone").ok();
    let host = Host {
        tz: env.get("TZ").map(String::as_str),
        localtime: link.as_deref().and_then(Path::to_str),
        timezone: written.as_deref(),
    };
    Zone::of_host(&host).unwrap_or(Zone::UTC)
}
