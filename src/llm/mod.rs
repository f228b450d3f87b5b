//! The model port: one narrow trait, providers behind it, and decorators that retry, fall back and count.

mod anthropic;
mod build;
mod dialect;
mod fallback;
mod offline;
mod openai;
mod priced;
mod profile;
mod refusal;
mod retry;
pub mod schema;
mod settings;
mod sse;
#[cfg(test)]
mod tests;
mod wire;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::domain::tool::ToolBlock;
use crate::domain::transcript::{Call, Turn};
use crate::domain::usage::Usage;

pub use build::{HttpFactory, Profiles, Routes, build};
pub use offline::{PHRASES, Phrase};
pub use settings::{Names, Price, ProfileSettings, Provider, RouteSettings, Settings};

/// Gets a model's text as it is written. A name of its own, because `async_trait` would otherwise tie the
/// text's lifetime to the caller's.
pub type Heard<'a> = dyn Fn(&str) + Send + Sync + 'a;

/// Answers a conversation.
#[async_trait]
pub trait Model: Send + Sync {
    /// Asks once. `heard` gets text as it is written; it may be called never.
    async fn ask(&self, request: &Request, heard: &Heard<'_>) -> Result<Reply, ModelError>;

    /// Tells what the caller must know to fit a request.
    fn card(&self) -> Card;
}

/// What a model is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// What answers, for people: `gpt-5.2 via openai`; a profile with a name of its own: `gpt-5.2 via main`.
    pub name: String,
    /// Tokens it reads at most.
    pub context: u64,
    /// It sees images.
    pub sees_images: bool,
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
    /// At most so many tokens of answer.
    pub max_output: u32,
    /// Not longer than this, retries included.
    pub deadline: Duration,
    /// Names the conversation to the provider's prompt cache, and nothing else.
    pub cache_key: String,
    /// The pictures of the turns that may be looked at, by their path: base64. Others are only named.
    pub pictures: HashMap<String, Arc<str>>,
}

/// What the model answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Its words; empty when it only asked for calls.
    pub text: String,
    /// What it asked for. Ids are the provider's: the run gives its own. Arguments that are no JSON
    /// object stay as the text the model wrote.
    pub calls: Vec<Call>,
    /// What it cost.
    pub usage: Usage,
    /// It stopped because `max_output` was reached.
    pub cut: bool,
    /// Which model answered, for records: `profile/model`.
    pub by: String,
}

/// Why there is no answer. Each variant says what the caller does next.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ModelError {
    /// Worth another try, here or at a fallback: timeouts, 429, 5xx, cut streams, empty answers.
    #[error("{why}")]
    Transient {
        /// In words for a log; never holds a secret.
        why: String,
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
    },
}
