//! What replies and pushes have in common: the client, what was said, what a refusal means.

use std::sync::Arc;
use std::time::Duration;

use selkie_channel_core::http::{Fault, Refusal};
use selkie_channel_core::{Brakes, Delivery, MessageRef, MethodLimit, Now, Receipt};
use serde_json::{Value, json};

use crate::allowance::Allowance;
use crate::api::Api;
use crate::call::Say;
use crate::known::{RecentMessage, RecentMessages};
use crate::mention::{bubble, untell};
use crate::quota::Quota;
use crate::refusal::{Kind, kind, limited};
use crate::settings::Push;

/// First wait after a failure that proves nothing was sent; the delivery worker lengthens it.
const SOON: Duration = Duration::from_secs(1);
/// How long to wait when LINE limits us and names no time.
const LIMITED: Duration = Duration::from_secs(5);
/// A refused token is not mended by asking at once.
const TOKEN_REFUSED: Duration = Duration::from_secs(60);
/// An unclear call is repeated so soon: a reply token works once at most, a push is known by its key.
pub const REPEATS: [Duration; 2] = [Duration::from_millis(400), Duration::from_secs(2)];
/// What stays unclear is asked about again after this time; the delivery worker lengthens it.
pub const ASK_AGAIN: Duration = Duration::from_secs(2);
/// An unclear call waits no longer for our own brake: a look-up has half a minute.
const MAX_REST: Duration = Duration::from_secs(20);
/// Why it was not asked whether an unclear call arrived.
pub const BRAKED: &str = "LINE limits such calls for now";
/// Says something on a token.
pub const REPLY: &str = "message/reply";
/// Says something that counts.
pub const PUSH: &str = "message/push";
/// What is said of a token that LINE does not take.
pub const DEAD: &str = "its reply token is dead";

/// Whether it pushes, and how much.
pub struct Pushes {
    /// Whether it may at all.
    pub may: Push,
    /// How many a chat gets.
    pub allowance: Allowance,
}

/// Sends messages for one bot.
pub struct Messenger {
    /// The client.
    pub api: Api,
    /// What was said lately.
    pub known: Arc<RecentMessages>,
    /// What is left of the month.
    pub quota: Quota,
    /// Whether it pushes, and how much.
    pub pushes: Pushes,
    /// What LINE limits now: each endpoint for itself, so that pushes cost no reply its minute.
    pub brakes: Brakes,
    /// The clock.
    pub now: Now,
}

impl Messenger {
    /// Whether a reply token surely lives: only then its refusal proves that it was used.
    pub fn lives(&self, say: &Say) -> bool {
        self.life(say).is_some()
    }

    /// How long a reply token surely lives on; `None` when it may be dead.
    pub fn life(&self, say: &Say) -> Option<Duration> {
        let left = say.reply_until?.signed_duration_since((self.now)()).to_std().ok()?;
        (!left.is_zero()).then_some(left)
    }

    /// Returns the messages of a call, the quote and the buttons included.
    pub fn messages(&self, say: &Say) -> Vec<Value> {
        let bubbles = say.bubbles.iter().map(|text| bubble(text, &say.mentions));
        let mut messages: Vec<Value> = bubbles.collect();
        if let (Some(last), Some(buttons)) = (messages.last_mut(), &say.buttons) {
            buttons.dress(last);
        }
        let token = say.quote.as_ref().and_then(|id| self.known.quote_token(id));
        // A card cannot quote.
        let first = messages.first_mut().filter(|first| first["type"] != "template");
        if let (Some(first), Some(token)) = (first, token) {
            first["quoteToken"] = json!(token);
        }
        messages
    }

    /// Waits until a call that is repeated on a doubt may be made, for as long as its right to be made lives: what our own
    /// brake holds back is no try.
    ///
    /// # Errors
    /// How long it may not be made.
    pub async fn has_leave(&self, path: &str, life: Option<Duration>) -> Result<(), Duration> {
        let most = life.map_or(MAX_REST, |life| life.min(MAX_REST));
        self.brakes.wait(limit_of(path), most).await
    }

