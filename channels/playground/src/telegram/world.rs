//! The emulated Telegram's state.

use std::collections::HashMap;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio::sync::{broadcast, mpsc};

use super::chat::{BotMessage, Chat, ChatKind, Draft, FileKind, StoredFile, User};
use super::refusal::Refusal;
use super::updates::Updates;
use super::view::Event;

/// A callback query.
#[derive(Debug)]
pub(crate) struct Tap {
    pub(super) at: DateTime<Utc>,
    pub(super) chat: i64,
    pub(super) thread: Option<i64>,
    /// What the person read; `None` while it waits.
    pub(super) answer: Option<String>,
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
    pub(crate) taps: HashMap<String, Tap>,
    /// Lists of commands by scope and language: `all_private_chats/`.
    pub(crate) commands: HashMap<String, Value>,
    pub(crate) events: broadcast::Sender<Event>,
    pub(crate) watchers: Vec<mpsc::UnboundedSender<BotMessage>>,
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
            taps: HashMap::new(),
            commands: HashMap::new(),
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

    /// Leaves out so many numbers of updates and messages.
    pub(crate) fn skip(&mut self, numbers: i64) {
        self.updates.skip(numbers);
        self.chats.values_mut().for_each(|chat| chat.skip(numbers));
    }

    /// Adds a chat.
    pub(crate) fn add_chat(&mut self, id: i64, kind: ChatKind, title: &str, members: &[i64]) {
        self.chats.insert(id, Chat::new(id, kind, title, members));
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

    /// Whether the bot, with its privacy mode, is shown this message.
    pub(crate) fn bot_sees(&self, chat_id: i64, id: i64) -> bool {
        let Some(chat) = self.chats.get(&chat_id) else { return false };
        let Some(message) = chat.message(id) else { return false };
        if chat.closed || chat.moved_to.is_some_and(|_| !message.is_service()) {
            return false;
        }
        let sees_all = chat.kind == ChatKind::Private || chat.bot_is_admin || !self.privacy_mode;
        if sees_all || message.is_service() {
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
        let file = StoredFile { kind, name: name.to_owned(), path, bytes, size, seconds: 1 };
        self.files.insert(file_id.clone(), file);
        file_id
    }
}
