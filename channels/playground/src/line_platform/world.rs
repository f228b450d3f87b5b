//! The state of the emulated LINE: people, chats, messages, reply tokens, retry keys, the month's quota.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::port::ReservedPort;
use super::view::{LineButton, LineCall, LineMessage, Via};
use crate::delivered::{DeliveredMessage, Keep};

/// A reply token lives about a minute.
const TOKEN_LIFE: TimeDelta = TimeDelta::seconds(60);

/// Everything there is.
#[derive(Default)]
pub(super) struct World {
    pub(super) people: BTreeMap<String, String>,
    pub(super) chats: BTreeMap<String, Chat>,
    pub(super) tokens: HashMap<String, Token>,
    /// Pushes by their retry key: the request's id and what it made.
    pub(super) accepted: HashMap<String, (String, Value)>,
    /// Messages a month; `None` for no limit.
    pub(super) limit: Option<u64>,
    pub(super) used: u64,
    pub(super) files: HashMap<String, File>,
    pub(super) calls: Vec<LineCall>,
    /// Events by the message they are about, for redelivery.
    pub(super) events: HashMap<String, Value>,
    pub(super) webhook: Option<String>,
    /// The port that is kept for it.
    pub(super) kept: Option<ReservedPort>,
    pub(super) redelivers: bool,
    /// How long ago events happened when they are sent.
    pub(super) lateness: TimeDelta,
    pub(super) watchers: Vec<mpsc::UnboundedSender<DeliveredMessage>>,
    /// Whether no call is kept.
    pub(super) is_loaded: bool,
    number: u64,
}

/// One chat.
pub(super) struct Chat {
    pub(super) title: String,
    pub(super) members: Vec<String>,
    /// The bot is not there (any more), or is blocked.
    pub(super) closed: bool,
    pub(super) messages: Vec<LineMessage>,
}

impl Chat {
    pub(super) fn new(title: &str, members: &[&str]) -> Self {
        let members = members.iter().map(|id| (*id).to_owned()).collect();
        Self { title: title.to_owned(), members, closed: false, messages: Vec::new() }
    }
}

/// A right to one free reply.
pub(super) struct Token {
    pub(super) chat: String,
    /// The message it answers.
    pub(super) message: Option<String>,
    pub(super) until: DateTime<Utc>,
    pub(super) used: bool,
}

/// How the bot's messages come into a chat.
pub(super) struct Posting {
    pub(super) via: Via,
    pub(super) at: DateTime<Utc>,
    /// For a reply: the message whose token it used.
    pub(super) answers: Option<String>,
}

/// A file on the content host.
pub(super) struct File {
    pub(super) bytes: Bytes,
    pub(super) mime: String,
    /// How often it still says that it is being prepared.
    pub(super) preparing: u32,
    pub(super) failed: bool,
}

impl World {
    pub(super) fn new(people: BTreeMap<String, String>, chats: BTreeMap<String, Chat>) -> Self {
        Self {
            people,
            chats,
            limit: Some(1000),
            redelivers: true,
            number: 468_789_577_898_262_530,
            ..Self::default()
        }
    }

    /// Leaves out so many thousands of numbers.
    pub(super) fn skip(&mut self, thousands: u32) {
        self.number += u64::from(thousands) * 1_000;
    }

    /// A number that was never given before; LINE's ids look like it.
    pub(super) fn next(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    /// Makes a reply token for an event of a chat.
    pub(super) fn token(
        &mut self,
        chat: &str,
        message: Option<&str>,
        now: DateTime<Utc>,
    ) -> String {
        let token = format!("{:032x}", self.next());
        let message = message.map(str::to_owned);
        let made = Token { chat: chat.to_owned(), message, until: now + TOKEN_LIFE, used: false };
        self.tokens.insert(token.clone(), made);
        token
    }

    /// Uses a token up; `None` when it is used, too old, or none.
    pub(super) fn spend(
        &mut self,
        token: &str,
        now: DateTime<Utc>,
    ) -> Option<(String, Option<String>)> {
        let token = self.tokens.get_mut(token).filter(|t| !t.used && t.until > now)?;
        token.used = true;
        Some((token.chat.clone(), token.message.clone()))
    }

    /// How many people a push to this chat counts for; `None` when the bot cannot speak there.
    pub(super) fn recipients(&self, chat: &str) -> Option<u64> {
        let chat = self.chats.get(chat).filter(|chat| !chat.closed)?;
        Some(chat.members.len() as u64)
    }

    /// Lets go of old messages, and of tokens that are of no use any more; gives the bot's messages.
    pub(super) fn forget(&mut self, keep: &Keep, now: DateTime<Utc>) -> Vec<DeliveredMessage> {
        self.tokens.retain(|_, token| token.until > now);
        let mut delivered = Vec::new();
        for (id, chat) in &mut self.chats {
            let times = chat.messages.iter().map(|message| Some(message.at));
            let gone = keep.gone(now, chat.messages.len(), times);
            for message in chat.messages.drain(..gone) {
                self.events.remove(&message.id);
                if message.from.is_none() {
                    delivered.push(DeliveredMessage { place: id.clone(), text: message.text });
                }
            }
        }
        delivered
    }

    /// Puts the bot's bubbles into a chat; gives what LINE answers.
    pub(super) fn bot_says(&mut self, chat: &str, messages: &[Value], posting: &Posting) -> Value {
        let mut sent = Vec::new();
        for message in messages {
            let id = self.next().to_string();
            let quote = message["quoteToken"].as_str();
            let view = LineMessage {
                id: id.clone(),
                from: None,
                text: words(message, &self.people),
                quote: quote.and_then(|q| q.strip_prefix("q-")).map(str::to_owned),
                at: posting.at,
                via: posting.via,
                buttons: buttons(message),
                answers: posting.answers.clone(),
            };
            sent.push(json!({ "id": id, "quoteToken": quote_token(&id) }));
            let said = || DeliveredMessage { place: chat.to_owned(), text: view.text.clone() };
            self.watchers.retain(|watcher| watcher.send(said()).is_ok());
            if let Some(chat) = self.chats.get_mut(chat) {
                chat.messages.push(view);
            }
        }
        json!({ "sentMessages": sent })
    }
}

/// What a message says; whoever is mentioned by the name that people see.
fn words(message: &Value, people: &BTreeMap<String, String>) -> String {
    let template = &message["template"]["text"];
    let text = template.as_str().or_else(|| message["text"].as_str()).unwrap_or_default();
    let Some(substitution) = message["substitution"].as_object() else { return text.to_owned() };
    let mut text = text.replace("{{", "\u{1}").replace("}}", "\u{2}");
    for (key, one) in substitution {
        let user = one["mentionee"]["userId"].as_str();
        let name = user.map_or("All", |user| people.get(user).map_or(user, String::as_str));
        text = text.replace(&format!("{{{key}}}"), &format!("@{name}"));
    }
    text.replace('\u{1}', "{").replace('\u{2}', "}")
}

/// The buttons of a message that was checked.
fn buttons(message: &Value) -> Vec<LineButton> {
    let quick = message["quickReply"]["items"].as_array();
    let card = message["template"]["actions"].as_array();
    let actions = quick.into_iter().flatten().map(|item| (&item["action"], true));
    let all = actions.chain(card.into_iter().flatten().map(|action| (action, false)));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    all.map(|(action, quick)| LineButton {
        label: text(&action["label"]),
        data: text(&action["data"]),
        display: text(&action["displayText"]),
        quick,
    })
    .collect()
}

/// The token by which a message is quoted.
pub(super) fn quote_token(id: &str) -> String {
    format!("q-{id}")
}
