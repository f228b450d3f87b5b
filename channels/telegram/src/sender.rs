//! Speaks on Telegram: makes one call and tells by what is proven what came of it.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use selkie_channel_core::http::{Fault, Refusal};
use selkie_channel_core::{
    AccountId, CredentialCheck, Delivery, ExaminationReport, Examine, Lookup, MessageRef, Outbound,
    Part, PlaceId, Receipt, Sender, file, json, locked,
};
use serde_json::{Value, json};

use crate::api::{Answer, Api, CALL_LIMIT};
use crate::call::{self, Call};
use crate::examine::{check_credential, examine};
use crate::ids::{Spot, place};
use crate::refusal::{Kind, kind, moved, told};
use crate::render::render;
use crate::speaking;
use crate::upload::Upload;

/// How long to wait when Telegram limits us and names no time.
const LIMITED: Duration = Duration::from_secs(3);
/// A refused token is not mended by asking at once.
const TOKEN_REFUSED: Duration = Duration::from_secs(60);
/// Messages whose last words are known.
const EDITS: usize = 64;
/// The call, then without its topic, without a quote, then plain.
const ATTEMPTS: usize = 5;

/// Speaks for one bot.
pub struct TelegramSender {
    account: AccountId,
    api: Api,
    max_upload: u64,
    /// What answers were last set to while they grew: one is not set to the same again.
    edits: Mutex<VecDeque<Edit>>,
}

/// What a message was set to.
struct Edit {
    /// Its chat and its id.
    of: [Value; 2],
    digest: u64,
}

impl TelegramSender {
    /// Speaks through `api`; refuses files over `max_upload` bytes.
    pub fn new(account: AccountId, api: Api, max_upload: u64) -> Self {
        Self { account, api, max_upload, edits: Mutex::default() }
    }

    /// Whether an answer reads so already.
    fn reads_so(&self, call: &Call) -> bool {
        let Some(edit) = edit(call).filter(|_| call.anew.is_some()) else { return false };
        locked(&self.edits).iter().any(|last| last.of == edit.of && last.digest == edit.digest)
    }

    /// Notes what a message was set to, or that it was changed otherwise.
    fn set_to(&self, call: &Call) {
        let Some(edit) = edit(call) else { return };
        let mut edits = locked(&self.edits);
        edits.retain(|last| last.of != edit.of);
        if call.method == "editMessageText" {
            edits.push_back(edit);
            let over = edits.len().saturating_sub(EDITS);
            edits.drain(..over);
        }
    }

    async fn make(&self, call: &Call) -> Result<Answer, Fault> {
        match &call.upload {
            Some(upload) => self.api.upload(&call.method, &call.params, upload).await,
            None => self.api.call(&call.method, &call.params, CALL_LIMIT).await,
        }
    }

    /// Says why a file cannot go, before anything leaves.
    async fn objection(&self, upload: &Upload) -> Option<String> {
        let size = match upload.size().await {
            Ok(size) => size,
            Err(why) => return Some(why),
        };
        let photo = upload.field == "photo" && size > speaking::MAX_PHOTO;
        let most = if photo { speaking::MAX_PHOTO } else { self.max_upload };
        let hint = if photo { "; send it with telegram_send_file" } else { "" };
        file::objection(&upload.name, size, most).map(|why| why + if size == 0 { "" } else { hint })
    }

    fn verdict(&self, refusal: Refusal) -> Delivery {
        if let Some(chat) = moved(&refusal) {
            return Delivery::Moved { to: place(&self.account, chat) };
        }
        let retry = |after, account| Delivery::Retry { after, why: refusal.words.clone(), account };
        match kind(&refusal) {
            Kind::Limited => retry(refusal.retry_after.unwrap_or(LIMITED), false),
            Kind::Token => retry(TOKEN_REFUSED, true),
            Kind::Done => Delivery::noted(refusal.words),
            Kind::Closed => Delivery::Refused { reason: told(refusal.words), closed: true },
            Kind::Form | Kind::Quote | Kind::Topic | Kind::Conflict | Kind::Other => {
                Delivery::refused(refusal.words)
            }
        }
    }
}

#[async_trait]
impl Sender for TelegramSender {
    fn render(&self, outbound: &Outbound) -> Vec<Part> {
        render(outbound)
    }

    async fn examine(&self, what: Examine<'_>) -> ExaminationReport {
        examine(&self.api, what).await
    }

    async fn check_credential(&self) -> CredentialCheck {
        check_credential(&self.api).await
    }

