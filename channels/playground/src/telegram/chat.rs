//! Users, chats, messages and files: the nouns of the emulated Telegram.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::delivered::Keep;

/// A chat, or one topic of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spot {
    /// The chat's id.
    pub chat: i64,
    /// The topic's root message.
    pub thread: Option<i64>,
}

impl From<i64> for Spot {
    fn from(chat: i64) -> Self {
        Self { chat, thread: None }
    }
}

/// A person or the bot.
#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) id: i64,
    pub(crate) is_bot: bool,
    pub(crate) first_name: String,
    pub(crate) last_name: Option<String>,
    pub(crate) username: Option<String>,
}

/// What sort of chat it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ChatKind {
    #[default]
    Private,
    Group,
    Supergroup,
    Forum,
}

/// One chat.
#[derive(Debug, Default)]
pub(crate) struct Chat {
    pub(crate) id: i64,
    pub(crate) kind: ChatKind,
    pub(crate) title: String,
    pub(crate) members: Vec<i64>,
    /// Topics by the id of their root message.
    pub(crate) topics: HashMap<i64, String>,
    pub(crate) closed: bool,
    /// An administrator sees everything, and learns of reactions when it asks.
    pub(crate) bot_is_admin: bool,
    pub(crate) moved_to: Option<i64>,
    /// Messages in order of their ids; a deleted one leaves its slot empty.
    slots: VecDeque<Option<Message>>,
    /// How many slots before them were let go.
    gone: usize,
    /// How many have ids from 1 on; the ids of later ones are higher by `skipped`.
    first: usize,
    skipped: i64,
    /// Messages of people that have no answer yet, oldest first, by topic.
    waiting: HashMap<Option<i64>, VecDeque<i64>>,
}

impl Chat {
    /// An empty chat.
    pub(crate) fn new(id: i64, kind: ChatKind, title: &str, members: &[i64]) -> Self {
        Self { id, kind, title: title.to_owned(), members: members.to_vec(), ..Self::default() }
    }

    /// Stores a message and gives its id.
    pub(crate) fn push(&mut self, draft: Draft, at: DateTime<Utc>) -> i64 {
        // A chat that fills the memory's address space has run out of memory long before.
        let id = i64::try_from(self.posted()).unwrap_or(i64::MAX / 2) + 1 + self.skipped;
        let message = Message { id, at, edited: None, draft, reactions: vec![], answers: vec![] };
        self.slots.push_back(Some(message));
        id
    }

    /// Gives the messages from now on ids that are higher by so much.
    pub(crate) fn skip(&mut self, numbers: i64) {
        (self.first, self.skipped) = (self.posted(), numbers);
    }

    /// How many messages there ever were.
    fn posted(&self) -> usize {
        self.gone + self.slots.len()
    }

    /// Lets go of the oldest messages but for those; gives them.
    pub(crate) fn forget(
        &mut self,
        keep: &Keep,
        now: DateTime<Utc>,
    ) -> impl Iterator<Item = Message> {
        let times = self.slots.iter().map(|slot| slot.as_ref().map(|message| message.at));
        let going = keep.gone(now, self.slots.len(), times);
        self.gone += going;
        self.slots.drain(..going).flatten()
    }

    fn slot(&self, id: i64) -> Option<usize> {
        let place = |id: i64| usize::try_from(id).ok()?.checked_sub(1);
        let early = place(id).filter(|slot| *slot < self.first);
        let slot = early
            .or_else(|| place(id.checked_sub(self.skipped)?).filter(|slot| *slot >= self.first));
        slot?.checked_sub(self.gone)
    }

    /// Notes that a person's message waits for its answer.
    pub(crate) fn await_answer(&mut self, thread: Option<i64>, id: i64) {
        self.waiting.entry(thread).or_default().push_back(id);
    }

    /// Links the bot's message to what it answers: by its reply, else the oldest unanswered message of
    /// the topic, else the latest answered one.
    pub(crate) fn link_answer(&mut self, thread: Option<i64>, reply_to: Option<i64>, answer: i64) {
        let waiting = self.waiting.entry(thread).or_default();
        let inbound = match reply_to {
            Some(id) => {
                waiting.retain(|waiting| *waiting != id);
                Some(id)
            }
            None => waiting.pop_front(),
        };
        let inbound = inbound.or_else(|| self.latest_answered(thread));
        if let Some(message) = inbound.and_then(|id| self.message_mut(id)) {
            message.answers.push(answer);
        }
    }

