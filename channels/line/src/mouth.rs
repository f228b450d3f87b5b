//! Speaks on LINE: the free reply first, a push last, and by what is proven what came of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use selkie_channel_core::{
    Delivery, Lookup, MessageRef, Mouth, Now, Outbound, Part, PlaceId, Receipt,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::allowance::Allowance;
use crate::api::{Api, Refusal};
use crate::bounded::Bounded;
use crate::call::{self, Call, LOADING_SECONDS, Say};
use crate::known::{Known, Said};
use crate::quota::Quota;
use crate::refusal::{Kind, kind};
use crate::settings::Push;

mod push;
mod reply;

use reply::Replied;

/// First wait after a failure that proves nothing was sent; the courier lengthens it.
const SOON: Duration = Duration::from_secs(1);
/// How long to wait when LINE limits us and names no time.
const LIMITED: Duration = Duration::from_secs(5);
/// A refused token is not mended by asking at once.
const TOKEN_REFUSED: Duration = Duration::from_secs(60);
/// An unclear call is repeated so soon: a reply token works once at most, a push is known by its key.
const REPEATS: [Duration; 2] = [Duration::from_millis(400), Duration::from_secs(2)];
/// What stays unclear is asked about again after this time; the courier lengthens it.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// The animation is renewed when so much of it is over.
const LOADING_FRESH: Duration = Duration::from_secs(LOADING_SECONDS - 5);
const LOADINGS: usize = 1000;

const NOT_FREE: &str = "the free reply is not possible any more, and this is not worth a push";
const NO_PUSH: &str = "no free reply was possible (it takes a message or a tap of the last minute, and carries \
    five bubbles), and line.push is never";
const DEAD: &str = "its reply token is dead";

/// Whether it pushes, and how much.
pub struct Pushes {
    /// Whether it may at all.
    pub may: Push,
    /// How many a chat gets.
    pub allowance: Allowance,
}

/// Speaks for one bot.
pub struct LineMouth {
    api: Api,
    known: Arc<Known>,
    quota: Quota,
    pushes: Pushes,
    now: Now,
    /// When each person's loading animation began.
    loading: Mutex<Bounded<Instant>>,
}

impl LineMouth {
    /// Speaks through `api` and remembers what it said in `known`.
    pub fn new(api: Api, known: Arc<Known>, quota: Quota, pushes: Pushes, now: Now) -> Self {
        Self { api, known, quota, pushes, now, loading: Mutex::new(Bounded::new(LOADINGS)) }
    }

    async fn say(&self, part: &Part, say: Say) -> Delivery {
        self.loading().forget(&say.to);
        let Some(token) = &say.reply_token else {
            return match self.pushes.may {
                Push::Never => refused(NO_PUSH),
                Push::LastResort => self.push(&say, false).await,
            };
        };
        match self.reply(&say, token, false).await {
            Replied::Sent(receipt) => Delivery::Sent(receipt),
            Replied::Refused(refusal) => self.verdict(refusal),
            Replied::NotSent(why) => not_sent(why),
            Replied::Open(why) => Delivery::Unclear { why },
            Replied::Dead if say.free_only => refused(NOT_FREE),
            Replied::Dead if self.pushes.may == Push::Never => refused(NO_PUSH),
            Replied::Dead => {
                let part = Box::new(call::pushed(part));
                Delivery::Instead { part, why: format!("{DEAD}: it goes out as a push") }
            }
        }
    }

    /// Whether a reply token surely lives: only then its refusal proves that it was used.
    fn lives(&self, say: &Say) -> bool {
        self.life(say).is_some()
    }

    /// How long a reply token surely lives on; `None` when it may be dead.
    fn life(&self, say: &Say) -> Option<Duration> {
        let left = say.reply_until?.signed_duration_since((self.now)()).to_std().ok()?;
        (!left.is_zero()).then_some(left)
    }

    async fn load(&self, chat: &str) -> Delivery {
        let fresh = self.loading().get(chat).is_some_and(|at| at.elapsed() < LOADING_FRESH);
        if fresh {
            return Delivery::Sent(Receipt::default());
        }
        self.loading().put(chat, Instant::now());
        let body = json!({ "chatId": chat, "loadingSeconds": LOADING_SECONDS });
        match self.api.post("chat/loading/start", &body, None).await {
            Ok(_) => Delivery::Sent(Receipt::default()),
            Err(fault) => Delivery::Refused { reason: fault.words(), closed: false },
        }
    }

