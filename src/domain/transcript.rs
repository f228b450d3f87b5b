//! What was said in a task, as append-only items. A call and its answer are one unit: an answer without
//! its call, or a call a model would see unanswered, cannot be represented in a [`Turn`].

use chrono::{DateTime, Utc};
use selkie_channel_core::ConversationId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::InboxId;
use crate::own_form::OwnForm;
use crate::spoken::SpokenWords;
use crate::taint::Taint;

pub use crate::picture::Picture;

/// One stored row of a task's transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "item", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "few live at once, and most are messages")]
pub enum Item {
    /// A person's message, as the model sees it.
    #[serde(rename = "heard")]
    Received(UserMessage),
    /// The model answered and asked for calls, or a group of them. The next row of the task answers them.
    Asked {
        /// What it said beside the calls.
        text: String,
        /// What it asked for; never empty.
        calls: Vec<Call>,
        /// The level of these words: what the model had read.
        #[serde(default = "Taint::of_old_words")]
        taint: Taint,
    },
    /// The answers to the calls of the row before, in their order.
    Answered {
        /// One per call.
        answers: Vec<Answer>,
    },
    /// The model's last word.
    Said {
        /// In markdown.
        text: String,
        /// The level of these words: what the model had read.
        #[serde(default = "Taint::of_old_words")]
        taint: Taint,
    },
    /// Something the daemon tells the model: a limit reached, an answer that was not delivered.
    Noted {
        /// In plain words.
        text: String,
    },
}

impl Item {
    /// The bot's last word, written while it read what is of this level.
    pub fn said(text: impl Into<String>, read: Taint) -> Self {
        Self::Said { text: text.into(), taint: read.written() }
    }

    /// Which model answer its calls are of: several items hold those of one when some of them stand alone.
    pub fn step(&self) -> Option<&str> {
        let Self::Asked { calls, .. } = self else { return None };
        calls.first().map(Call::step)
    }

    /// Returns the level of what the item holds.
    pub fn level(&self) -> Taint {
        match self {
            Self::Received(heard) => heard.level(),
            Self::Asked { taint, .. } | Self::Said { taint, .. } => *taint,
            Self::Answered { answers } => {
                answers.iter().map(|answer| answer.taint).max().unwrap_or_default()
            }
            Self::Noted { .. } => Taint::Clean,
        }
    }

    /// Returns the level of what later tasks see of the item: what a tool brought of others' words stands
    /// there as a stub.
    pub fn level_later(&self) -> Taint {
        match self {
            Self::Answered { answers } => {
                let whole = answers.iter().map(|a| a.taint).filter(|taint| *taint < Taint::Raw);
                whole.max().unwrap_or_default()
            }
            item => item.level(),
        }
    }
}

/// A person's message, as the model sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// Its row in the inbox; absent for several lines of talk, and for words that came as no message.
    pub inbox: Option<InboxId>,
    /// When it was written.
    pub at: DateTime<Utc>,
    /// What the clocks of its place showed then, with offset and zone; empty where nobody looked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub local: String,
    /// Who wrote it, for groups: name and id.
    pub speaker: String,
    /// What they wrote.
    pub text: String,
    /// What they said aloud, as it was understood: their own words, but none that they typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spoken: Vec<SpokenWords>,
    /// The text they replied to, and whose it is: not their own words.
    pub quote: Option<QuotedWords>,
    /// The text itself is forwarded: not their own words.
    #[serde(default)]
    pub forwarded: bool,
    /// Where a forwarded text comes from and of when it is, in words; empty where nobody told.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub origin: String,
    /// What people said among themselves before: nobody's request.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub talk: bool,
    /// A task of another conversation has sent it: a model wrote the words, on behalf of the speaker.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub relayed: bool,
    /// One of the bot's agents says it, and the level of what it says: nobody's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Taint>,
    /// Files, as the tools can reach them, or why they are not there.
    #[serde(default)]
    pub files: Vec<String>,
    /// Those of the files that are pictures, for models that see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Picture>,
}

impl UserMessage {
    /// Returns all pictures that come with it, those of what it replies to first.
    pub fn all_pictures(&self) -> Vec<Picture> {
        let quoted = self.quote.iter().flat_map(|quote| &quote.pictures);
        quoted.chain(&self.pictures).cloned().collect()
    }

