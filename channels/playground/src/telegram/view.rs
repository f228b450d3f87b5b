//! Messages and events as the page and the tests see them.

use serde::Serialize;
use serde_json::Value;

use super::chat::FileKind;

/// Who wrote a message.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Author {
    /// The user's id.
    pub id: i64,
    /// The first name.
    pub name: String,
    /// Whether it is a bot.
    pub is_bot: bool,
}

/// A reaction on a message.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct ReactionView {
    /// The emoji.
    pub emoji: String,
    /// The first name of who put it there.
    pub by: String,
}

/// A file of a message.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct FileView {
    /// Document, photo or voice.
    pub kind: FileKind,
    /// The name.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Where the page fetches it.
    pub url: String,
    /// The text under it.
    pub caption: Option<String>,
}

/// A message as people see it.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct MessageView {
    /// Its id in the chat.
    pub id: i64,
    /// Who wrote it.
    pub from: Author,
    /// The text; a file's caption stands with the file.
    pub text: String,
    /// Telegram's entities of text or caption.
    pub entities: Vec<Value>,
    /// When it was posted, RFC 3339.
    pub at: String,
    /// The message it replies to.
    pub reply_to: Option<i64>,
    /// The topic's root message.
    pub thread: Option<i64>,
    /// Reactions.
    pub reactions: Vec<ReactionView>,
    /// The file.
    pub file: Option<FileView>,
    /// The keyboard under it.
    pub keyboard: Option<Value>,
    /// Whether it was edited.
    pub edited: bool,
    /// What a service message says.
    pub service: Option<Value>,
}

/// What happened.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A message was posted.
    Message,
    /// A message was edited.
    Edited,
    /// Reactions changed.
    Reaction,
    /// The bot is typing (or uploading).
    Typing,
    /// A message was deleted.
    Deleted,
    /// A tap on a button was answered.
    TapAnswer,
}

/// One thing that happened in a chat.
#[derive(Clone, Debug)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// Where.
    pub chat: i64,
    /// The topic's root message.
    pub thread: Option<i64>,
    /// The message as it is now.
    pub message: Option<MessageView>,
    /// What a person who tapped reads.
    pub text: Option<String>,
}
