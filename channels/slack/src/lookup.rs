//! Whether an unclear part arrived: messages are found again by the key in their metadata, by their words
//! where Slack took no metadata, files by where they are shared.

use std::time::Duration;

use selkie_channel_core::http::Fault;
use selkie_channel_core::{Lookup, MessageRef, Receipt};
use serde_json::Value;

use crate::api::Api;
use crate::call::{Call, EVENT_TYPE, key_of};
use crate::hear;
use crate::ids::order;
use crate::refusal::{self, Kind, kind};
use crate::whoami::{self, Me};

/// Pages that are read at most: the answer stands near the message it answers, and to some apps Slack hands
/// out fifteen messages a page.
const PAGES: usize = 20;
const PAGE: &str = "100";
/// When it is asked again after a failure that proves nothing; the delivery worker lengthens it.
const SOON: Duration = Duration::from_secs(2);
/// A refused token is not mended by asking at once.
const TOKEN_REFUSED: Duration = Duration::from_secs(60);

/// What was said, by which it is known again.
struct LookupQuery<'a> {
    /// A stream has none.
    key: Option<&'a str>,
    /// The words of its forms, as they read.
    words: Vec<String>,
    /// What stands before it is not looked at.
    oldest: Option<&'a str>,
    me: &'a Me,
}

/// The beginning of a stream of which nobody knows whether it stands.
#[derive(Clone, Debug)]
pub struct UnclearStream {
    /// The channel.
    pub channel: String,
    /// The thread's root.
    pub thread: String,
    /// What it says.
    pub text: String,
    /// The `ts` that it is younger than.
    pub after: String,
}

/// What stands on a page.
enum PageContent {
    /// Ours, at this `ts`.
    There(String),
    /// Words of the bot that carry no key: it may be among them, changed.
    Perhaps,
    Nothing,
}

/// Looks for a posted message, of which `plain` is the plain form. Whoever cannot read the history cannot
/// tell; whom Slack does not answer asks again.
pub async fn message(api: &Api, call: &Call, plain: Option<&Call>, me: &Me) -> Lookup {
    let Call::Post { params, .. } = call else { return Lookup::Unknown };
    let Some(key) = key_of(call) else { return Lookup::Unknown };
    let field = |name: &str| params.get(name).and_then(Value::as_str);
    let Some(channel) = field("channel") else { return Lookup::Unknown };
    let words = [Some(call), plain].into_iter().flatten().filter_map(words_of).collect();
    // The key begins with the message that is answered.
    let wanted = LookupQuery { key: Some(key), words, oldest: answered(key), me };
    match field("thread_ts") {
        None => known(walk(api, channel, None, &wanted).await),
        Some(thread) => match known(walk(api, channel, Some(thread), &wanted).await) {
            // It went out beside the thread that is gone, or not at all.
            Lookup::Unknown => match known(walk(api, channel, None, &wanted).await) {
                Lookup::Sent(receipt) => Lookup::Sent(receipt),
                _ => Lookup::Unknown,
            },
            known => known,
        },
    }
}

/// Looks for the beginning of a stream, which has no key: words of the bot in the thread that read the same and are
/// younger than the question.
///
/// # Errors
/// When Slack does not show the thread; see [`later`].
pub async fn stream(api: &Api, begun: &UnclearStream, me: &Me) -> Result<Lookup, Fault> {
    // Without its name, another bot's words would be taken for its own.
    let me = if me.user.is_empty() { &whoami::ask(api).await? } else { me };
    let words = vec![reads(&begun.text)];
    if words.iter().all(String::is_empty) {
        return Ok(Lookup::Unknown);
    }
    let wanted = LookupQuery { key: None, words, oldest: Some(&begun.after), me };
    let known = walk(api, &begun.channel, Some(&begun.thread), &wanted).await?;
    // Other words of the bot say nothing of these.
    Ok(if known == Lookup::Unknown { Lookup::NotSent } else { known })
}

/// Reads a thread, or a channel, from the message that is answered on.
async fn walk(
    api: &Api,
    channel: &str,
    thread: Option<&str>,
    wanted: &LookupQuery<'_>,
) -> Result<Lookup, Fault> {
    let method = if thread.is_some() { "conversations.replies" } else { "conversations.history" };
    let mut cursor = String::new();
    let mut perhaps = false;
    for _ in 0..PAGES {
        let mut ask = vec![("channel", channel), ("limit", PAGE), ("include_all_metadata", "true")];
        ask.extend(thread.map(|thread| ("ts", thread)));
        ask.extend(wanted.oldest.map(|ts| ("oldest", ts)));
        if !cursor.is_empty() {
            ask.push(("cursor", cursor.as_str()));
        }
        let page = api.ask(method, &ask).await?;
        match wanted.on(&page) {
            PageContent::There(ts) => {
                let message = Some(MessageRef::new(ts));
                let note = Some("found again in the channel's history".to_owned());
                return Ok(Lookup::Sent(Receipt { message, note, ..Receipt::default() }));
            }
            PageContent::Perhaps => perhaps = true,
            PageContent::Nothing => {}
        }
        let next = page.pointer("/response_metadata/next_cursor").and_then(Value::as_str);
        match next.filter(|next| !next.is_empty()) {
            Some(next) => cursor = next.to_owned(),
            None if perhaps => return Ok(Lookup::Unknown),
            None => return Ok(Lookup::NotSent),
        }
    }
    Ok(Lookup::Unknown)
}

