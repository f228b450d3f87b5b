//! Puts a Messages answer together, from one document or from events.

use serde_json::Value;

use crate::gather::{Gather, Whole};
use crate::halves::PieceJoiner;
use crate::refusal::IncompleteAnswer;
use crate::text_so_far::TextSoFar;
use crate::{OnText, Reason, Reply, StopReason, dialect};
use selkie_domain::transcript::Call;
use selkie_domain::usage::Usage;

/// No answer has more blocks than this.
const MAX_BLOCKS: usize = 256;

/// What has arrived so far.
#[derive(Default)]
pub(crate) struct PartialReply {
    /// An event said that nothing follows.
    ended: bool,
    said: TextSoFar,
    /// Calls and blocks that hold nothing for people, by their index, in their order.
    blocks: Vec<(u64, Block)>,
    /// All blocks as they came.
    raw: Vec<Raw>,
    too_many: bool,
    stop: String,
    usage: Usage,
}

enum Block {
    /// Its words go to [`PartialReply::said`]: the texts of one answer are one text.
    Text,
    Call {
        id: String,
        name: String,
        input: Value,
        text: PieceJoiner,
    },
    /// Thinking, and what nobody knows yet.
    Other,
}

/// A block as the provider has written it, for the provider alone.
struct Raw {
    index: u64,
    block: Value,
    /// What its text fields come to.
    texts: Vec<(&'static str, PieceJoiner)>,
}

/// The deltas of a block, and the field of it that each adds to.
const FIELDS: [(&str, &str); 3] =
    [("text", "text"), ("thinking", "thinking"), ("signature", "signature")];

impl Gather for PartialReply {
    fn take_whole(&mut self, message: &Value, heard: &OnText<'_>) {
        self.take_usage(&message["usage"]);
        for (index, block) in (0..).zip(message["content"].as_array().into_iter().flatten()) {
            self.begin(index, block, false, heard);
        }
        self.take_stop(message);
    }

    fn take(&mut self, event: &Value, torn: bool, heard: &OnText<'_>) {
        let index = event["index"].as_u64().unwrap_or(0);
        match event["type"].as_str().unwrap_or("") {
            "message_start" => self.take_usage(&event["message"]["usage"]),
            "content_block_start" => self.begin(index, &event["content_block"], torn, heard),
            "content_block_delta" => self.extend(index, &event["delta"], torn, heard),
            "message_delta" => {
                self.take_usage(&event["usage"]);
                self.take_stop(&event["delta"]);
            }
            "message_stop" => self.ended = true,
            // The end of a block, and signs of life.
            _ => {}
        }
    }

    fn has_ended(&self) -> bool {
        self.ended
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn finish(self, by: String, told: bool) -> Result<Whole, IncompleteAnswer> {
        let usage = Usage { calls: 1, ..self.usage };
        let unfinished = |reason, why| IncompleteAnswer { reason, why, usage };
        if !told {
            let why = "the stream ended early".to_owned();
            return Err(unfinished(Reason::Garbled, why));
        }
        if self.too_many {
            let why = format!("an answer of more than {MAX_BLOCKS} blocks");
            return Err(unfinished(Reason::TooMuch, why));
        }
        let text = self.said.finish();
        let own = own(self.raw);
        let calls: Vec<Call> = self.blocks.into_iter().filter_map(|(_, b)| b.call()).collect();
        let stopped = match self.stop.as_str() {
            "max_tokens" | "model_context_window_exceeded" => Some(StopReason::Room),
            "refusal" => Some(StopReason::Refusal),
            _ => None,
        };
        Ok(Whole {
            reply: Reply { text, calls, pictures: Vec::new(), usage, own: None, stopped, by },
            own,
            word: self.stop,
        })
    }
}

impl PartialReply {
    fn begin(&mut self, index: u64, block: &Value, torn: bool, heard: &OnText<'_>) {
        if self.blocks.len() >= MAX_BLOCKS {
            self.too_many = true;
            return;
        }
        let text = |key: &str| block[key].as_str().unwrap_or("").to_owned();
        let begun = match block["type"].as_str() {
            Some("text") => {
                self.said.push(&text("text"), torn, heard);
                Block::Text
            }
            Some("tool_use") => Block::Call {
                id: text("id"),
                name: text("name"),
                input: block["input"].clone(),
                text: PieceJoiner::default(),
            },
            _ => Block::Other,
        };
        self.raw.push(Raw { index, block: block.clone(), texts: Vec::new() });
        self.blocks.push((index, begun));
    }

