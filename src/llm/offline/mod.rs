//! The built-in stand-in: no model and no network, a list of phrases, real tool calls through the same
//! port. Stateless: what is done of the person's words it reads from the turns.

mod decide;
mod files;
mod heard;
mod heartbeat;
mod known;
mod later;
mod listed;
mod messages;
mod parse;
mod plan;
mod planner;
mod summary;
mod todo;
mod words;

use async_trait::async_trait;

pub use self::listed::ListedTool;
pub use self::messages::RealModel;
pub use self::parse::{PHRASES, Phrase};
pub use self::plan::Step;
use crate::domain::transcript::{Call, Turn};
use crate::domain::usage::Usage;
use crate::domain::written::Written;
use crate::llm::{Card, Failed, Model, OnText, Reply, Request};

/// What answers, for people.
pub(super) const NAME: &str = "built-in stand-in";

/// What the stand-in does next in a talk.
pub fn stand_in(turns: &[Turn], tools: &[ListedTool<'_>], real: RealModel) -> Step {
    let planned = planner::planned(turns)
        .or_else(|| decide::answer(turns))
        .or_else(|| todo::answer(turns))
        .or_else(|| summary::answer(turns));
    planned.map_or_else(|| plan::next(turns, tools, real), Step::Say)
}

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
        // Where nothing may be called, nothing is there for it.
        let specs = if request.may_call { request.tools.specs() } else { &[] };
        let listed = specs.iter();
        let listed = listed.map(|s| ListedTool { name: s.name, description: &s.description });
        let listed: Vec<ListedTool<'_>> = listed.collect();
        let (text, calls) = match stand_in(&request.turns, &listed, self.real) {
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