impl LookupQuery<'_> {
    fn on(&self, page: &Value) -> PageContent {
        let messages =
            page.get("messages").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let ts = |message: &Value| message.get("ts").and_then(Value::as_str).map(str::to_owned);
        if let Some(ts) = messages.iter().find(|message| self.has_key(message)).and_then(ts) {
            return PageContent::There(ts);
        }
        let is_young = |message: &Value| self.key.is_some() || self.is_young(message);
        let keyless = |message: &&Value| self.is_keyless(message) && is_young(message);
        let mut keyless = messages.iter().filter(keyless).peekable();
        let perhaps = keyless.peek().is_some();
        let same = |message: &&Value| {
            let text = message.get("text").and_then(Value::as_str).unwrap_or_default();
            let text = reads(text);
            match self.key {
                Some(_) => self.words.contains(&text),
                None => self.words.iter().any(|word| text.starts_with(word)),
            }
        };
        match (keyless.find(same).and_then(ts), perhaps) {
            (Some(ts), _) => PageContent::There(ts),
            (None, true) => PageContent::Perhaps,
            (None, false) => PageContent::Nothing,
        }
    }

    fn has_key(&self, message: &Value) -> bool {
        let metadata = message.get("metadata");
        let field = |pointer: &str| metadata?.pointer(pointer)?.as_str();
        field("/event_type") == Some(EVENT_TYPE)
            && self.key.is_some_and(|key| field("/event_payload/key") == Some(key))
    }

    /// A thread's root is on each page, whatever is asked for.
    fn is_young(&self, message: &Value) -> bool {
        let Some(oldest) = self.oldest.and_then(order) else { return true };
        let ts = message.get("ts").and_then(Value::as_str).and_then(order);
        ts.is_some_and(|ts| ts > oldest)
    }

    /// Words of the bot that Slack took without metadata; a shared file never has any.
    fn is_keyless(&self, message: &Value) -> bool {
        let field = |key: &str| message.get(key).and_then(Value::as_str);
        let ours = match self.me.user.is_empty() {
            true => field("bot_id").is_some(),
            false => field("user") == Some(self.me.user.as_str()),
        };
        let keyed = message.pointer("/metadata/event_type").and_then(Value::as_str);
        let files = message.get("files").and_then(Value::as_array).is_some_and(|f| !f.is_empty());
        ours && !files && keyed != Some(EVENT_TYPE)
    }
}

fn words_of(call: &Call) -> Option<String> {
    let Call::Post { params, .. } = call else { return None };
    Some(reads(params.get("text")?.as_str()?))
}

/// A text as it reads: Slack writes links and blanks its own way.
fn reads(text: &str) -> String {
    let text = hear::as_read(text);
    let marks = |c: &char| !c.is_whitespace() && *c != '\u{200b}' && !"*_~`<>[]()".contains(*c);
    text.chars().filter(marks).collect()
}

/// Asks where a file is shared.
pub async fn file(api: &Api, file: &str, channel: &str) -> Lookup {
    match api.ask("files.info", &[("file", file)]).await {
        Ok(answer) => {
            let file = answer.get("file").cloned().unwrap_or_default();
            match share(&file, channel) {
                Some(ts) => {
                    let message = Some(MessageRef::new(ts));
                    Lookup::Sent(Receipt { message, note: None, ..Receipt::default() })
                }
                None => Lookup::NotSent,
            }
        }
        Err(fault) => in_vain(fault),
    }
}

/// Returns the `ts` of the message that shares a file in a channel.
pub fn share(file: &Value, channel: &str) -> Option<String> {
    let shares = file.get("shares")?.as_object()?;
    let here = shares.values().find_map(|kind| kind.get(channel)?.get(0)?.get("ts")?.as_str());
    here.map(str::to_owned)
}

/// Returns the message that a message with this key answers.
pub fn answered(key: &str) -> Option<&str> {
    key.split(':').next().filter(|ts| order(ts).is_some())
}

/// Only a refusal that stays is a real unknown; a limit or a broken line is asked again.
fn in_vain(fault: Fault) -> Lookup {
    later(&fault).unwrap_or_else(|| {
        let why = refusal::why(&fault);
        tracing::warn!(why, "the history cannot be read: whether a message arrived stays unknown");
        Lookup::Unknown
    })
}

fn known(walked: Result<Lookup, Fault>) -> Lookup {
    walked.unwrap_or_else(in_vain)
}

/// When it is asked again; `None` where the history can never be read.
pub fn later(fault: &Fault) -> Option<Lookup> {
    let after = match fault {
        Fault::NotSent(_) | Fault::Unclear(_) => SOON,
        Fault::Refused(refusal) => match kind(refusal) {
            Kind::Limited => refusal.retry_after.unwrap_or(SOON),
            Kind::Token => TOKEN_REFUSED,
            _ => return None,
        },
    };
    Some(Lookup::Later { after, at_most: None, why: refusal::why(fault) })
}
