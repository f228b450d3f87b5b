//! What comes in from a platform, as plain data with a version.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{Attachment, ConversationId, MessageRef, PersonId, PlaceId};

/// Something that happened on a platform and concerns one conversation. One row of the inbox.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inbound {
    /// Version of this layout; see [`Inbound::VERSION`].
    pub v: u16,
    /// Names this event within its account for ever: storing it twice is a no-op.
    pub key: String,
    /// Where it happened.
    pub conversation: ConversationId,
    /// The chat that owns the conversation (the same chat for every topic of it).
    pub place: PlaceId,
    /// The place's title as the platform shows it; empty when it has none.
    #[serde(default)]
    pub title: String,
    /// The platform's own order inside the conversation (message id, `ts`): lanes follow it.
    pub order: i64,
    /// The platform's time of the event; 1970-01-01T00:00:00Z where it tells none: the inbox then puts
    /// the time of hearing there.
    pub at: DateTime<Utc>,
    /// Who did it.
    pub speaker: Speaker,
    /// Whether other people read along.
    pub audience: Audience,
    /// What happened.
    #[serde(default)]
    pub what: What,
    /// The message it is about, when there is one.
    pub message: Option<MessageRef>,
    /// Whether the bot itself is meant, computed from the text and the quote; a platform's own word that it is
    /// counts too.
    pub addressed: AddressReason,
    /// What was written (or the caption), without the bot's own mention or command name.
    #[serde(default)]
    pub text: String,
    /// The bot command, when the text is one meant for this bot.
    pub command: Option<Command>,
    /// The message this one replies to. Its text is not the speaker's: always marked as quoted.
    pub quote: Option<Quote>,
    /// The message that began the thread in which it stands, where that is another one and the platform does not
    /// quote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<MessageRef>,
    /// The text was forwarded from somewhere else: it is not the speaker's own.
    #[serde(default)]
    pub forwarded: bool,
    /// Where the forwarded text comes from, where the platform tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<ForwardOrigin>,
    /// What stands in the text that its speaker does not plainly say.
    #[serde(default, skip_serializing_if = "Aside::is_nothing")]
    pub aside: Aside,
    /// Files, fetched later by the worker and never by the receiver.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// Messages sent together carry the same group id and become one task.
    pub album: Option<String>,
    /// A limited right to answer, on platforms that have one.
    pub reply_window: Option<ReplyWindow>,
}

impl Inbound {
    /// The layout written today.
    pub const VERSION: u16 = 1;

    /// Begins an event with nothing said yet, which others read along and whose time nobody told.
    pub fn blank(key: String, conversation: ConversationId, place: PlaceId, what: What) -> Self {
        let speaker =
            Speaker { id: PersonId::new(""), name: String::new(), username: None, is_bot: false };
        Self {
            v: Self::VERSION,
            key,
            conversation,
            place,
            title: String::new(),
            order: 0,
            at: DateTime::UNIX_EPOCH,
            speaker,
            audience: Audience::Group,
            what,
            message: None,
            addressed: AddressReason::No,
            text: String::new(),
            command: None,
            quote: None,
            thread: None,
            forwarded: false,
            origin: None,
            aside: Aside::Nothing,
            attachments: Vec::new(),
            album: None,
            reply_window: None,
        }
    }
}

/// Where a forwarded message comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForwardOrigin {
    /// The person or the chat that wrote it, as the platform shows them; they chose the name.
    pub from: String,
    /// When it was written.
    pub at: Option<DateTime<Utc>>,
}

/// What happened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum What {
    /// Somebody wrote.
    #[default]
    Message,
    /// A message was changed; `text` is the new text.
    Edit,
    /// [`Inbound::message`] was taken back by who wrote it: what is stored of it goes.
    Unsent,
    /// Somebody tapped a button of ours; [`Inbound::message`] is the message that carries it.
    Tap {
        /// The question's key; empty when the button is none of today's.
        question: String,
        /// The choice's id.
        choice: String,
        /// What the channel needs to answer the tap itself (opaque above the channel).
        handle: String,
    },
    /// The conversation's place goes on under another id; history, todos and rights follow it.
    Moved {
        /// The place's new id.
        to: PlaceId,
    },
    /// The bot may not speak here any more.
    Closed {
        /// In the platform's words.
        reason: String,
    },
    /// The bot may speak here (again).
    Opened,
    /// An event the channel understands and that asks nothing of the bot.
    Other {
        /// The platform's name of it.
        name: String,
    },
    /// An event nobody knows: kept as it came, and passed.
    Unparsed {
        /// The raw event, secrets redacted.
        raw: String,
    },
}

impl What {
    /// Whether it may hold what somebody said.
    pub fn is_said(&self) -> bool {
        matches!(self, Self::Message | Self::Edit | Self::Other { .. })
    }
}

/// Who did it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speaker {
    /// Stable id, e.g. `tg:4711`.
    pub id: PersonId,
    /// The name the platform shows.
    #[serde(default)]
    pub name: String,
    /// `@name` without the `@`, when there is one.
    pub username: Option<String>,
    /// Another program.
    #[serde(default)]
    pub is_bot: bool,
}

/// Whether other people read along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// One person and the bot.
    Direct,
    /// More people than one.
    Group,
}

/// Why the bot counts as meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddressReason {
    /// It does not.
    No,
    /// A private conversation: every message is for the bot.
    Direct,
    /// The bot's name stands in the text: beside words, or beside a command that nobody else can mean then.
    Mention,
    /// It answers a message of the bot.
    Reply,
    /// It is a command without a name: another bot there may be meant.
    Command,
}

/// What stands in a text beside what its speaker plainly says.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Aside {
    /// Nothing: all of it is said plainly. Code inside of a line is too, as codes are shown.
    #[default]
    Nothing,
    /// A block of code.
    Code,
    /// Words that are quoted, struck out or hidden.
    Words,
}

impl Aside {
    /// Whether all is said plainly.
    pub fn is_nothing(&self) -> bool {
        *self == Self::Nothing
    }
}

/// A bot command: `/ask what now` is `ask` with `what now`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Lower case, without the slash and the bot's name.
    pub name: String,
    /// The rest of the line and the lines below it.
    #[serde(default)]
    pub args: String,
}

impl Command {
    /// Returns it as it was written, without the bot's name.
    pub fn written(&self) -> String {
        format!("/{} {}", self.name, self.args).trim_end().to_owned()
    }
}

/// The message somebody replied to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// Its platform id.
    pub message: MessageRef,
    /// Who wrote it, as the platform shows the name.
    #[serde(default)]
    pub speaker: String,
    /// Its text, or the part of it that was quoted.
    #[serde(default)]
    pub text: String,
    /// It is one of the bot's own messages.
    #[serde(default)]
    pub ours: bool,
    /// Its files, as far as the platform tells of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

/// A limited right to answer (LINE's reply token).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyWindow {
    /// The platform's token.
    pub token: String,
    /// Worthless after this moment.
    pub until: DateTime<Utc>,
    /// How many calls it carries.
    pub calls: u32,
    /// When it is spent on a button if the answer is not there by then: whoever taps brings a new one, on
    /// which the answer goes out. Absent on platforms where an answer may come late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_at: Option<DateTime<Utc>>,
}