    fn extend(&mut self, index: u64, delta: &Value, torn: bool, heard: &OnText<'_>) {
        let more = |key: &str| delta[key].as_str().unwrap_or("");
        if let Some(raw) = self.raw.iter_mut().rev().find(|raw| raw.index == index) {
            raw.extend(delta, torn);
        }
        let block = self.blocks.iter_mut().rev().find(|(at, _)| *at == index);
        match block.map(|(_, block)| block) {
            Some(Block::Call { text, .. }) => text.push(more("partial_json"), torn),
            Some(Block::Other) => {}
            // Words are words, also of a server that does not announce them.
            Some(Block::Text) | None => self.said.push(more("text"), torn, heard),
        }
    }

    fn take_stop(&mut self, value: &Value) {
        if let Some(stop) = value["stop_reason"].as_str() {
            stop.clone_into(&mut self.stop);
        }
    }

    /// The last number counts: `message_delta` repeats and completes what `message_start` said. What the
    /// API calls input leaves the cached tokens out; ours does not.
    fn take_usage(&mut self, usage: &Value) {
        let number = |key: &str| usage[key].as_u64();
        if let Some(fresh) = number("input_tokens") {
            let read = number("cache_read_input_tokens").unwrap_or(0);
            let written = number("cache_creation_input_tokens").unwrap_or(0);
            self.usage.input = fresh + read + written;
            self.usage.cached = read;
        }
        if let Some(output) = number("output_tokens") {
            self.usage.output = output;
        }
    }
}

impl Raw {
    fn extend(&mut self, delta: &Value, torn: bool) {
        for (key, field) in FIELDS {
            let Some(more) = delta[key].as_str() else { continue };
            if !self.texts.iter().any(|(name, _)| *name == field) {
                let mut text = PieceJoiner::default();
                text.push(self.block[field].as_str().unwrap_or(""), torn);
                self.texts.push((field, text));
            }
            let text = self.texts.iter_mut().find(|(name, _)| *name == field);
            if let Some((_, text)) = text {
                text.push(more, torn);
            }
        }
    }

    /// Empty words are refused when they come back.
    fn finish(self) -> Option<Value> {
        let Self { mut block, texts, .. } = self;
        for (field, text) in texts {
            block[field] = text.finish().into();
        }
        let is_empty =
            block["type"] == "text" && block["text"].as_str().is_none_or(|t| t.trim().is_empty());
        (!is_empty).then_some(block)
    }
}

/// The blocks of an answer, where words and calls are not all.
fn own(raw: Vec<Raw>) -> Option<Value> {
    let known = |raw: &Raw| matches!(raw.block["type"].as_str(), Some("text" | "tool_use"));
    let more = raw.iter().any(|raw| !known(raw));
    more.then(|| raw.into_iter().filter_map(Raw::finish).collect())
}

impl Block {
    fn call(self) -> Option<Call> {
        let Self::Call { id, name, input, text } = self else { return None };
        let text = text.finish();
        let written = !text.trim().is_empty() || !input.is_object();
        let arguments = if written { dialect::arguments(&text) } else { dialect::shallow(input) };
        Some(Call { id, name, arguments })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sse::Parser;

    #[test]
    fn fuzz_replies() {
        selkie_fuzz::bytes("stream", |bytes| {
            let (mut parser, mut gathered) = (Parser::default(), PartialReply::default());
            let mut events = parser.push(bytes);
            events.extend(parser.finish());
            for event in events {
                let Ok(value) = serde_json::from_str(&event.data) else { continue };
                gathered.take(&value, false, &|_| {});
                gathered.take_whole(&value, &|_| {});
            }
        });
    }
}
