//! The emulated Telegram's state: users, chats, messages, files, and what happens when one is posted.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use tokio::sync::{broadcast, mpsc};

use super::refusal::Refusal;
use super::updates::Updates;
use super::view::{Event, EventKind};
use super::{render, view};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChatKind {
    Private,
    Group,
    Supergroup,
    Forum,
}

/// One chat.
#[derive(Debug)]
pub(crate) struct Chat {
    pub(crate) id: i64,
    pub(crate) kind: ChatKind,
    pub(crate) title: String,
    pub(crate) members: Vec<i64>,
    /// Topics by the id of their root message.
    pub(crate) topics: HashMap<i64, String>,
    pub(crate) closed: bool,
    pub(crate) moved_to: Option<i64>,
    /// Messages by id − 1; a deleted one leaves its slot empty.
    slots: Vec<Option<Message>>,
    /// Messages of people that have no answer yet, oldest first, by topic.
    waiting: HashMap<Option<i64>, VecDeque<i64>>,
}

impl Chat {
    /// The message with this id, unless it never was or was deleted.
    pub(crate) fn message(&self, id: i64) -> Option<&Message> {
        self.slots.get(slot(id)?)?.as_ref()
    }

    /// The same, to change it.
    pub(crate) fn message_mut(&mut self, id: i64) -> Option<&mut Message> {
        self.slots.get_mut(slot(id)?)?.as_mut()
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

fn slot(id: i64) -> Option<usize> {
    usize::try_from(id).ok()?.checked_sub(1)
}

/// What a message carries besides its text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// Nothing: a text message.
    Text,
    /// A file; the text is its caption.
    File(String),
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
}

/// One thing the bot said, told to watchers at once.
#[derive(Clone, Debug)]
pub struct Said {
    /// The chat.
    pub chat: i64,
    /// The message's id there.
    pub message_id: i64,
    /// The text or caption.
    pub text: Arc<str>,
    /// When the server took it.
    pub at: Instant,
}

/// The state.
pub(crate) struct World {
    pub(crate) bot: User,
    pub(crate) token: String,
    pub(crate) privacy_mode: bool,
    pub(crate) users: HashMap<i64, User>,
    pub(crate) chats: HashMap<i64, Chat>,
    pub(crate) updates: Updates,
    pub(crate) webhook: Option<String>,
    pub(crate) files: HashMap<String, StoredFile>,
    /// Open callback queries and when they were pressed.
    pub(crate) callbacks: HashMap<String, DateTime<Utc>>,
    pub(crate) events: broadcast::Sender<Event>,
    pub(crate) watchers: Vec<mpsc::UnboundedSender<Said>>,
    pub(crate) counter: u64,
}

impl World {
    /// A world with its bot alone.
    pub(crate) fn new(bot: User, token: String) -> Self {
        Self {
            privacy_mode: false,
            users: HashMap::from([(bot.id, bot.clone())]),
            bot,
            token,
            chats: HashMap::new(),
            updates: Updates::default(),
            webhook: None,
            files: HashMap::new(),
            callbacks: HashMap::new(),
            events: broadcast::channel(1024).0,
            watchers: vec![],
            counter: 0,
        }
    }

    /// A number nobody had before.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    /// Adds a chat.
    pub(crate) fn add_chat(&mut self, id: i64, kind: ChatKind, title: &str, members: &[i64]) {
        let chat = Chat {
            id,
            kind,
            title: title.to_owned(),
            members: members.to_vec(),
            topics: HashMap::new(),
            closed: false,
            moved_to: None,
            slots: vec![],
            waiting: HashMap::new(),
        };
        self.chats.insert(id, chat);
    }

    /// The chat the bot may write to.
    ///
    /// # Errors
    /// The refusal the Bot API gives: unknown, moved, blocked or kicked.
    pub(crate) fn open_chat(&self, id: i64) -> Result<&Chat, Refusal> {
        let chat = self.chats.get(&id).ok_or_else(|| Refusal::bad("chat not found"))?;
        if let Some(to) = chat.moved_to {
            return Err(Refusal::migrated(to));
        }
        if !chat.closed {
            return Ok(chat);
        }
        Err(Refusal::forbidden(match chat.kind {
            ChatKind::Private => "bot was blocked by the user",
            ChatKind::Group => "bot was kicked from the group chat",
            ChatKind::Supergroup | ChatKind::Forum => "bot was kicked from the supergroup chat",
        }))
    }

    /// Stores a message, links answers, tells the page and makes the update.
    ///
    /// `None` when the chat does not exist.
    pub(crate) fn post(&mut self, chat_id: i64, draft: Draft, now: DateTime<Utc>) -> Option<i64> {
        let from_bot = draft.from == self.bot.id;
        let chat = self.chats.get_mut(&chat_id)?;
        let id = i64::try_from(chat.slots.len()).ok()? + 1;
        let thread = draft.thread;
        if from_bot {
            link_answer(chat, &draft, id);
        } else if !matches!(draft.content, Content::Service(_)) {
            chat.waiting.entry(thread).or_default().push_back(id);
        }
        let message =
            Message { id, at: now, edited: None, draft, reactions: vec![], answers: vec![] };
        chat.slots.push(Some(message));
        if from_bot {
            self.tell_watchers(chat_id, id);
        } else if self.bot_sees(chat_id, id) {
            let body = render::message(self, chat_id, id);
            self.updates.push("message", &body, now);
        }
        self.emit(EventKind::Message, chat_id, thread, Some(id));
        Some(id)
    }

