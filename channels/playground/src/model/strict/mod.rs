//! The strict families: whose rules a model server keeps, each rule with the page of its provider.

mod claude;
mod deepseek;
mod gemini;
mod local;
mod openai;
mod reasoning;
pub(super) mod responses;
mod responses_check;
pub(super) mod running;

use serde_json::{Value, json};

pub(super) use self::claude::{Thought, check as check_messages};
pub(super) use self::local::{fit, size};
use super::openai_check::{self, Complaint};

/// A provider whose rules the model servers keep to the letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// OpenAI from gpt-5.6 on: tools with thoughts at `/responses` alone, and reasoning items that come back.
    OpenAi,
    /// Anthropic's models that think: the thoughts of a turn come back.
    Claude,
    /// Those whose thoughts are bound to what stood before them.
    ClaudeBound,
    /// Gemini 3 over OpenAI's door: signatures on calls.
    Gemini,
    /// DeepSeek in its thinking mode: thoughts beside calls.
    DeepSeek,
    /// A local server that cuts what is longer than its 4,096 tokens, and says nothing.
    Local,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::OpenAi, Self::Claude, Self::ClaudeBound, Self::Gemini, Self::DeepSeek, Self::Local];

    /// Its name: `claude-bound`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Claude => "claude",
            Self::ClaudeBound => "claude-bound",
            Self::Gemini => "gemini",
            Self::DeepSeek => "deepseek",
            Self::Local => "local-4096",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }

    /// A model of it.
    pub const fn model(self) -> &'static str {
        match self {
            Self::OpenAi => "gpt-5.6",
            Self::Claude => "claude-opus-5-5",
            Self::ClaudeBound => "claude-fable-5-1",
            Self::Gemini => "gemini-3.8-flash",
            Self::DeepSeek => "deepseek-v4-pro",
            Self::Local => "qwen3:8b",
        }
    }

    /// How many tokens it reads, where that is less than anybody would expect.
    pub const fn window(self) -> Option<usize> {
        if matches!(self, Self::Local) { Some(local::WINDOW) } else { None }
    }

    /// Whether it is asked at `/messages`, in Anthropic's dialect.
    pub const fn is_anthropic(self) -> bool {
        matches!(self, Self::Claude | Self::ClaudeBound)
    }
}

/// Checks a chat completions request.
pub(super) fn check_chat(family: Option<Family>, body: &Value) -> Result<(), Complaint> {
    match family {
        // It takes what it understands of a request.
        Some(Family::Local) => return local::check(body),
        Some(Family::Gemini) => gemini::check_fields(body)?,
        Some(Family::OpenAi) => openai::check(body)?,
        _ => {}
    }
    openai_check::check(body)?;
    match family {
        Some(Family::Gemini) => gemini::check_marks(&body["messages"]),
        Some(Family::DeepSeek) => deepseek::check(&body["messages"]),
        _ => Ok(()),
    }
}

/// A refusal of this family, as its provider writes it.
pub(super) fn error_body(family: Option<Family>, status: u16, body: Value) -> Value {
    if family != Some(Family::Gemini) {
        return body;
    }
    // Google answers at this door, too, in the form of its own API, in a list:
    // https://discuss.ai.google.dev/t/openai-api-compatibility-broken-due-to-thought-signature-on-gemini-3-pro-preview/109823
    let status_word = if status == 429 { "RESOURCE_EXHAUSTED" } else { "INVALID_ARGUMENT" };
    let message = &body["error"]["message"];
    json!([{ "error": { "code": status, "message": message, "status": status_word } }])
}

#[cfg(test)]
mod tests;
