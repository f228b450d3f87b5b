//! The built-in stand-in: no model and no network, a list of phrases, real tool calls through the same
//! port. Stateless: what is done of the person's words it reads from the turns.

mod decide;
mod files;
mod heard;
mod heartbeat;
mod known;
mod later;
mod messages;
mod parse;
mod plan;
mod planner;
mod summary;
mod todo;
mod words;

use std::sync::Arc;

use async_trait::async_trait;

pub use self::messages::RealModel;
pub use self::parse::{PHRASES, Phrase};
use self::plan::Step;
use crate::domain::tool::ToolSpec;
use crate::domain::transcript::{Call, Turn};
use crate::domain::usage::Usage;
use crate::domain::written::Written;
use crate::llm::{Card, Failed, Model, OnText, Reply, Request};

/// A model that is none, and says so.
pub(super) struct Offline {
    profile: String,
    real: RealModel,
}

impl Offline {
    /// Answers under a profile's name.
    pub fn new(profile: &str, real: RealModel) -> Self {
        Self { profile: profile.to_owned(), real }
    }
}

#[async_trait]
impl Model for Offline {
    async fn ask(&self, request: &Request, heard: &OnText<'_>) -> Result<Reply, Failed> {
        let planned = planner::planned(&request.turns)
            .or_else(|| decide::answer(&request.turns))
            .or_else(|| todo::answer(&request.turns))
            .or_else(|| summary::answer(&request.turns));
        let step = match planned {
            Some(words) => Step::Say(words),
            None => plan::next(&request.turns, callable(request), self.real),
        };
        let (text, calls) = match step {
            Step::Say(text) => (text, vec![]),
            Step::Call { name, arguments } => {
                (String::new(), vec![Call { id: "call_0".to_owned(), name, arguments }])
            }
        };
        if !text.is_empty() {
            heard(Written::More(&text));
        }
        let usage = usage(request, &text, &calls);
        let by = format!("{}/stand-in", self.profile);
        Ok(Reply { text, calls, usage, own: None, stopped: None, by })
    }

    fn card(&self) -> Card {
        let name = "built-in stand-in".to_owned();
        Card { name, context: 128_000, sees_images: false }
    }
}

/// The tools that may be called.
fn callable(request: &Request) -> &[Arc<ToolSpec>] {
    if request.may_call { request.tools.specs() } else { &[] }
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
    Usage { calls: 1, input: tokens(read), cached: 0, output: tokens(written), micro_usd: 0 }
}