    async fn deliver(&self, part: &Part) -> Delivery {
        let Some(mut call) = read(part, &part.call) else {
            return Delivery::unreadable();
        };
        if let Some(upload) = &call.upload
            && let Some(reason) = self.objection(upload).await
        {
            return Delivery::refused(reason);
        }
        if self.reads_so(&call) {
            return already(&call);
        }
        let mut plain = part.fallback.as_ref().and_then(|plain| read(part, plain));
        let mut note = None;
        for _ in 0..ATTEMPTS {
            let refusal = match self.make(&call).await {
                Ok(answer) => {
                    self.set_to(&call);
                    return sent(&call, &answer, note);
                }
                Err(Fault::Refused(refusal)) => refusal,
                Err(fault) => {
                    return fault.delivery(part.repeatable, |refusal| self.verdict(refusal));
                }
            };
            let kind = kind(&refusal);
            if kind == Kind::Topic && call.leave_topic() {
                if let Some(plain) = &mut plain {
                    plain.leave_topic();
                }
                note = Some("sent to the chat itself: its topic is gone".to_owned());
            } else if kind == Kind::Quote && call.drop_quote() {
                note = Some("sent without the quote: the quoted message is gone".to_owned());
            } else if (kind == Kind::Form || is_unknown(&call, kind)) && plain.is_some() {
                note = Some(format!("sent in its plain form: {}", refusal.words));
                call = plain.take().unwrap_or(call);
            } else if kind == Kind::Done && call.anew.is_some() {
                // It says so already.
                return already(&call);
            } else {
                return anew(part, self.verdict(refusal));
            }
        }
        Delivery::refused("Telegram refused the plain form too")
    }

    /// The Bot API has no history and no id of ours: it cannot tell.
    async fn lookup(&self, _part: &Part) -> Lookup {
        Lookup::Unknown
    }

    fn sends_pictures(&self) -> bool {
        true
    }

    fn marked(&self, part: &Part) -> Part {
        call::marked(part)
    }

    fn readdressed(&self, part: &Part, to: &PlaceId) -> Part {
        call::readdressed(part, to)
    }
}

/// Whether a server takes no rich message, at all or this one: before Bot API 10.1 it does not know the method, which
/// reads like a token that is not taken, and sees an edit without a text.
fn is_unknown(call: &Call, kind: Kind) -> bool {
    call.is_rich() && matches!(kind, Kind::Token | Kind::Other)
}

/// What a call changes, and into what.
fn edit(call: &Call) -> Option<Edit> {
    let of = ["chat_id", "message_id"].map(|key| call.params.get(key).cloned());
    let [Some(chat), Some(message)] = of else { return None };
    let mut hasher = DefaultHasher::new();
    json!(call.params).to_string().hash(&mut hasher);
    Some(Edit { of: [chat, message], digest: hasher.finish() })
}

/// An edit that changes nothing has arrived: its message is known.
fn already(call: &Call) -> Delivery {
    Delivery::Sent(Receipt { message: changed(call), ..Receipt::default() })
}

/// The message that an edit changes.
fn changed(call: &Call) -> Option<MessageRef> {
    let id = call.params.get("message_id").filter(|_| call.method == "editMessageText")?;
    Some(MessageRef::new(id.as_i64()?.to_string()))
}

/// What was to be said over a message that cannot be changed any more is sent as one of its own.
fn anew(part: &Part, verdict: Delivery) -> Delivery {
    let Delivery::Refused { reason, closed: false } = &verdict else { return verdict };
    let made = |call: &Value| serde_json::from_value::<Call>(call.clone()).ok()?.made_anew();
    let Some(call) = made(&part.call) else { return verdict };
    let plain = part.fallback.as_ref().and_then(made);
    let sent = Part { repeatable: false, ..part.clone() };
    let sent = Part { call: json!(call), fallback: plain.map(|plain| json!(plain)), ..sent };
    Delivery::Instead { part: Box::new(sent), why: format!("sent as a new message: {reason}") }
}

/// Reads a stored call and aims it at the part's conversation, which may have moved since.
fn read(part: &Part, call: &Value) -> Option<Call> {
    let mut call: Call = serde_json::from_value(call.clone()).ok()?;
    call.aim(Spot::parse(part.conversation.key())?.chat);
    Some(call)
}

/// What Telegram has done. A call that makes a message is answered by that message: an answer without its id says of
/// none that it is there.
fn sent(call: &Call, answer: &Answer, note: Option<String>) -> Delivery {
    let result = json::read::<Value>(answer.result.get()).unwrap_or_default();
    let message = match result.get("message_id").and_then(Value::as_i64) {
        // It is there when Telegram has got ready what it shows, under an id that nobody is told.
        Some(0) => {
            return Delivery::noted("Telegram shows it later, and tells no id of it".to_owned());
        }
        Some(id) if id > 0 => Some(MessageRef::new(id.to_string())),
        _ if call.makes_a_message() => {
            let why = format!("{}: an answer without the id of a message", call.method);
            return Delivery::Unclear { why };
        }
        _ => changed(call),
    };
    Delivery::Sent(Receipt { message, note, ..Receipt::default() })
}

#[cfg(test)]
mod tests;