    fn latest_answered(&self, thread: Option<i64>) -> Option<i64> {
        let mut recent = self.slots.iter().rev().take(64).flatten();
        let found = recent.find(|m| m.draft.thread == thread && !m.answers.is_empty());
        found.map(|message| message.id)
    }

    /// Empties a message's slot and gives what was there. What it alone has answered waits again.
    pub(crate) fn take(&mut self, id: i64) -> Option<Message> {
        for message in self.slots.iter_mut().flatten().filter(|m| m.answers.contains(&id)) {
            message.answers.retain(|answer| *answer != id);
            if message.answers.is_empty() {
                self.waiting.entry(message.draft.thread).or_default().push_front(message.id);
            }
        }
        let slot = self.slot(id)?;
        self.slots.get_mut(slot)?.take()
    }

    /// Empties every slot.
    pub(crate) fn clear(&mut self) {
        self.slots.iter_mut().for_each(|slot| *slot = None);
    }

    /// The message with this id, unless it never was or was deleted.
    pub(crate) fn message(&self, id: i64) -> Option<&Message> {
        self.slots.get(self.slot(id)?)?.as_ref()
    }

    /// The same, to change it.
    pub(crate) fn message_mut(&mut self, id: i64) -> Option<&mut Message> {
        let slot = self.slot(id)?;
        self.slots.get_mut(slot)?.as_mut()
    }

    /// Every message that was not deleted, oldest first.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &Message> {
        self.slots.iter().flatten()
    }

    /// Whether `thread` exists here.
    pub(crate) fn has_thread(&self, thread: i64) -> bool {
        self.topics.contains_key(&thread)
    }
}

/// What a message carries besides its text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// Nothing: a text message.
    Text,
    /// A rich message of these blocks; the text is what a person reads in it.
    Rich(Value),
    /// A file; the text is its caption.
    File(String),
    /// Something without words (a sticker, a place, a poll): these fields stand in the message.
    Thing(Value),
    /// A service message: these fields stand in the message.
    Service(Value),
}

/// What somebody posts.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) from: i64,
    pub(crate) thread: Option<i64>,
    pub(crate) content: Content,
    pub(crate) text: Arc<str>,
    pub(crate) entities: Vec<Value>,
    pub(crate) reply_to: Option<i64>,
    pub(crate) markup: Option<Value>,
    pub(crate) album: Option<String>,
}

impl Draft {
    /// A plain text message.
    pub(crate) fn text(from: i64, thread: Option<i64>, text: &str) -> Self {
        Self {
            from,
            thread,
            content: Content::Text,
            text: text.into(),
            entities: vec![],
            reply_to: None,
            markup: None,
            album: None,
        }
    }

    /// A service message.
    pub(crate) fn service(from: i64, fields: Value) -> Self {
        Self { content: Content::Service(fields), ..Self::text(from, None, "") }
    }
}

/// A message in its chat.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) id: i64,
    pub(crate) at: DateTime<Utc>,
    pub(crate) edited: Option<DateTime<Utc>>,
    pub(crate) draft: Draft,
    /// Emoji and who put it there.
    pub(crate) reactions: Vec<(String, i64)>,
    /// Ids of the bot's messages that answer this one.
    pub(crate) answers: Vec<i64>,
}

impl Message {
    /// Whether no person's words are in it.
    pub(crate) fn is_service(&self) -> bool {
        matches!(self.draft.content, Content::Service(_))
    }
}

/// What kind of file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// Any file.
    Document,
    /// An image.
    Photo,
    /// A voice note.
    Voice,
}

/// A stored file.
#[derive(Clone, Debug)]
pub(crate) struct StoredFile {
    pub(crate) kind: FileKind,
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) bytes: Bytes,
    /// The size the platform tells; a test may claim more than there is.
    pub(crate) size: u64,
    /// How long it plays.
    pub(crate) seconds: u32,
}

/// One thing the bot said, told to watchers at once.
#[derive(Clone, Debug)]
pub struct BotMessage {
    /// The chat.
    pub chat: i64,
    /// The message's id there.
    pub message_id: i64,
    /// The text or caption.
    pub text: Arc<str>,
    /// When the server took it.
    pub at: Instant,
}

/// The fields of a topic's root message.
pub(crate) fn topic_created(name: &str) -> Value {
    json!({ "forum_topic_created": { "name": name, "icon_color": 7_322_096 } })
}
