//! The model port: one narrow trait, providers behind it, and decorators that retry, fall back and count.

mod adapter;
mod anthropic;
mod body;
mod build;
mod context_window;
mod cut_prompt;
mod dialect;
mod doors;
mod effort;
mod embeddings;
mod fallback;
mod gather;
mod habits;
mod halves;
mod images;
mod listed;
mod model_server;
mod openai;
mod outage;
mod pictures;
mod priced;
mod profile;
mod refusal;
mod responses;
mod retry;
pub mod schema;
mod settings;
mod speech;
mod sse;
mod stand_in;
#[cfg(test)]
mod tests;
mod text_calls;
mod text_so_far;
mod thinking;
mod transcription;
mod wire;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use selkie_domain::answer_picture::AnswerPicture;
use selkie_domain::effort::Effort;
use selkie_domain::live::Live;
use selkie_domain::own_form::OwnForm;
use selkie_domain::tool::ToolBlock;
use selkie_domain::transcript::{Call, Turn};
use selkie_domain::usage::Usage;
use selkie_domain::written::TextProgress;

pub use build::{HttpFactory, PriceList, Profiles, Routes, build, price_list, unpriced};
pub use embeddings::{Embeddings, NotEmbedded, embeddings};
pub use images::{ImageMaker, images};
pub use listed::{ListedModel, ListedRoute, ModelList, model_list};
pub use model_server::ServerError;
pub use outage::{Away, Outage, WatchedModel};
pub use settings::{
    Api, EffortSettings, EmbeddingSettings, FILE, GroupVoice, ImageSettings, Names, Price,
    ProfileSettings, Provider, RecordingFormat, RouteSettings, Settings, SpeechSettings,
    TranscriptionSettings, VOICE, size_fault, voice_fault,
};
pub use speech::{MAX_SAID, Speaker, speech};
pub use stand_in::{BY_DEMO, StandIn, Step};
pub use transcription::{MAX_WORDS, Recording, Transcriber, transcription};

/// Gets a model's text as it is written. A name of its own, because `async_trait` would otherwise tie the
/// text's lifetime to the caller's.
pub type OnText<'a> = dyn Fn(TextProgress<'_>) + Send + Sync + 'a;

/// Answers a conversation.
#[async_trait]
pub trait Model: Send + Sync {
    /// Asks once. `heard` gets text as it is written; it may be called never.
    async fn ask(&self, request: &Request, heard: &OnText<'_>) -> Result<Reply, AskError>;

    /// Tells what the caller must know to fit a request.
    fn card(&self) -> Card;

    /// The model behind this one, which tells what this one does not tell itself.
    fn inner(&self) -> Option<&dyn Model> {
        None
    }

    /// Until when it had better not be asked, as long as there is another.
    fn rests_until(&self) -> Option<DateTime<Utc>> {
        self.inner()?.rests_until()
    }

    /// What its server has shown of itself since the process began.
    fn learnt(&self) -> Learnt {
        self.inner().map(|inner| inner.learnt()).unwrap_or_default()
    }

    /// Asks the server of a profile how many tokens it reads, where config does not say. Routes of several ask nothing:
    /// they know what their profiles do.
    async fn ask_window(&self) {
        if let Some(inner) = self.inner() {
            inner.ask_window().await;
        }
    }
}

/// Whichever is asked now.
#[async_trait]
impl Model for Live<dyn Model> {
    async fn ask(&self, request: &Request, heard: &OnText<'_>) -> Result<Reply, AskError> {
        self.now().ask(request, heard).await
    }

    fn card(&self) -> Card {
        self.now().card()
    }

    fn rests_until(&self) -> Option<DateTime<Utc>> {
        self.now().rests_until()
    }

    fn learnt(&self) -> Learnt {
        self.now().learnt()
    }
}

/// What a model is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// What answers, for people: `gpt-6.2-sol via openai`; a profile with a name of its own: `gpt-6.2-sol via main`.
    pub name: String,
    /// Tokens it reads at most.
    pub context: u64,
    /// It sees images.
    pub sees_images: bool,
}

/// How many tokens a model reads, and how that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextWindow {
    /// Tokens of prompt and answer together.
    pub tokens: u64,
    /// How that is known.
    pub source: WindowSource,
}

/// How a window is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowSource {
    /// It is not: the server does not tell, or has not been asked yet.
    #[default]
    Unknown,
    /// The config says so.
    Config,
    /// It is usual for a provider that is known by its address.
    Provider,
    /// The server says so at this path.
    Server(&'static str),
    /// It is the least that Ollama gives a model, which is not loaded yet.
    OllamaDefault,
    /// The server has refused a longer request, and named it.
    Refusal,
}

/// A prompt that was cut, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutPrompt {
    /// What was sent, at least.
    pub sent: u64,
    /// What the server says that it read.
    pub read: u64,
}

/// What a model's server has shown of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learnt {
    /// Where it has led: the end of another address than that which is asked first.
    pub led_to: Option<&'static str>,
    /// The first prompt that it has cut.
    pub cut: Option<CutPrompt>,
    /// How many tokens it reads.
    pub window: ContextWindow,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// The system prompt: the same bytes for the same shape, so that prompt caches hit.
    pub system: Arc<str>,
    /// History and the task so far. Begins with the user's side.
    pub turns: Vec<Turn>,
    /// The tools of the shape; an empty block asks for words alone.
    pub tools: Arc<ToolBlock>,
    /// It may call them. Where it may not, they are listed for the sake of what stands before: what has changed is read
    /// anew, and some providers refuse thoughts that belong to another list.
    pub may_call: bool,
    /// How hard it thinks; nothing leaves that to the provider.
    pub effort: Option<Effort>,
    /// At most so many tokens of answer.
    pub max_output: u32,
    /// Not longer than this, retries included.
    pub deadline: Duration,
    /// Names the conversation to the provider's prompt cache, and nothing else.
    pub cache_key: String,
    /// The turns end in calls that were made: an answer without words and calls is no failure then, but the model's end.
    pub may_end: bool,
    /// Somebody else is asked when this one fails: no long waits and no third try.
    pub has_next: bool,
    /// The pictures of the turns that may be looked at, by their path: base64. Others are only named.
    pub pictures: HashMap<String, Arc<str>>,
}