    /// Calls a method that says something. A yes that names none of its messages says of none that it is there.
    pub async fn post(
        &self,
        path: &str,
        body: &Value,
        retry_key: Option<&str>,
    ) -> Result<Value, Fault> {
        let scope = limit_of(path);
        self.brakes.leave(scope).map_err(|rest| Fault::Refused(limited(rest)))?;
        let answer = self.api.post(path, body, retry_key).await.inspect_err(|fault| {
            if let Fault::Refused(refusal) = fault
                && kind(refusal) == Kind::Limited
            {
                self.brakes.hold(scope, refusal.retry_after.unwrap_or(LIMITED));
            }
        })?;
        match answer.pointer("/sentMessages/0/id").is_some_and(Value::is_string) {
            true => Ok(answer),
            false => Err(Fault::Unclear(format!("{path}: a yes that names no message"))),
        }
    }

    /// Remembers what was said: a quote of it means the bot.
    pub fn sent(&self, say: &Say, answer: &Value, note: Option<String>) -> Receipt {
        let sent = answer["sentMessages"].as_array().map_or(&[][..], Vec::as_slice);
        for (message, text) in sent.iter().zip(&say.bubbles) {
            let Some(id) = message["id"].as_str() else { continue };
            let quote_token = message["quoteToken"].as_str().map(str::to_owned);
            let said = RecentMessage {
                text: text.clone(),
                ours: true,
                quote_token,
                ..RecentMessage::default()
            };
            self.known.put(id, said);
        }
        let mut ids = sent.iter().filter_map(|m| m["id"].as_str()).map(MessageRef::new);
        Receipt {
            message: ids.next(),
            also: ids.take(say.bubbles.len()).collect(),
            note,
            ..Receipt::default()
        }
    }

    /// Says what becomes of a part that LINE refuses.
    pub fn verdict(&self, refusal: Refusal) -> Delivery {
        let wait = |usual| refusal.retry_after.unwrap_or(usual);
        match kind(&refusal) {
            Kind::Quota => Delivery::Refused { reason: self.quota.is_out(), closed: false },
            Kind::Limited => {
                Delivery::Retry { after: wait(LIMITED), why: refusal.words, account: false }
            }
            Kind::Token => {
                self.quota.token_refused(&refusal.words);
                Delivery::Retry { after: TOKEN_REFUSED, why: refusal.words, account: true }
            }
            Kind::Closed => Delivery::Refused { reason: refusal.words, closed: true },
            Kind::ReplyToken | Kind::Accepted | Kind::Quote | Kind::Buttons | Kind::Other => {
                Delivery::Refused { reason: refusal.words, closed: false }
            }
        }
    }
}

/// Takes the quick replies away; whether there were any. The choices stand in the text too.
pub fn unbutton(body: &mut Value) -> bool {
    let messages = body["messages"].as_array_mut();
    let last = messages.and_then(|all| all.last_mut()?.as_object_mut());
    last.is_some_and(|last| last.remove("quickReply").is_some())
}

/// Takes away that people are told; whether anybody was. Their names stay.
pub fn unmention(body: &mut Value, say: &Say) -> bool {
    untell(&mut body["messages"], &say.bubbles)
}

/// LINE limits each endpoint for itself.
pub fn limit_of(path: &str) -> MethodLimit<'_> {
    MethodLimit { method: path, place: None, by_place: false }
}

/// The whole account waits: a server that cannot be reached is so for every chat.
pub fn not_sent(why: String) -> Delivery {
    Delivery::Retry { after: SOON, why, account: true }
}

/// Whether a refusal tells of the message itself, and not of the moment.
pub fn is_final(refusal: &Refusal) -> bool {
    !matches!(kind(refusal), Kind::Limited | Kind::Token)
}

/// Takes the quote away; whether there was one.
pub fn unquote(body: &mut Value) -> bool {
    let first = body["messages"].get_mut(0).and_then(Value::as_object_mut);
    first.is_some_and(|first| first.remove("quoteToken").is_some())
}