    fn messages(&self, say: &Say) -> Vec<Value> {
        let bubble = |text: &String| json!({ "type": "text", "text": text });
        let mut messages: Vec<Value> = say.bubbles.iter().map(bubble).collect();
        if let (Some(last), Some(buttons)) = (messages.last_mut(), &say.buttons) {
            buttons.dress(last);
        }
        let token = say.quote.as_ref().and_then(|id| self.known.quote_token(id));
        // A card cannot quote.
        let first = messages.first_mut().filter(|first| first["type"] == "text");
        if let (Some(first), Some(token)) = (first, token) {
            first["quoteToken"] = json!(token);
        }
        messages
    }

    /// Remembers what was said: a quote of it means the bot.
    fn sent(&self, say: &Say, answer: &Value, note: Option<String>) -> Receipt {
        let sent = answer["sentMessages"].as_array().map_or(&[][..], Vec::as_slice);
        for (message, text) in sent.iter().zip(&say.bubbles) {
            let Some(id) = message["id"].as_str() else { continue };
            let quote_token = message["quoteToken"].as_str().map(str::to_owned);
            let said = Said { text: text.clone(), ours: true, quote_token, ..Said::default() };
            self.known.put(id, said);
        }
        let mut ids = sent.iter().filter_map(|m| m["id"].as_str()).map(MessageRef::new);
        Receipt { message: ids.next(), also: ids.take(say.bubbles.len()).collect(), note }
    }

    fn verdict(&self, refusal: Refusal) -> Delivery {
        let wait = |usual| refusal.retry_after.map_or(usual, Duration::from_secs);
        match kind(&refusal) {
            Kind::Quota => Delivery::Refused { reason: self.quota.is_out(), closed: false },
            Kind::Limited => {
                Delivery::Retry { after: wait(LIMITED), why: refusal.text, account: true }
            }
            Kind::Token => {
                self.quota.token_refused(&refusal.text);
                Delivery::Retry { after: TOKEN_REFUSED, why: refusal.text, account: true }
            }
            Kind::Closed => Delivery::Refused { reason: refusal.text, closed: true },
            Kind::ReplyToken | Kind::Accepted | Kind::Quote | Kind::Buttons | Kind::Other => {
                Delivery::Refused { reason: refusal.text, closed: false }
            }
        }
    }

    fn loading(&self) -> std::sync::MutexGuard<'_, Bounded<Instant>> {
        self.loading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Mouth for LineMouth {
    fn render(&self, outbound: &Outbound) -> Vec<Part> {
        call::render(outbound)
    }

    async fn deliver(&self, part: &Part) -> Delivery {
        match serde_json::from_value(part.call.clone()) {
            Ok(Call::Say(say)) => self.say(part, say).await,
            Ok(Call::Loading { chat }) => self.load(&chat).await,
            Err(_) => refused("a stored call that this version cannot read"),
        }
    }

    /// A part with a token was a reply, and its token works once at most; one without was a push, which is
    /// repeated under its key.
    async fn lookup(&self, part: &Part) -> Lookup {
        match serde_json::from_value(part.call.clone()) {
            Ok(Call::Say(say)) => match say.reply_token.clone() {
                Some(token) => self.look_up_reply(&say, &token).await,
                None => self.look_up_push(&say).await,
            },
            _ => Lookup::Unknown,
        }
    }

    fn marked(&self, part: &Part) -> Part {
        let say = serde_json::from_value(part.call.clone());
        match say {
            Ok(Call::Say(say)) if !say.free_only && self.pushes.may != Push::Never => {
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

/// Takes the quick replies away; whether there were any. The choices stand in the text too.
fn unbutton(body: &mut Value) -> bool {
    let messages = body["messages"].as_array_mut();
    let last = messages.and_then(|all| all.last_mut()?.as_object_mut());
    last.is_some_and(|last| last.remove("quickReply").is_some())
}

fn refused(reason: &str) -> Delivery {
    Delivery::Refused { reason: reason.to_owned(), closed: false }
}

/// The whole account waits: a server that cannot be reached is so for every chat.
fn not_sent(why: String) -> Delivery {
    Delivery::Retry { after: SOON, why, account: true }
}

/// Whether a refusal tells of the message itself, and not of the moment.
fn is_final(refusal: &Refusal) -> bool {
    !matches!(kind(refusal), Kind::Limited | Kind::Token)
}

/// Takes the quote away; whether there was one.
fn unquote(body: &mut Value) -> bool {
    let first = body["messages"].get_mut(0).and_then(Value::as_object_mut);
    first.is_some_and(|first| first.remove("quoteToken").is_some())
}

#[cfg(test)]
mod tests;
