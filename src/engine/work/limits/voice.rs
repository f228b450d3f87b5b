//! How many voice messages of one person are listened to in a day.

use selkie_channel_core::Inbound;

use super::reached::{What, Whose};
use super::settings::Caps;
use super::{Limits, Share, checks_of};

impl Limits {
    /// Counts a voice message; whether it is within what one person may have written down in a day. Owners have no limit,
    /// and 0 is none.
    pub async fn hears(&self, inbound: &Inbound, per_day: u64) -> bool {
        if per_day == 0 || self.is_owner(inbound) {
            return true;
        }
        let share = Share {
            whose: Whose::Person,
            who: format!("person {}", inbound.speaker.id),
            caps: Caps { voice: Some(per_day), ..Caps::default() },
        };
        let now = self.context.runtime.clock.now();
        let reached =
            self.first_reached(checks_of(&[share], What::Voice, now, 1).into_iter()).await;
        reached.inspect(|reached| _ = self.log(reached)).is_none()
    }
}
