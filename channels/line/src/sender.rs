//! Speaks on LINE: the free reply first, a push last, and by what is proven what came of it.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use selkie_channel_core::locked;
use selkie_channel_core::{
    ConversationId, CredentialCheck, Delivery, ExaminationReport, Examine, Lookup, Outbound, Part,
    PlaceId, Receipt, Sender, UnpromptedCost,
};
use serde_json::json;
use tokio::time::Instant;

use crate::bounded::BoundedMap;
use crate::call::{self, Call, LOADING_SECONDS, Say};
use crate::examine::{check_credential, examine};
use crate::ids::Spot;
use crate::settings::Push;

pub mod messenger;
mod push;
mod reply;

use messenger::{DEAD, Messenger, PUSH, Pushes, REPLY, limit_of, not_sent};
use reply::ReplyOutcome;

/// The animation is renewed when so much of it is over.
const LOADING_FRESH: Duration = Duration::from_secs(LOADING_SECONDS - 5);
const LOADINGS: usize = 1000;

const NOT_FREE: &str = "a free reply is no longer possible, and this is not worth a push";
const NO_PUSH: &str = "no free reply was possible (it takes a message or a tap of the last minute, and carries \
    five bubbles), and line.push is never";
const NEVER_PUSHED: &str =
    "what is said on LINE without a message of the last minute is a push, and line.push is never";

/// Speaks for one bot.
pub struct LineSender {
    messenger: Messenger,
    /// When each person's loading animation began.
    loading: Mutex<BoundedMap<Instant>>,
}

impl LineSender {
    /// Speaks through `messenger`.
    pub fn new(messenger: Messenger) -> Self {
        Self { messenger, loading: Mutex::new(BoundedMap::new(LOADINGS)) }
    }

    async fn say(&self, part: &Part, say: Say) -> Delivery {
        self.loading().forget(&say.to);
        let Some(token) = &say.reply_token else {
            return match self.messenger.pushes.may {
                Push::Never => Delivery::refused(NO_PUSH),
                Push::LastResort => self.messenger.push(&say, false).await,
            };
        };
        match self.messenger.reply(&say, token, false).await {
            ReplyOutcome::Sent(receipt) => Delivery::Sent(receipt),
            ReplyOutcome::Refused(refusal) => self.messenger.verdict(refusal),
            ReplyOutcome::NotSent(why) => not_sent(why),
            ReplyOutcome::Open(why) => Delivery::Unclear { why },
            ReplyOutcome::Dead if say.free_only => Delivery::refused(NOT_FREE),
            ReplyOutcome::Dead if self.messenger.pushes.may == Push::Never => {
                Delivery::refused(NO_PUSH)
            }
            ReplyOutcome::Dead => {
                let part = Box::new(call::pushed(part));
                Delivery::Instead { part, why: format!("{DEAD}: it goes out as a push") }
            }
        }
    }

    async fn load(&self, chat: &str) -> Delivery {
        let fresh = self.loading().get(chat).is_some_and(|at| at.elapsed() < LOADING_FRESH);
        if fresh {
            return Delivery::Sent(Receipt::default());
        }
        self.loading().put(chat, Instant::now());
        let body = json!({ "chatId": chat, "loadingSeconds": LOADING_SECONDS });
        match self.messenger.api.post("chat/loading/start", &body, None).await {
            Ok(_) => Delivery::Sent(Receipt::default()),
            Err(fault) => Delivery::Refused { reason: fault.to_string(), closed: false },
        }
    }

    fn loading(&self) -> std::sync::MutexGuard<'_, BoundedMap<Instant>> {
        locked(&self.loading)
    }
}

#[async_trait]
impl Sender for LineSender {
    fn render(&self, outbound: &Outbound) -> Vec<Part> {
        call::render(outbound)
    }

    async fn examine(&self, what: Examine<'_>) -> ExaminationReport {
        examine(&self.messenger.api, what).await
    }

    async fn check_credential(&self) -> CredentialCheck {
        check_credential(&self.messenger.api).await
    }

    async fn deliver(&self, part: &Part) -> Delivery {
        match serde_json::from_value(part.call.clone()) {
            Ok(Call::Say(say)) => self.say(part, say).await,
            Ok(Call::Loading { chat }) => self.load(&chat).await,
            Err(_) => Delivery::unreadable(),
        }
    }

    /// A part with a token was a reply, and its token works once at most; one without was a push, which is
    /// repeated under its key.
    async fn lookup(&self, part: &Part) -> Lookup {
        match serde_json::from_value(part.call.clone()) {
            Ok(Call::Say(say)) => match say.reply_token.clone() {
                Some(token) => self.messenger.look_up_reply(&say, &token).await,
                None => self.messenger.look_up_push(&say).await,
            },
            _ => Lookup::Unknown,
        }
    }

    /// What is said unasked is a push.
    async fn unasked(&self, conversation: &ConversationId) -> UnpromptedCost {
        let Pushes { may, allowance } = &self.messenger.pushes;
        if *may == Push::Never {
            return UnpromptedCost::Never(NEVER_PUSHED.to_owned());
        }
        let Some(spot) = Spot::parse(conversation.key()) else { return UnpromptedCost::Free };
        let today = (self.messenger.now)().date_naive();
        match allowance.objection(spot.id(), today) {
            Some(why) => UnpromptedCost::Spent(why),
            None => self.messenger.quota.costs(&spot).await,
        }
    }

    fn keeps_limits(&self) -> bool {
        true
    }

    fn held(&self, part: &Part) -> Option<Duration> {
        let brakes = &self.messenger.brakes;
        if brakes.are_off() {
            return None;
        }
        let Ok(Call::Say(say)) = serde_json::from_value(part.call.clone()) else { return None };
        let path = if say.reply_token.is_some() { REPLY } else { PUSH };
        brakes.leave(limit_of(path)).err()
    }

    fn marked(&self, part: &Part) -> Part {
        let say = serde_json::from_value(part.call.clone());
        match say {
            Ok(Call::Say(say)) if !say.free_only && self.messenger.pushes.may != Push::Never => {
                call::marked(part)
            }
            _ => part.clone(),
        }
    }

    /// LINE's chats keep their ids.
    fn readdressed(&self, part: &Part, _to: &PlaceId) -> Part {
        part.clone()
    }
}

#[cfg(test)]
mod tests;
