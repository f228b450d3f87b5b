//! What answers where no model does: somebody else's phrases behind the same port, without network and price.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::{AskError, Card, Model, OnText, Reply, Request};
use selkie_domain::tool::ToolSpec;
use selkie_domain::transcript::{Call, Turn};
use selkie_domain::usage::Usage;
use selkie_domain::written::TextProgress;

/// Its name, for people.
pub(super) const NAME: &str = "built-in stand-in";

/// Decides about the next step of a talk: its turns, the tools that may be called, and how to get a real model.
type Answerer = fn(&[Turn], &[Arc<ToolSpec>], &str) -> Step;

/// Who answers where no model does, and what it tells people of real ones.
#[derive(Clone, Copy, Debug)]
pub struct StandIn {
    answer: Answerer,
    /// A sentence.
    advice: &'static str,
}

impl StandIn {
    /// Tells people how a config names a real model.
    pub const fn by(answer: Answerer) -> Self {
        let advice = "For a real model set llm.provider, llm.api_key and llm.model in the config.";
        Self { answer, advice }
    }

    /// Where the build has none.
    pub const fn absent() -> Self {
        Self::by(|_, _, advice| Step::Say(format!("No language model is configured. {advice}")))
    }

    /// Tells people how a demo gets a real model, which reads no config unless one is named.
    pub const fn in_demo(self) -> Self {
        Self { advice: BY_DEMO, ..self }
    }
}

/// How a demo gets a real model.
pub const BY_DEMO: &str =
    "For a real model start the demo with OPENAI_API_KEY, ANTHROPIC_API_KEY or --model.";

/// The next step of the stand-in.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Calls a tool.
    Call {
        /// Which.
        name: String,
        /// An object.
        arguments: Value,
    },
    /// Calls a tool several times at once.
    CallEach {
        /// Which.
        name: String,
        /// An object for each call.
        all: Vec<Value>,
    },
    /// Has the last word.
    Say(String),
}

/// The stand-in as a model of one profile.
pub(super) struct StandInModel {
    /// The profile's name.
    pub profile: String,
    /// Who answers.
    pub stand_in: StandIn,
}

#[async_trait]
impl Model for StandInModel {
    async fn ask(&self, request: &Request, heard: &OnText<'_>) -> Result<Reply, AskError> {
        // Where nothing may be called, nothing is there for it.
        let specs = if request.may_call { request.tools.specs() } else { &[] };
        let StandIn { answer, advice } = self.stand_in;
        let (text, calls) = match answer(&request.turns, specs, advice) {
            Step::Say(text) => (text, vec![]),
            Step::Call { name, arguments } => {
                (String::new(), vec![Call { id: "call_0".to_owned(), name, arguments }])
            }
            Step::CallEach { name, all } => {
                let call = |(at, arguments): (usize, Value)| Call {
                    id: format!("call_{at}"),
                    name: name.clone(),
                    arguments,
                };
                (String::new(), all.into_iter().enumerate().map(call).collect())
            }
        };
        if !text.is_empty() {
            heard(TextProgress::More(&text));
        }
        let usage = usage(request, &text, &calls);
        let by = format!("{}/stand-in", self.profile);
        Ok(Reply { text, calls, pictures: vec![], usage, own: None, stopped: None, by })
    }

    fn card(&self) -> Card {
        Card { name: NAME.to_owned(), context: 128_000, sees_images: false }
    }
}

/// Counts roughly four characters a token; costs nothing.
fn usage(request: &Request, text: &str, calls: &[Call]) -> Usage {
    let call = |c: &Call| c.name.len() + c.arguments.to_string().len();
    let turn = |t: &Turn| match t {
        Turn::User(text) | Turn::Shown { text, .. } | Turn::Assistant(text) => text.len(),
        Turn::Calls { text, calls, .. } => {
            text.len() + calls.iter().map(|(c, a)| call(c) + a.text.len()).sum::<usize>()
        }
    };
    let tools: usize = request.tools.specs().iter().map(|s| s.description.len()).sum();
    let read = request.system.len() + tools + request.turns.iter().map(turn).sum::<usize>();
    let written = text.len() + calls.iter().map(call).sum::<usize>();
    let tokens = |bytes: usize| bytes.div_ceil(4) as u64;
    Usage { calls: 1, input: tokens(read), output: tokens(written), ..Usage::default() }
}
