//! Slack's own streams: which messages grow now, and where Slack lets none grow.
//!
//! A stream takes what is new and nothing else, and no other change until it is stopped. What cannot be told so is told
//! by the usual calls; which streams are open is known to this life alone, another one is told by Slack's refusal.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use selkie_channel_core::http::{Fault, Refusal};
use selkie_channel_core::{Delivery, Lookup, Now, Receipt, locked};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::api::Api;
use crate::call::{Call, Reader, key_of};
use crate::doubts::{Doubt, Doubts};
use crate::growth;
use crate::lookup;
use crate::refusal::{Kind, kind, words};
use crate::verdict::{changed, posted, unproven, verdict};
use crate::whoami::Me;

/// Where Slack refuses streams none is tried for so long.
const REFUSED: Duration = Duration::from_secs(3600);
/// Streams, and places without any, that are known at once.
const MANY: usize = 1000;

/// A message of the bot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// The channel.
    pub channel: String,
    /// The message.
    pub ts: String,
}

impl Message {
    /// Reads the parameters of a call that changes a message.
    pub fn of(params: &Value) -> Self {
        let text = |key: &str| params[key].as_str().unwrap_or_default().to_owned();
        Self { channel: text("channel"), ts: text("ts") }
    }
}

/// The streams of one bot.
pub struct Streams {
    open: Mutex<HashMap<Message, Stream>>,
    doubts: Doubts,
    /// By channel; an empty one stands for all.
    held: Mutex<HashMap<String, StreamHold>>,
}

/// A message that grows.
#[derive(Clone, Debug)]
struct Stream {
    sent: StreamContent,
    /// By what the message is to be found.
    metadata: Option<Value>,
}

/// What stands in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
enum StreamContent {
    /// This.
    Known(String),
    /// Nobody knows what: a call's end is unclear.
    Unknown,
    /// A person has stopped it: nothing more is shown before the last words.
    Stopped,
}

/// No stream is tried here.
struct StreamHold {
    until: Instant,
    code: String,
}

/// What came of ending a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// The message can be changed now, as far as anybody knows.
    Free,
    /// It says the whole.
    Whole,
    /// It goes on: try again.
    Later(Delivery),
}

impl Streams {
    /// There are none yet.
    pub fn new(now: Now) -> Self {
        Self { open: Mutex::default(), doubts: Doubts::new(now), held: Mutex::default() }
    }

    /// Begins one with the parameters of a message in a thread. `None`: it is shown the usual way.
    pub async fn start(
        &self,
        api: &Api,
        post: &Value,
        text: &str,
        reader: &Reader,
    ) -> Option<Delivery> {
        let channel = post["channel"].as_str()?;
        let thread = post["thread_ts"].as_str()?;
        let text = Some(growth::shown(text)).filter(|text| !text.trim().is_empty())?;
        if self.is_held(channel) {
            return None;
        }
        let mut params = json!({ "channel": channel, "thread_ts": thread, "markdown_text": text });
        let begun = self.doubts.begin(post, &text);
        // Direct messages have one reader; some name them all the same.
        let mut names = !channel.starts_with('D');
        loop {
            if names {
                params["recipient_team_id"] = json!(reader.team);
                params["recipient_user_id"] = json!(reader.user);
            }
            let refusal = match api.call("chat.startStream", &params).await {
                Ok(answer) => {
                    let delivery = posted("chat.startStream", &answer, None);
                    self.began(begun, &delivery);
                    return Some(delivery);
                }
                Err(Fault::Refused(refusal)) => refusal,
                Err(fault) => {
                    let delivery = unproven(fault, false);
                    self.began(begun, &delivery);
                    return Some(delivery);
                }
            };
            if names || !refusal.code.starts_with("missing_recipient") {
                self.refused(channel, &refusal);
                return None;
            }
            names = true;
        }
    }

    /// Notes what came of a beginning.
    fn began(&self, Doubt { begun, metadata, key }: Doubt, delivery: &Delivery) {
        match delivery {
            Delivery::Sent(Receipt { message: Some(ts), .. }) => {
                let message = Message { channel: begun.channel, ts: ts.as_str().to_owned() };
                self.opened(message, begun.text, metadata);
            }
            Delivery::Unclear { .. } => self.doubts.add(Doubt { begun, metadata, key }),
            _ => {}
        }
    }

