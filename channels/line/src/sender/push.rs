//! The push, which counts: its retry key makes repeating it harmless for a day.

use chrono::TimeDelta;
use selkie_channel_core::http::Fault;
use selkie_channel_core::{Delivery, Lookup};
use serde_json::json;
use tokio::time::sleep;

use super::messenger::{
    ASK_AGAIN, BRAKED, Messenger, PUSH, REPEATS, is_final, not_sent, unbutton, unmention, unquote,
};
use crate::call::Say;
use crate::ids::Spot;
use crate::refusal::{Kind, kind};

/// LINE knows a retry key for 24 hours; this leaves room for clocks that differ.
const KEY_LIFE: TimeDelta = TimeDelta::hours(23);
const ACCEPTED: &str = "LINE had accepted it before, under the same retry key";

impl Messenger {
    /// Pushes; while the result is unclear, again under the same key. With `doubt` an earlier attempt may
    /// have arrived, and may have used what was left of the month.
    pub(super) async fn push(&self, say: &Say, mut doubt: bool) -> Delivery {
        let today = (self.now)().date_naive();
        let allowance = &self.pushes.allowance;
        if !doubt && let Some(reason) = allowance.objection(&say.to, today) {
            return Delivery::Refused { reason, closed: false };
        }
        if !doubt
            && let Some(spot) = Spot::parse(&say.to)
            && let Some(reason) = self.quota.objection(&spot).await
        {
            return Delivery::Refused { reason, closed: false };
        }
        let mut body = json!({ "to": say.to, "messages": self.messages(say) });
        let mut pauses = REPEATS.iter();
        loop {
            if doubt && self.has_leave(PUSH, None).await.is_err() {
                return Delivery::Unclear { why: BRAKED.to_owned() };
            }
            let fault = match self.post(PUSH, &body, Some(&say.retry_key)).await {
                Ok(answer) => {
                    allowance.took(&say.to, today);
                    return Delivery::Sent(self.sent(say, &answer, None));
                }
                Err(fault) => fault,
            };
            let why = match fault {
                Fault::Refused(refusal) => match kind(&refusal) {
                    Kind::Accepted => {
                        allowance.took(&say.to, today);
                        let note = Some(ACCEPTED.to_owned());
                        return Delivery::Sent(self.sent(say, &refusal.body, note));
                    }
                    Kind::Quote if unquote(&mut body) => continue,
                    Kind::Buttons if unbutton(&mut body) => continue,
                    // Whoever is named may have left.
                    Kind::Other if unmention(&mut body, say) => continue,
                    _ if doubt && !is_final(&refusal) => refusal.words,
                    _ => return self.verdict(refusal),
                },
                Fault::NotSent(why) if !doubt => return not_sent(why),
                Fault::NotSent(why) => why,
                Fault::Unclear(why) => {
                    doubt = true;
                    why
                }
            };
            let Some(pause) = pauses.next() else { return Delivery::Unclear { why } };
            sleep(*pause).await;
        }
    }

    /// Pushes again under the key of an unclear attempt.
    pub(super) async fn look_up_push(&self, say: &Say) -> Lookup {
        if say.said_at.is_some_and(|at| (self.now)() - at > KEY_LIFE) {
            return Lookup::Lapsed;
        }
        match self.push(say, true).await {
            Delivery::Sent(receipt) => Lookup::Sent(receipt),
            Delivery::Unclear { why } | Delivery::Retry { why, .. } => {
                Lookup::Later { after: ASK_AGAIN, at_most: None, why }
            }
            // LINE names an accepted key before anything else: what is refused now never arrived.
            Delivery::Refused { .. } | Delivery::Moved { .. } | Delivery::Instead { .. } => {
                Lookup::NotSent
            }
        }
    }
}
