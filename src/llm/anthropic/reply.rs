//! Puts a Messages answer together, from one document or from events.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::domain::transcript::Call;
use crate::domain::usage::Usage;
use crate::llm::{Heard, Reply, dialect};

/// What has arrived so far.
#[derive(Default)]
pub(super) struct Gathered {
    ended: bool,
    blocks: BTreeMap<u64, Block>,
    stop: String,
    usage: Usage,
}

enum Block {
    Text(String),
    Call { id: String, name: String, input: Value, text: String },
}

/// Whether an answer is an error in disguise.
pub(super) fn has_error(answer: &Value) -> bool {
    answer["type"] == "error" || answer.get("error").is_some_and(|e| !e.is_null())
}

impl Gathered {
    /// Whether the answer is complete.
    pub const fn ended(&self) -> bool {
        self.ended
    }

    /// Takes a whole message.
    pub fn take_whole(&mut self, message: &Value, heard: &Heard<'_>) {
        self.take_usage(&message["usage"]);
        for (index, block) in (0..).zip(message["content"].as_array().into_iter().flatten()) {
            self.begin(index, block, heard);
        }
        self.take_stop(message);
        self.ended = true;
    }

    /// Takes one event of a stream.
    pub fn take_event(&mut self, event: &Value, heard: &Heard<'_>) {
        let index = event["index"].as_u64().unwrap_or(0);
        match event["type"].as_str().unwrap_or("") {
            "message_start" => self.take_usage(&event["message"]["usage"]),
            "content_block_start" => self.begin(index, &event["content_block"], heard),
            "content_block_delta" => self.extend(index, &event["delta"], heard),
            "message_delta" => {
                self.take_usage(&event["usage"]);
                self.take_stop(&event["delta"]);
            }
            "message_stop" => self.ended = true,
            _ => {}
        }
    }

    fn begin(&mut self, index: u64, block: &Value, heard: &Heard<'_>) {
        let text = |key: &str| block[key].as_str().unwrap_or("").to_owned();
        let begun = match block["type"].as_str() {
            Some("text") => Block::Text(text("text")),
            Some("tool_use") => Block::Call {
                id: text("id"),
                name: text("name"),
                input: block["input"].clone(),
                text: String::new(),
            },
            // Thinking and what nobody knows yet.
            _ => return,
        };
        if let Block::Text(said) = &begun
            && !said.is_empty()
        {
            heard(said);
        }
        self.blocks.insert(index, begun);
    }

    fn extend(&mut self, index: u64, delta: &Value, heard: &Heard<'_>) {
        match self.blocks.get_mut(&index) {
            Some(Block::Text(said)) => {
                let more = delta["text"].as_str().unwrap_or("");
                if !more.is_empty() {
                    heard(more);
                    said.push_str(more);
                }
            }
            Some(Block::Call { text, .. }) => {
                text.push_str(delta["partial_json"].as_str().unwrap_or(""));
            }
            None => {}
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

    /// Ends the answer.
    ///
    /// # Errors
    /// The status that decides the class, and why.
    pub fn finish(self, by: String) -> Result<Reply, (u16, String)> {
        if !self.ended {
            return Err((200, "the stream broke off before its end".to_owned()));
        }
        let (mut text, mut calls) = (String::new(), Vec::new());
        for block in self.blocks.into_values() {
            match block {
                Block::Text(said) => text.push_str(&said),
                Block::Call { id, name, input, text } => {
                    let written = !text.trim().is_empty() || !input.is_object();
                    let arguments =
                        if written { dialect::arguments(&text) } else { dialect::shallow(input) };
                    calls.push(Call { id, name, arguments });
                }
            }
        }
        if text.trim().is_empty() && calls.is_empty() {
            let status = if self.stop == "refusal" { 400 } else { 200 };
            return Err((status, format!("an empty answer (stop reason {:?})", self.stop)));
        }
        let cut = matches!(self.stop.as_str(), "max_tokens" | "model_context_window_exceeded");
        let usage = Usage { calls: 1, ..self.usage };
        Ok(Reply { text, calls, usage, cut, by })
    }
}
