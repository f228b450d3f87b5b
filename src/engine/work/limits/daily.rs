//! What one person may have made in a day: voice messages written down, words said aloud, pictures.

use selkie_channel_core::Inbound;

use super::reached::{What, Whose};
use super::settings::{Caps, DailyUse};
use super::{Limits, Share, checks_of};

impl Limits {
    /// Counts a voice message; whether it is within what one person may have written down in a day. Owners have no limit,
    /// and 0 is none.
    pub async fn hears(&self, inbound: &Inbound, per_day: u64) -> bool {
        let who = || format!("person {}", inbound.speaker.id);
        self.is_owner(inbound) || self.has_left(who(), DailyUse::Heard, per_day).await
    }

    /// Counts one use of `who` (`person tg:4711`), and says whether it is within the day's; 0 is no limit.
    pub async fn has_left(&self, who: String, what: DailyUse, per_day: u64) -> bool {
        if per_day == 0 {
            return true;
        }
        let caps = Caps { daily: Some(per_day), ..Caps::default() };
        let share = Share { whose: Whose::Person, who, caps };
        let now = self.context.runtime.clock.now();
        let checks = checks_of(&[share], What::Daily(what), now, 1);
        let reached = self.first_reached(checks.into_iter()).await;
        reached.inspect(|reached| _ = self.log(reached)).is_none()
    }
}