    /// Tells everybody who watches what the bot said.
    pub(crate) fn tell_watchers(&mut self, chat: i64, message_id: i64) {
        if self.watchers.is_empty() {
            return;
        }
        let Some(message) = self.chats.get(&chat).and_then(|chat| chat.message(message_id)) else {
            return;
        };
        let text = Arc::clone(&message.draft.text);
        let said = Said { chat, message_id, text, at: Instant::now() };
        self.watchers.retain(|watcher| watcher.send(said.clone()).is_ok());
    }

    /// Tells the page and the tests that something happened.
    pub(crate) fn emit(&self, kind: EventKind, chat: i64, thread: Option<i64>, id: Option<i64>) {
        if self.events.receiver_count() == 0 {
            return;
        }
        let message = id.and_then(|id| view::message(self, chat, id));
        // Nobody listening any more is no error.
        self.events.send(Event { kind, chat, thread, message }).ok();
    }

    /// Whether the bot, with its privacy mode, is shown this message.
    pub(crate) fn bot_sees(&self, chat_id: i64, id: i64) -> bool {
        let Some(chat) = self.chats.get(&chat_id) else { return false };
        let Some(message) = chat.message(id) else { return false };
        if chat.closed || chat.moved_to.is_some_and(|_| !is_service(message)) {
            return false;
        }
        if chat.kind == ChatKind::Private || !self.privacy_mode || is_service(message) {
            return true;
        }
        let replies_to_bot = message
            .draft
            .reply_to
            .and_then(|id| chat.message(id))
            .is_some_and(|original| original.draft.from == self.bot.id);
        replies_to_bot || self.commands_bot(&message.draft)
    }

    /// A command without a name, or one that names our bot.
    fn commands_bot(&self, draft: &Draft) -> bool {
        let name = self.bot.username.as_deref().unwrap_or_default();
        draft.entities.iter().filter(|entity| entity["type"] == "bot_command").any(|entity| {
            let command = super::entities::slice(&draft.text, entity);
            match command.split_once('@') {
                None => true,
                Some((_, named)) => named.eq_ignore_ascii_case(name),
            }
        })
    }

    /// Stores a file and gives its id.
    pub(crate) fn store_file(&mut self, kind: FileKind, name: &str, bytes: Bytes) -> String {
        let number = self.next_number();
        let file_id = format!("AgACAgIAAxkDAAI{number:012}");
        let extension = name.rsplit_once('.').map_or("bin", |(_, extension)| extension);
        let folder = match kind {
            FileKind::Document => "documents",
            FileKind::Photo => "photos",
            FileKind::Voice => "voice",
        };
        let extension: String = extension.chars().filter(char::is_ascii_alphanumeric).collect();
        let path = format!("{folder}/file_{number}.{extension}");
        let size = bytes.len() as u64;
        let file = StoredFile { kind, name: name.to_owned(), path, bytes, size };
        self.files.insert(file_id.clone(), file);
        file_id
    }

    /// Empties a message's slot.
    pub(crate) fn delete(&mut self, chat_id: i64, id: i64) {
        let thread = self.chats.get_mut(&chat_id).and_then(|chat| {
            let place = chat.slots.get_mut(slot(id)?)?;
            place.take().map(|message| message.draft.thread)
        });
        if let Some(thread) = thread {
            self.emit(EventKind::Deleted, chat_id, thread, None);
        }
    }
}

/// A message without people's words in it.
fn is_service(message: &Message) -> bool {
    matches!(message.draft.content, Content::Service(_))
}

/// Links the bot's message to what it answers: by its reply, else the oldest unanswered message of the
/// topic, else the latest answered one.
fn link_answer(chat: &mut Chat, draft: &Draft, answer: i64) {
    let waiting = chat.waiting.entry(draft.thread).or_default();
    let replied = draft.reply_to;
    let inbound = match replied {
        Some(id) => {
            waiting.retain(|waiting| *waiting != id);
            Some(id)
        }
        None => waiting.pop_front(),
    };
    let inbound = inbound.or_else(|| latest_answered(chat, draft.thread));
    if let Some(message) = inbound.and_then(|id| chat.message_mut(id)) {
        message.answers.push(answer);
    }
}

fn latest_answered(chat: &Chat, thread: Option<i64>) -> Option<i64> {
    let mut recent = chat.slots.iter().rev().take(64).flatten();
    recent.find(|m| m.draft.thread == thread && !m.answers.is_empty()).map(|message| message.id)
}

/// The fields of a topic's root message.
pub(crate) fn topic_created(name: &str) -> Value {
    json!({ "forum_topic_created": { "name": name, "icon_color": 7_322_096 } })
}
