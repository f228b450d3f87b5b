//! Notices a server that reads less of a prompt than it was sent, and says nothing of it: Ollama and its like cut what is
//! larger than the window they have loaded.

use std::sync::OnceLock;

use crate::{CutPrompt, Request};
use selkie_domain::count::grouped;
use selkie_domain::transcript::Turn;
use selkie_domain::usage::Usage;

/// More bytes a token than prompts have: English JSON has about four.
const MAX_BYTES: u64 = 5;
/// Fewer tokens say nothing: servers differ in what they add and count.
const LEAST: u64 = 2_000;

impl CutPrompt {
    /// What an owner does about it.
    pub const ADVICE: &str = "raise the server's window (Ollama: num_ctx), or set llm.context in the config to what it has";

    /// Says it of the model that people know by `name`, with what to do.
    pub fn sentence(&self, name: &str) -> String {
        let [sent, read] = [self.sent, self.read].map(grouped);
        format!(
            "{name} has cut a prompt and read {read} of at least {sent} tokens: {}",
            Self::ADVICE
        )
    }
}

/// Whether a server has cut a prompt since the process began.
#[derive(Default)]
pub(super) struct CutPrompts(OnceLock<CutPrompt>);

impl CutPrompts {
    /// Compares what was sent with what the server says that it read. The first cut is logged.
    pub fn check(&self, profile: &str, request: &Request, usage: Usage) {
        let sent = bytes(request) / MAX_BYTES;
        let read = usage.input;
        // A server that counts nothing has cut nothing.
        let is_cut = read > 0 && read < sent / 3 * 2 && sent > LEAST;
        if is_cut && self.0.set(CutPrompt { sent, read }).is_ok() {
            tracing::warn!(
                profile,
                sent,
                read,
                "the model server cut the prompt: {}",
                CutPrompt::ADVICE
            );
        }
    }

    /// Returns the first.
    pub fn first(&self) -> Option<CutPrompt> {
        self.0.get().copied()
    }
}

/// The text of a request, without what has no known size: pictures and what only a provider can read.
fn bytes(request: &Request) -> u64 {
    let turn = |turn: &Turn| match turn {
        Turn::User(text) | Turn::Shown { text, .. } | Turn::Assistant(text) => text.len(),
        Turn::Calls { text, calls, .. } => {
            text.len() + calls.iter().map(|(_, answer)| answer.text.len()).sum::<usize>()
        }
    };
    let turns = request.turns.iter().map(turn).sum::<usize>();
    (request.system.len() + request.tools.size() + turns) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::scripted::request;

    #[test]
    fn a_cut_prompt_is_known_and_others_are_not() {
        let cut = |words: usize, usage: Usage| {
            let prompts = CutPrompts::default();
            let request = Request { system: "word ".repeat(words).into(), ..request(9) };
            prompts.check("p", &request, usage);
            prompts.check("p", &request, Usage { input: 1, ..usage });
            prompts.first().filter(|first| first.read > 1)
        };
        let read = |input| Usage { input, ..Usage::default() };
        let first = cut(12_000, read(3_072)).expect("a cut prompt");
        assert!((first.sent, first.read) >= (12_000, 3_072), "{first:?}");
        assert_eq!(cut(12_000, Usage { cached: 11_000, ..read(12_003) }), None, "all was read");
        assert_eq!(cut(1_500, read(20)), None, "too little was sent");
        let prompts = CutPrompts::default();
        let large = Request { system: "word ".repeat(12_000).into(), ..request(9) };
        prompts.check("p", &large, read(0));
        assert_eq!(prompts.first(), None, "nothing was counted");
    }
}