impl Request {
    /// Asks in words for words: 256 tokens within twenty seconds, where nothing else is said.
    pub fn of_words(system: impl Into<Arc<str>>, text: String) -> Self {
        Self {
            system: system.into(),
            turns: vec![Turn::User(text)],
            tools: Arc::new(ToolBlock::new(Vec::new())),
            may_call: true,
            effort: None,
            max_output: 256,
            deadline: Duration::from_secs(20),
            cache_key: String::new(),
            may_end: false,
            has_next: false,
            pictures: HashMap::new(),
        }
    }
}

/// What the model answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Its words; empty when it only asked for calls.
    pub text: String,
    /// What it asked for. Ids are the provider's: the run gives its own. Arguments that are no JSON
    /// object stay as the text the model wrote.
    pub calls: Vec<Call>,
    /// Its pictures.
    pub pictures: Vec<AnswerPicture>,
    /// What it cost.
    pub usage: Usage,
    /// The same in the provider's own form, where only that can read a part of it.
    pub own: Option<OwnForm>,
    /// What ended it before its end.
    pub stopped: Option<StopReason>,
    /// Which model answered, for records: `profile/model`.
    pub by: String,
}

impl Reply {
    /// Whether it holds nothing.
    fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.calls.is_empty() && self.pictures.is_empty()
    }
}

/// What ended an answer before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// `max_output` was reached.
    Room,
    /// It is longer than is kept.
    Length,
    /// The provider's filter.
    Filter,
    /// The model refuses to say more.
    Refusal,
}

impl StopReason {
    /// What it means for an answer that is empty.
    fn empty(stopped: Option<Self>) -> Reason {
        match stopped {
            Some(Self::Room | Self::Length) => Reason::NoRoom,
            Some(Self::Filter | Self::Refusal) => Reason::Withheld,
            None => Reason::Empty,
        }
    }
}

/// No answer, and what was spent on it all the same.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{error}")]
pub struct AskError {
    /// Why.
    pub error: ModelError,
    /// Tokens and money of all that was tried.
    pub usage: Usage,
}

impl From<ModelError> for AskError {
    fn from(error: ModelError) -> Self {
        Self { error, usage: Usage::default() }
    }
}

/// What is wrong, in a form that holds no word of a provider: see [`ModelError::reason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The provider takes no more requests for a while (429).
    Busy,
    /// The provider is out of order (5xx).
    Down,
    /// No connection came about.
    Unreachable,
    /// Nothing came in time.
    Silent,
    /// What came cannot be read or was cut off.
    Garbled,
    /// The answer holds nothing.
    Empty,
    /// The answer asks for more than one answer may.
    TooMuch,
    /// The key is refused.
    Key,
    /// There is no money left.
    Money,
    /// The provider knows no such model or address.
    NoModel,
    /// The request is refused as it stands.
    Refused,
    /// The conversation is too long.
    TooLong,
    /// All tokens of the answer were spent before a word of it.
    NoRoom,
    /// The provider's filter or the model itself gives no answer to this.
    Withheld,
}

/// Why there is no answer. Each variant says what the caller does next; the words are a log's and the
/// owner's, for they may be the provider's own.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ModelError {
    /// Worth another try, here or at a fallback: timeouts, 429, 5xx, cut streams, empty answers.
    #[error("{why}")]
    Transient {
        /// In words for a log; never holds a secret.
        why: String,
        /// What is wrong.
        reason: Reason,
        /// What the provider asks to wait.
        retry_after: Option<Duration>,
    },
    /// The request is refused as it stands (400, 422): the same one will be refused again.
    #[error("the model's provider refuses the request: {why}")]
    Rejected {
        /// In the provider's words; never holds a secret.
        why: String,
    },
    /// The conversation is too long: fit it and ask again.
    #[error("the conversation is too long for the model: {why}")]
    TooLong {
        /// In the provider's words.
        why: String,
    },
    /// Key, quota or model name: no retry helps here; a fallback may.
    #[error("{why}")]
    Unusable {
        /// What is wrong and what to do; never holds a secret.
        why: String,
        /// What is wrong.
        reason: Reason,
    },
    /// Filtered, or refused by the model without a word: to this there will be no answer.
    #[error("the model gives no answer to this: {why}")]
    Withheld {
        /// In words for a log.
        why: String,
    },
    /// All tokens of the answer were spent before a word of it.
    #[error("the model spent all {most} tokens of its answer before it said a word")]
    NoRoom {
        /// So many were asked for.
        most: u32,
        /// More can be asked for: the profile sets no lower limit.
        may_raise: bool,
    },
}

impl ModelError {
    /// What is wrong, for sentences that may be read by anybody.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Transient { reason, .. } | Self::Unusable { reason, .. } => *reason,
            Self::Rejected { .. } => Reason::Refused,
            Self::TooLong { .. } => Reason::TooLong,
            Self::Withheld { .. } => Reason::Withheld,
            Self::NoRoom { .. } => Reason::NoRoom,
        }
    }
}
