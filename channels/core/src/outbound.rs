//! What goes out to a platform: an [`Outbound`] is rendered into [`Part`]s, each ONE platform call.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{ConversationId, MessageRef, Part, PersonId, PlaceId, Question, ReplyWindow};

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<MessageRef>,
    /// The live right to answer that its first part may use up, on platforms that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_window: Option<Box<ReplyWindow>>,
    /// When it was said, where a channel has to know: no call of it was made before this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<DateTime<Utc>>,
    /// Who is told when their `@name` stands in the text, on platforms that do that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// The message of ours that its first call changes instead of making another: it holds the beginning of this
    /// text, as far as it was written. For texts alone, where messages can be changed; when it is gone, the text is
    /// sent anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<MessageRef>,
    /// It is the beginning of a text that is still being written: its message will grow. Never stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growing: Option<GrowingText>,
    /// Chance's share: two that say the same differ here, so that a key made of an outbound is its own.
    #[serde(default)]
    pub nonce: u64,
}

impl Outbound {
    /// The layout written today.
    pub const VERSION: u16 = 1;

    /// Says `body` in `conversation`: quoting nothing, without a right to answer.
    pub fn new(conversation: ConversationId, body: Body) -> Self {
        Self {
            v: Self::VERSION,
            conversation,
            body,
            quote: None,
            reply_window: None,
            at: None,
            mentions: Vec::new(),
            over: None,
            growing: None,
            nonce: 0,
        }
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

    /// Says when it was said.
    #[must_use]
    pub fn said(mut self, at: DateTime<Utc>) -> Self {
        self.at = Some(at);
        self
    }

    /// Names who is told when their `@name` stands in the text.
    #[must_use]
    pub fn mentioning(mut self, mentions: Vec<Mention>) -> Self {
        self.mentions = mentions;
        self
    }

    /// Lets it take the place of a message of ours.
    #[must_use]
    pub fn over(mut self, message: Option<MessageRef>) -> Self {
        self.over = message;
        self
    }

    /// Says that it is still being written.
    #[must_use]
    pub fn growing(mut self, growing: GrowingText) -> Self {
        self.growing = Some(growing);
        self
    }

    /// Sets it apart from others that say the same.
    #[must_use]
    pub fn numbered(mut self, nonce: u64) -> Self {
        self.nonce = nonce;
        self
    }
}

/// A text that is still being written, for platforms where a message can grow by what is new. It is given whole each
/// time; a model that begins again gives another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrowingText {
    /// As far as it is written, in CommonMark, without anything that says that it goes on.
    pub so_far: String,
    /// Who asked, and reads along.
    pub reader: Option<PersonId>,
}

/// A name by which somebody is mentioned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mention {
    /// What stands behind the `@`.
    pub name: String,
    /// Who is meant.
    pub person: PersonId,
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
    /// Posts to a public timeline, each answering the one before; nothing where there is none.
    Post(Post),
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
        /// Text beside it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caption: Option<String>,
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
    /// A question to one person, with buttons where the platform has them.
    Question(Question),
    /// A question about a file, asked only when that has arrived; nothing where files cannot be carried so.
    QuestionWithFile {
        /// Absolute path on this machine.
        path: String,
        /// Shown name.
        name: String,
        /// What is asked about it.
        question: Question,
    },
    /// Stands in for an answer that is not ready: a button that stays, by which it is fetched. Said only
    /// where a right to answer runs out, see [`ReplyWindow::hold_at`]; nothing elsewhere.
    Held(Question),
    /// What is being done, replaced by later [`Body::Revision`]s: droppable; nothing where messages cannot be changed.
    Status {
        /// In CommonMark, short.
        markdown: String,
    },
    /// Replaces what an earlier message of ours says, and its buttons: a state. Nothing where messages cannot be changed.
    Revision {
        /// The message.
        message: MessageRef,
        /// What it says from now on, in CommonMark.
        markdown: String,
        /// The question its buttons answer from now on; without one they go.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<Question>,
    },
    /// Takes an earlier message of ours away. Sets a state. Nothing where that cannot be done.
    Withdrawal {
        /// The message.
        message: MessageRef,
    },
    /// Answers a tap on a button, to the person who tapped and to nobody else: presence, never stored,
    /// worthless after seconds.
    TapAnswer {
        /// The tap's handle, see [`crate::What::Tap`].
        handle: String,
        /// What the person reads; empty to end the button's waiting sign alone.
        text: String,
    },
    /// "is typing": presence, never stored.
    Typing,
}

/// Posts to a public timeline: plain text, and pictures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// The posts, of which each answers the one before.
    pub texts: Vec<String>,
    /// A post that the first one quotes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<MessageRef>,
    /// A post that the first one answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<MessageRef>,
    /// Pictures of the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<PostPicture>,
    /// Who posts it; whoever the channel's login belongs to where nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<PostedBy>,
}

/// Whose account a post was meant for when somebody asked for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostedBy {
    /// Names the login that was configured then, and tells nothing of it.
    pub login: String,
    /// The platform's id of the account, where the platform told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A picture of a post: a copy of its bytes that nobody changes, kept until the post has left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostPicture {
    /// Absolute path of the copy on this machine.
    pub path: String,
    /// Shown name.
    pub name: String,
    /// What it is, as HTTP calls it: `image/png`.
    pub mime: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its bytes, in hexadecimal: what has another one now is not what was approved.
    pub sha256: String,
}

/// The platform's proof that a part arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The id of the message that the call made, the first of several.
    pub message: Option<MessageRef>,
    /// The ids of the others, where one call makes several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<MessageRef>,
    /// Anything a reader of the trace should know, e.g. that the plain form went out.
    pub note: Option<String>,
    /// Somebody has stopped on the platform what is being written there: they want no more of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
}

/// What came of one attempt. Each variant says what the delivery worker does next.
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
    /// Nothing was sent, and the call can never be made as it is stored: this one takes its place, so that
    /// what is stored always says which call an attempt made.
    Instead {
        /// The call to make.
        part: Box<Part>,
        /// In words for a log; never holds a secret.
        why: String,
    },
    /// The request left and no answer proves what became of it.
    Unclear {
        /// In words for a log; never holds a secret.
        why: String,
    },
}

impl Delivery {
    /// It arrived, and there is something to say of it and no message.
    pub fn noted(note: String) -> Self {
        Self::Sent(Receipt { message: None, note: Some(note), ..Receipt::default() })
    }

    /// It will never be taken; the bot may still speak there.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::Refused { reason: reason.into(), closed: false }
    }

    /// Another version stored the call.
    pub fn unreadable() -> Self {
        Self::refused("a stored call that this version cannot read")
    }
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
    /// The platform cannot be asked now: ask again after this time. It stays unclear until then.
    Later {
        /// How long, before the delivery worker's own patience is added.
        after: Duration,
        /// How long at most, where what is asked then is told only for so long.
        at_most: Option<Duration>,
        /// In words for a log; never holds a secret.
        why: String,
    },
    /// The platform cannot tell, and what made repeating the part harmless is over.
    Lapsed,
}
