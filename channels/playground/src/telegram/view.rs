//! Messages and events as the page and the tests see them.

use serde::Serialize;
use serde_json::Value;

use super::chat::{Content, FileKind};
use super::world::World;

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

/// A message as people see it, if it is there.
pub(crate) fn message(world: &World, chat: i64, id: i64) -> Option<MessageView> {
    let message = world.chats.get(&chat)?.message(id)?;
    let draft = &message.draft;
    let name = |id: i64| world.users.get(&id).map_or_else(String::new, |u| u.first_name.clone());
    let caption = (!draft.text.is_empty()).then(|| draft.text.to_string());
    let (text, file, service) = match &draft.content {
        Content::Text => (draft.text.to_string(), None, None),
        Content::File(file_id) => (String::new(), file_view(world, file_id, caption), None),
        Content::Thing(fields) | Content::Service(fields) => {
            (String::new(), None, Some(fields.clone()))
        }
    };
    let reactions = message.reactions.iter();
    Some(MessageView {
        id,
        from: Author { id: draft.from, name: name(draft.from), is_bot: draft.from == world.bot.id },
        text,
        entities: draft.entities.clone(),
        at: message.at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true),
        reply_to: draft.reply_to,
        thread: draft.thread,
        reactions: reactions
            .map(|(emoji, by)| ReactionView { emoji: emoji.clone(), by: name(*by) })
            .collect(),
        file,
        keyboard: draft.markup.as_ref().and_then(|markup| markup.get("inline_keyboard").cloned()),
        edited: message.edited.is_some(),
        service,
    })
}

fn file_view(world: &World, file_id: &str, caption: Option<String>) -> Option<FileView> {
    let file = world.files.get(file_id)?;
    Some(FileView {
        kind: file.kind,
        name: file.name.clone(),
        size: file.size,
        url: format!("/api/files/{file_id}"),
        caption,
    })
}