    /// Looks whether the beginning stands that a message in doubt may have become; then it grows on. `None`: no stream
    /// was begun for it.
    pub async fn look(&self, api: &Api, way: &Call, me: &Me) -> Option<Lookup> {
        let doubt = self.doubts.of(way)?;
        let known = self.doubts.look(api, &doubt, me).await;
        if let Lookup::Sent(receipt) = &known {
            self.began(doubt, &Delivery::Sent(receipt.clone()));
        }
        Some(known)
    }

    /// Looks for a beginning that an earlier life may have died over, where the message itself is not `known` to be there.
    pub async fn look_again(
        &self,
        api: &Api,
        way: &Call,
        text: &str,
        me: &Me,
        known: Lookup,
    ) -> Lookup {
        match known {
            Lookup::Sent(receipt) => Lookup::Sent(receipt),
            known => self.begun_before(api, way, text, me).await.unwrap_or(known),
        }
    }

    /// `None`: nothing says which question it would answer, so that there is nothing to begin at.
    async fn begun_before(&self, api: &Api, way: &Call, text: &str, me: &Me) -> Option<Lookup> {
        let Call::Post { params, .. } = way else { return None };
        params.get("thread_ts")?;
        lookup::answered(key_of(way)?)?;
        let doubt = self.doubts.begin(params, &growth::shown(text));
        let known = self.doubts.look(api, &doubt, me).await;
        if let Lookup::Sent(receipt) = &known {
            self.began(doubt, &Delivery::Sent(receipt.clone()));
        }
        Some(known)
    }

    /// Appends what is new of a text. `None`: it is shown the usual way, because the message is none of these or says
    /// something else.
    pub async fn append(&self, api: &Api, message: &Message, text: &str) -> Option<Delivery> {
        let sent = locked(&self.open).get(message)?.sent.clone();
        let shown = growth::shown(text);
        let more = match &sent {
            StreamContent::Unknown => return None,
            StreamContent::Stopped => "",
            StreamContent::Known(sent) if sent.starts_with(&shown) => "",
            StreamContent::Known(sent) => shown.strip_prefix(sent.as_str())?,
        };
        if more.is_empty() {
            return Some(Delivery::noted("nothing is new".to_owned()));
        }
        let params = json!({ "channel": message.channel, "ts": message.ts, "markdown_text": more });
        match api.call("chat.appendStream", &params).await {
            Ok(_) => {
                self.stands(message, StreamContent::Known(shown));
                Some(changed(&params, None))
            }
            Err(Fault::Refused(refusal)) => self.not_appended(message, &refusal),
            Err(fault) => {
                if matches!(fault, Fault::Unclear(_)) {
                    self.stands(message, StreamContent::Unknown);
                }
                Some(unproven(fault, true))
            }
        }
    }

    fn not_appended(&self, message: &Message, refusal: &Refusal) -> Option<Delivery> {
        match (refusal.code.as_str(), kind(refusal)) {
            ("stopped_by_user", _) => {
                self.stands(message, StreamContent::Stopped);
                let note = Some(words(refusal));
                Some(Delivery::Sent(Receipt { note, stopped: true, ..Receipt::default() }))
            }
            // Nothing else waits for this limit: the answer itself is told by another call.
            (_, Kind::Limited) => Some(Delivery::noted(words(refusal))),
            (_, Kind::Token) => Some(verdict(refusal)),
            ("message_not_in_streaming_state", _) => {
                self.take(message);
                None
            }
            _ => None,
        }
    }

    /// Ends the stream of a message that grows, before it is changed otherwise: to `whole`, when that is all it is to
    /// say.
    pub async fn end(&self, api: &Api, message: &Message, whole: Option<&str>) -> StreamEnd {
        let Some(stream) = locked(&self.open).get(message).cloned() else { return StreamEnd::Free };
        let rest = match (&stream.sent, whole) {
            (StreamContent::Stopped, _) => {
                self.take(message);
                return StreamEnd::Free;
            }
            (StreamContent::Known(sent), Some(whole)) => growth::rest(whole, sent),
            (StreamContent::Known(_) | StreamContent::Unknown, _) => None,
        };
        let ended = self.stop(api, message, rest, stream.metadata).await;
        match ended {
            Ok(said) if rest.is_some() && said.as_deref() == whole => StreamEnd::Whole,
            Ok(_) => StreamEnd::Free,
            Err(delivery) => StreamEnd::Later(delivery),
        }
    }

