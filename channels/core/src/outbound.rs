//! What goes out to a platform: an [`Outbound`] is rendered into [`Part`]s, each ONE platform call.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ConversationId, MessageRef, PlaceId, ReplyWindow};

/// Something the bot says. Stored, with its parts, before it is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outbound {
    /// Version of this layout; see [`Outbound::VERSION`].
    pub v: u16,
    /// Where it goes.
    pub conversation: ConversationId,
    /// What it is.
    pub body: Body,
    /// The message it answers, shown as a quote where the platform can.
    pub quote: Option<MessageRef>,
    /// The live right to answer that its first part may use up, on platforms that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_window: Option<Box<ReplyWindow>>,
    /// Chance's share: two that say the same differ here, so that a key made of an outbound is its own.
    #[serde(default)]
    pub nonce: u64,
}

impl Outbound {
    /// The layout written today.
    pub const VERSION: u16 = 1;

    /// Says `body` in `conversation`: quoting nothing, without a right to answer.
    pub fn new(conversation: ConversationId, body: Body) -> Self {
        Self { v: Self::VERSION, conversation, body, quote: None, reply_window: None, nonce: 0 }
    }

    /// Says `markdown` in `conversation`.
    pub fn text(conversation: ConversationId, markdown: impl Into<String>) -> Self {
        Self::new(conversation, Body::Text { markdown: markdown.into() })
    }

    /// Makes it an answer to `message`.
    #[must_use]
    pub fn quoting(mut self, message: Option<MessageRef>) -> Self {
        self.quote = message;
        self
    }

    /// Lets its first part use up this right to answer.
    #[must_use]
    pub fn within(mut self, window: Option<ReplyWindow>) -> Self {
        self.reply_window = window.map(Box::new);
        self
    }

    /// Sets it apart from others that say the same.
    #[must_use]
    pub fn numbered(mut self, nonce: u64) -> Self {
        self.nonce = nonce;
        self
    }
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Body {
    /// Text in CommonMark; the channel renders and splits it.
    Text {
        /// The text.
        markdown: String,
    },
    /// A file to keep.
    File {
        /// Absolute path on this machine, checked against the task's roots.
        path: String,
        /// Shown name.
        name: String,
        /// Text under it.
        caption: Option<String>,
    },
    /// A picture to look at.
    Photo {
        /// Absolute path on this machine, checked against the task's roots.
        path: String,
        /// Text under it.
        caption: Option<String>,
    },
    /// A voice note.
    Voice {
        /// Absolute path on this machine, checked against the task's roots.
        path: String,
        /// Shown name.
        name: String,
    },
    /// An emoji on somebody's message. Sets a state: repeating it changes nothing.
    Reaction {
        /// The message.
        message: MessageRef,
        /// In the platform's vocabulary.
        emoji: String,
        /// The large form, where there is one.
        big: bool,
    },
    /// "is typing": presence, never stored.
    Typing,
}

/// One platform call, ready to be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Version of this layout; see [`Part::VERSION`].
    pub v: u16,
    /// Where it goes.
    pub conversation: ConversationId,
    /// The call, in the channel's own words (opaque above the channel).
    pub call: Value,
    /// The same call in its plainest form, proven to fit, for when the platform refuses the first.
    pub fallback: Option<Value>,
    /// What a person will see, for logs, traces and the terminal; at most 200 characters.
    pub shown: String,
    /// It sets a state (a reaction, an edit): repeating it after an unclear result changes nothing.
    #[serde(default)]
    pub repeatable: bool,
}

impl Part {
    /// The layout written today.
    pub const VERSION: u16 = 1;
}

/// The platform's proof that a part arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The id of the message that the call made.
    pub message: Option<MessageRef>,
    /// Anything a reader of the trace should know, e.g. that the plain form went out.
    pub note: Option<String>,
}

/// What came of one attempt. Each variant says what the courier does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It arrived.
    Sent(Receipt),
    /// Nothing was sent, and it may be tried again after this time.
    Retry {
        /// How long the platform asks to wait, or the channel's own guess.
        after: Duration,
        /// In words for a log; never holds a secret.
        why: String,
        /// The whole account must wait, not this conversation alone.
        account: bool,
    },
    /// The platform will never take it.
    Refused {
        /// In the platform's words.
        reason: String,
        /// The bot may not speak here any more (blocked, kicked).
        closed: bool,
    },
    /// The place goes on under another id: send it there.
    Moved {
        /// The new id.
        to: PlaceId,
    },
    /// The request left and no answer proves what became of it.
    Unclear {
        /// In words for a log; never holds a secret.
        why: String,
    },
}

/// What the platform knows of a part whose delivery is unclear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// It arrived.
    Sent(Receipt),
    /// It did not.
    NotSent,
    /// The platform cannot tell.
    Unknown,
}
