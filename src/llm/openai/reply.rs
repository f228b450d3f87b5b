//! Puts a chat completions answer together, from one document or from chunks, and forgives what
//! compatible servers do differently.

use serde_json::Value;

use crate::domain::transcript::Call;
use crate::domain::usage::Usage;
use crate::llm::{Heard, Reply, dialect};

/// What has arrived so far.
#[derive(Default)]
pub(super) struct Gathered {
    /// The stream said that it is complete; a document always is.
    pub ended: bool,
    text: String,
    refusal: String,
    calls: Vec<Piece>,
    finish: Option<String>,
    usage: Usage,
}

/// A call in the making.
#[derive(Default)]
struct Piece {
    index: Option<u64>,
    id: String,
    name: String,
    text: String,
    /// The arguments of servers that send an object instead of its text.
    object: Option<Value>,
}

/// Whether an answer is an error in disguise.
pub(super) fn has_error(answer: &Value) -> bool {
    answer.get("error").is_some_and(|e| !e.is_null()) || answer["object"] == "error"
}

impl Gathered {
    /// Takes a document or a chunk.
    pub fn take(&mut self, value: &Value, heard: &Heard<'_>) {
        if let Some(usage) = value.get("usage").filter(|u| u.is_object()) {
            self.usage = read_usage(usage);
        }
        let choice = &value["choices"][0];
        let said = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
        let text = plain(&said["content"]);
        if !text.is_empty() {
            heard(&text);
            self.text.push_str(&text);
        }
        self.refusal.push_str(said["refusal"].as_str().unwrap_or(""));
        for call in said["tool_calls"].as_array().into_iter().flatten() {
            self.take_call(call);
        }
        if let Some(finish) = choice["finish_reason"].as_str().filter(|f| !f.is_empty()) {
            self.finish = Some(finish.to_owned());
        }
    }

    fn take_call(&mut self, call: &Value) {
        let index = call["index"].as_u64();
        let id = call["id"].as_str().unwrap_or("");
        let name = call["function"]["name"].as_str().unwrap_or("");
        if self.begins_call(index, id, name) {
            self.calls.push(Piece { index, id: id.to_owned(), ..Piece::default() });
        }
        let piece = match index {
            Some(_) => self.calls.iter_mut().rev().find(|p| p.index == index),
            None => self.calls.last_mut(),
        };
        let Some(piece) = piece else { return };
        if piece.name.is_empty() {
            name.clone_into(&mut piece.name);
        }
        match &call["function"]["arguments"] {
            Value::String(text) => piece.text.push_str(text),
            object @ Value::Object(_) => piece.object = Some(object.clone()),
            _ => {}
        }
    }

    /// Some servers leave the index away, some give every call the same one, some repeat the id in
    /// every chunk.
    fn begins_call(&self, index: Option<u64>, id: &str, name: &str) -> bool {
        let same = match index {
            Some(_) => self.calls.iter().rev().find(|p| p.index == index),
            None => self.calls.last(),
        };
        let Some(same) = same else { return true };
        let another_id = !id.is_empty() && !same.id.is_empty() && id != same.id;
        let unnumbered = index.is_none() && id.is_empty() && !name.is_empty();
        another_id || unnumbered
    }

    /// Ends the answer.
    ///
    /// # Errors
    /// The status that decides the class, and why: cut streams and empty answers are worth another try.
    pub fn finish(self, by: String) -> Result<Reply, (u16, String)> {
        if self.finish.is_none() && !self.ended {
            return Err((200, "the stream broke off before its end".to_owned()));
        }
        let finish = self.finish.unwrap_or_default();
        let text = if self.text.trim().is_empty() { self.refusal } else { self.text };
        let calls: Vec<Call> = self.calls.into_iter().filter_map(Piece::call).collect();
        if text.trim().is_empty() && calls.is_empty() {
            let status = if finish == "content_filter" { 400 } else { 200 };
            return Err((status, format!("an empty answer (finish reason {finish:?})")));
        }
        let usage = Usage { calls: 1, ..self.usage };
        Ok(Reply { text, calls, usage, cut: finish == "length", by })
    }
}

impl Piece {
    fn call(self) -> Option<Call> {
        if self.name.is_empty() && self.text.is_empty() && self.object.is_none() {
            return None;
        }
        let arguments = match self.object {
            Some(object) => dialect::shallow(object),
            None => dialect::arguments(&self.text),
        };
        Some(Call { id: self.id, name: self.name, arguments })
    }
}

/// Reads content that is a string or a list of parts.
fn plain(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|p| p["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn read_usage(usage: &Value) -> Usage {
    let number = |v: &Value| v.as_u64().unwrap_or(0);
    let cached = &usage["prompt_tokens_details"]["cached_tokens"];
    let cached = if cached.is_null() { &usage["prompt_cache_hit_tokens"] } else { cached };
    Usage {
        input: number(&usage["prompt_tokens"]),
        cached: number(cached),
        output: number(&usage["completion_tokens"]),
        ..Usage::default()
    }
}
