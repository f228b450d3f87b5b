//! What was to be said over a message that cannot be changed: it is posted as one of its own.

use std::time::Duration;

use selkie_channel_core::{Delivery, Part};
use serde_json::json;

use crate::call::read;

/// An answer waits no longer until its beginning may be changed.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the message that takes the place of a change of which this came. `None` where that was done, will be soon, or
/// is no message.
pub fn instead(part: &Part, verdict: &Delivery) -> Option<Delivery> {
    let why = match verdict {
        Delivery::Refused { reason, closed: false } => reason,
        // Changing has a limit of its own: what is new does not wait for it.
        Delivery::Retry { after, why, account: false } if *after > TIMEOUT => why,
        _ => return None,
    };
    let call = read(&part.call)?.made_anew()?;
    let plain = part.fallback.as_ref().and_then(read).and_then(|plain| plain.made_anew());
    let call = json!(call);
    let fallback = plain.map(|plain| json!(plain));
    let posted = Part { call, fallback, repeatable: false, ..part.clone() };
    let why = format!("posted as a new message: {why}");
    Some(Delivery::Instead { part: Box::new(posted), why })
}