    /// Returns the level of what it holds beside the person's own typed words; what they said aloud a program has guessed.
    pub fn level(&self) -> Taint {
        let quoted = match &self.quote {
            Some(quote) if quote.ours && quote.files.is_empty() => quote.level,
            Some(_) => Taint::Raw,
            None => Taint::Clean,
        };
        let brings_files = !self.files.is_empty() || !self.pictures.is_empty();
        let quoted = quoted.max(self.agent.unwrap_or_default());
        match self.forwarded || self.relayed || self.is_talk() || brings_files {
            true => Taint::Raw,
            false if !self.spoken.is_empty() => quoted.max(Taint::Derived),
            false => quoted,
        }
    }

    /// Returns what the person said, written or aloud: for whoever tells it, and for nobody who obeys it.
    pub fn said(&self) -> String {
        let spoken = self.spoken.iter().map(SpokenWords::marked);
        let all = std::iter::once(self.text.clone()).filter(|text| !text.is_empty()).chain(spoken);
        all.collect::<Vec<_>>().join("\n")
    }

    /// Returns what the person typed; nothing when the words are another's, and nothing of what they said aloud.
    pub fn own_words(&self) -> Option<&str> {
        let is_own = !self.forwarded && !self.relayed && !self.is_talk() && self.agent.is_none();
        is_own.then_some(self.text.as_str())
    }

    /// Whether it is group talk; rows of earlier versions know it by their first word alone.
    pub fn is_talk(&self) -> bool {
        self.talk || self.text.starts_with("<group_talk ")
    }
}

/// Somebody else's words inside a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuotedWords {
    /// Whose.
    pub speaker: String,
    /// What.
    pub text: String,
    /// The bot's own.
    #[serde(default)]
    pub ours: bool,
    /// Of the bot's own: the level they were written with. The history need not hold them any more.
    #[serde(default, skip_serializing_if = "Taint::is_clean")]
    pub level: Taint,
    /// Files that came with them, as the tools can reach them, or why they are not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Those of the files that are pictures, for models that see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Picture>,
}

/// A tool call the model asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Unique within the task: `c<step>.<index>`, ours whatever the provider sent.
    pub id: String,
    /// The canonical name, or what the model wrote when there is no such tool.
    pub name: String,
    /// The arguments; an object, or the raw text when the model wrote no JSON object.
    pub arguments: Value,
}

impl Call {
    /// The argument that marks a call of which a secret was taken out before it was stored.
    pub const ALTERED: &'static str = "[redacted]";

    /// What all calls of one model answer have in common: `c<step>`.
    pub fn step(&self) -> &str {
        self.id.split_once('.').map_or(self.id.as_str(), |(step, _)| step)
    }

    /// Whether it is not what the model wrote any more.
    pub fn is_altered(&self) -> bool {
        self.arguments.get(Self::ALTERED).is_some()
    }
}

/// What a tool answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The call's id.
    pub call: String,
    /// For the model.
    pub text: String,
    /// The call failed or was refused.
    pub is_error: bool,
    /// Pictures that belong to the text, for models that see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Picture>,
    /// Whose words it holds.
    #[serde(default = "Taint::of_old_answers")]
    pub taint: Taint,
    /// What a person typed to answer the call, to the letter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub typed: Vec<String>,
    /// The other conversation whose words these are: they go when that is forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<ConversationId>,
}

impl Answer {
    /// Answers a call in words.
    pub fn words(call: &str, text: impl Into<String>) -> Self {
        Self {
            call: call.to_owned(),
            text: text.into(),
            is_error: false,
            pictures: Vec::new(),
            taint: Taint::Clean,
            typed: Vec::new(),
            of: None,
        }
    }

    /// Answers a call that failed or was refused.
    pub fn error(call: &str, text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::words(call, text) }
    }
}

/// One turn of a conversation as a provider wants it: calls carry their answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// The person's side (messages, notes), already fenced and marked.
    User(String),
    /// A person's message with pictures.
    Shown {
        /// As in [`Turn::User`].
        text: String,
        /// Never empty.
        pictures: Vec<Picture>,
    },
    /// The model's words.
    Assistant(String),
    /// The model's calls with all their answers.
    Calls {
        /// What it said beside the calls.
        text: String,
        /// Never empty.
        calls: Vec<(Call, Answer)>,
        /// The same answer in its provider's own form, where that holds more.
        own: Option<OwnForm>,
    },
}

impl Turn {
    /// Returns what the person's side says.
    pub fn user(&self) -> Option<&str> {
        let (Self::User(text) | Self::Shown { text, .. }) = self else { return None };
        Some(text)
    }
}