    /// Stops a stream of whatever life. Returns what the message says then; `None` as well where Slack says that it is
    /// none, which the call that follows tells, too.
    ///
    /// # Errors
    /// When it is to be tried again.
    pub async fn stop(
        &self,
        api: &Api,
        message: &Message,
        rest: Option<&str>,
        mut metadata: Option<Value>,
    ) -> Result<Option<String>, Delivery> {
        loop {
            let mut params = json!({ "channel": message.channel, "ts": message.ts });
            if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
                params["markdown_text"] = json!(rest);
            }
            let has_metadata = metadata.is_some();
            if let Some(metadata) = metadata.take() {
                params["metadata"] = metadata;
            }
            match api.call("chat.stopStream", &params).await {
                Ok(answer) => {
                    self.take(message);
                    let said = answer.pointer("/message/text").and_then(Value::as_str);
                    return Ok(said.map(str::to_owned));
                }
                Err(Fault::Refused(refusal))
                    if matches!(kind(&refusal), Kind::Limited | Kind::Token) =>
                {
                    return Err(verdict(&refusal));
                }
                Err(Fault::Refused(refusal))
                    if has_metadata && refusal.code.contains("metadata") => {}
                Err(Fault::Refused(refusal)) => {
                    tracing::debug!(why = words(&refusal), "a stream is not stopped");
                    self.take(message);
                    return Ok(None);
                }
                Err(fault) => {
                    if matches!(fault, Fault::Unclear(_)) {
                        self.stands(message, StreamContent::Unknown);
                    }
                    return Err(unproven(fault, true));
                }
            }
        }
    }

    fn opened(&self, message: Message, sent: String, metadata: Option<Value>) {
        let mut open = locked(&self.open);
        if open.len() >= MANY {
            // They are stopped when Slack refuses to change them.
            open.clear();
        }
        open.insert(message, Stream { sent: StreamContent::Known(sent), metadata });
    }

    fn stands(&self, message: &Message, sent: StreamContent) {
        if let Some(stream) = locked(&self.open).get_mut(message) {
            stream.sent = sent;
        }
    }

    fn take(&self, message: &Message) {
        locked(&self.open).remove(message);
    }

    fn is_held(&self, channel: &str) -> bool {
        let held = locked(&self.held);
        let now = Instant::now();
        ["", channel].iter().filter_map(|key| held.get(*key)).any(|held| now < held.until)
    }

    /// Tries none there for a while, and says so, once.
    fn refused(&self, channel: &str, refusal: &Refusal) {
        let key = match reach(refusal) {
            Reach::Once => return,
            Reach::Channel => channel,
            Reach::All => "",
        };
        let mut held = locked(&self.held);
        let code = refusal.code.clone();
        if held.get(key).is_none_or(|held| held.code != code) {
            tracing::info!(
                channel = key,
                why = words(refusal),
                "Slack streams no answers here: selkie edits a message instead, and tries again in an hour"
            );
        }
        if held.len() >= MANY {
            held.clear();
        }
        held.insert(key.to_owned(), StreamHold { until: Instant::now() + REFUSED, code });
    }
}

/// Whether a message may not be changed because it grows. Taking one away is refused so for other reasons, too.
pub fn grows(refusal: &Refusal) -> bool {
    matches!(refusal.code.as_str(), "streaming_state_conflict" | "cant_delete_message")
}

/// What a refused stream says of others.
#[derive(Debug, PartialEq, Eq)]
enum Reach {
    /// Nothing: the usual way shows whether it is better off.
    Once,
    Channel,
    All,
}

fn reach(refusal: &Refusal) -> Reach {
    match (refusal.code.as_str(), kind(refusal)) {
        (
            "unknown_method"
            | "method_deprecated"
            | "deprecated_endpoint"
            | "missing_scope"
            | "accesslimited"
            | "enterprise_is_restricted"
            | "is_bot",
            _,
        ) => Reach::All,
        // Of the person who asked, though the usual way is open.
        ("user_not_found", _) => Reach::Channel,
        (
            "no_text"
            | "messaging_processing_failed"
            | "thread_not_found"
            | "invalid_thread_ts"
            | "cannot_reply_to_message",
            _,
        )
        | (_, Kind::Limited | Kind::Token | Kind::Closed | Kind::Form | Kind::Done) => Reach::Once,
        (_, Kind::Other | Kind::Scope) => Reach::Channel,
    }
}

#[cfg(test)]
mod tests;
