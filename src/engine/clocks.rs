//! The clocks that a daemon goes by: the machine's, or a demo's that can be moved.

use std::sync::Arc;

use selkie_domain::clock::{SharedClock, SystemClock};
use selkie_schedule::alarm::{Alarm, SystemAlarm};
use selkie_schedule::movable::MovableClocks;

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
