//! Puts a chat completions answer together, from one document or from chunks, and forgives what
//! compatible servers do differently.

use serde_json::Value;

use super::own::{self, Own};
use crate::gather::{Gather, MAX_CALLS, Whole};
use crate::halves::PieceJoiner;
use crate::pictures::Pictures;
use crate::refusal::IncompleteAnswer;
use crate::text_so_far::TextSoFar;
use crate::{OnText, Reason, Reply, StopReason, dialect};
use selkie_domain::transcript::Call;
use selkie_domain::usage::Usage;

/// Arguments are looked at for being complete up to this length, bytes.
const LOOKED_AT: usize = 16 * 1024;

/// What has arrived so far.
#[derive(Default)]
pub(crate) struct PartialReply {
    said: TextSoFar,
    refusal: PieceJoiner,
    pictures: Pictures,
    own: Own,
    calls: Vec<Piece>,
    too_many: bool,
    finish: Option<String>,
    usage: Usage,
}

/// A call in the making.
#[derive(Default)]
struct Piece {
    index: Option<u64>,
    id: String,
    name: String,
    text: PieceJoiner,
    /// The arguments of servers that send an object instead of its text.
    object: Option<Value>,
    /// What the server wants back with it.
    mark: Value,
}

impl Gather for PartialReply {
    fn take(&mut self, chunk: &Value, torn: bool, heard: &OnText<'_>) {
        let said = self.take_words(chunk, torn, heard);
        for call in calls(said) {
            self.take_call(call, torn);
        }
    }

    /// Each of a document's calls is one.
    fn take_whole(&mut self, answer: &Value, heard: &OnText<'_>) {
        let said = self.take_words(answer, false, heard);
        for call in calls(said) {
            self.begin_call(call);
            self.take_call(call, false);
        }
    }

    /// Only `[DONE]` says so.
    fn has_ended(&self) -> bool {
        false
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn finish(self, by: String, told: bool) -> Result<Whole, IncompleteAnswer> {
        let usage = Usage { calls: 1, ..self.usage };
        let unfinished = |reason, why| IncompleteAnswer { reason, why, usage };
        if self.finish.is_none() && !told {
            let why = "the stream ended early".to_owned();
            return Err(unfinished(Reason::Garbled, why));
        }
        if self.too_many {
            let why = format!("an answer with more than {MAX_CALLS} calls");
            return Err(unfinished(Reason::TooMuch, why));
        }
        let finish = self.finish.unwrap_or_default();
        let said = self.said.finish();
        let refusal = self.refusal.finish();
        let (calls, marks) = self.calls.into_iter().filter_map(Piece::call).unzip();
        let own = self.own.finish(marks);
        let (text, refused) = dialect::with_refusal(said, refusal);
        let (pictures, text) = self.pictures.finish(text);
        let stopped = match finish.as_str() {
            "length" => Some(StopReason::Room),
            "content_filter" => Some(StopReason::Filter),
            _ => refused.then_some(StopReason::Refusal),
        };
        let reply = Reply { text, calls, pictures, usage, own: None, stopped, by };
        Ok(Whole { reply, own, word: finish })
    }
}

impl PartialReply {
    fn take_words<'a>(&mut self, value: &'a Value, torn: bool, heard: &OnText<'_>) -> &'a Value {
        if let Some(usage) = value.get("usage").filter(|u| u.is_object()) {
            self.usage = read_usage(usage);
        }
        let choice = &value["choices"][0];
        let said = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
        let text = plain(&said["content"], &mut self.pictures);
        if !text.is_empty() {
            self.said.push(&text, torn, heard);
        }
        // As OpenRouter has them, beside the content.
        let images = said["images"].as_array().into_iter().flatten();
        images.for_each(|image| self.pictures.take_part(image));
        self.own.take(said, torn);
        self.refusal.push(said["refusal"].as_str().unwrap_or(""), torn);
        if let Some(finish) = choice["finish_reason"].as_str().filter(|f| !f.is_empty()) {
            self.finish = Some(finish.to_owned());
        }
        said
    }

    fn take_call(&mut self, call: &Value, torn: bool) {
        if self.begins_call(call) {
            self.begin_call(call);
        }
        let index = call["index"].as_u64();
        let piece = match index {
            Some(_) => self.calls.iter_mut().rev().find(|p| p.index == index),
            None => self.calls.last_mut(),
        };
        // There is none when there were too many, which ends the answer.
        let Some(piece) = piece else { return };
        if piece.name.is_empty() {
            function(call)["name"].as_str().unwrap_or("").clone_into(&mut piece.name);
        }
        if let Some(mark) = own::mark(call) {
            piece.mark = mark.clone();
        }
        match &function(call)["arguments"] {
            Value::String(text) => piece.text.push(text, torn),
            object @ Value::Object(_) => piece.object = Some(object.clone()),
            _ => {}
        }
    }

    fn begin_call(&mut self, call: &Value) {
        if self.calls.len() >= MAX_CALLS {
            self.too_many = true;
            return;
        }
        let index = call["index"].as_u64();
        let id = call["id"].as_str().unwrap_or("");
        self.calls.push(Piece { index, id: id.to_owned(), ..Piece::default() });
    }

    /// Some servers leave the index away, some give every call the same one, some repeat the id in
    /// every chunk, some give every call the same id.
    fn begins_call(&self, call: &Value) -> bool {
        let index = call["index"].as_u64();
        let id = call["id"].as_str().unwrap_or("");
        let name = function(call)["name"].as_str().unwrap_or("");
        let same = match index {
            Some(_) => self.calls.iter().rev().find(|p| p.index == index),
            None => self.calls.last(),
        };
        let Some(same) = same else { return true };
        let another_id = !id.is_empty() && !same.id.is_empty() && id != same.id;
        let unnumbered = index.is_none() && id.is_empty() && !name.is_empty();
        let more = !name.is_empty() && !is_nothing(&function(call)["arguments"]);
        another_id || (unnumbered && !same.is_new()) || (more && same.is_complete())
    }
}

impl Piece {
    fn is_new(&self) -> bool {
        self.name.is_empty() && self.text.text().is_empty() && self.object.is_none()
    }

    fn is_complete(&self) -> bool {
        let text = self.text.text();
        let looked_at = text.len() <= LOOKED_AT && text.ends_with('}');
        self.object.is_some() || (looked_at && dialect::is_object(text))
    }

    /// Something without a name and without arguments is no call.
    fn call(self) -> Option<(Call, Value)> {
        if self.is_new() {
            return None;
        }
        let arguments = match self.object {
            Some(object) => dialect::shallow(object),
            None => dialect::arguments(&self.text.finish()),
        };
        Some((Call { id: self.id, name: self.name, arguments }, self.mark))
    }
}

/// The calls of a message or of a piece of one; the older form of a single call, too.
fn calls(said: &Value) -> impl Iterator<Item = &Value> {
    let older = said.get("function_call").filter(|f| f.is_object());
    said["tool_calls"].as_array().into_iter().flatten().chain(older)
}

/// Name and arguments; the older form holds them itself.
fn function(call: &Value) -> &Value {
    call.get("function").unwrap_or(call)
}

fn is_nothing(arguments: &Value) -> bool {
    arguments.is_null() || arguments.as_str().is_some_and(str::is_empty)
}

/// Reads content that is a string or a list of parts. What is neither text nor a picture is named, so that nothing
/// goes missing unseen; thoughts are nobody's.
fn plain(content: &Value, pictures: &mut Pictures) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|one| part(one, pictures)).collect(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn part(part: &Value, pictures: &mut Pictures) -> String {
    match (part["type"].as_str(), &part["text"]) {
        (Some("thinking" | "reasoning"), _) => String::new(),
        (_, Value::String(text)) => text.clone(),
        (Some("refusal"), _) => part["refusal"].as_str().unwrap_or("").to_owned(),
        (Some("image_url"), _) => {
            pictures.take_part(part);
            String::new()
        }
        (kind, _) => dialect::unshown(kind),
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
        thoughts: number(&usage["completion_tokens_details"]["reasoning_tokens"]),
        ..Usage::default()
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
            }
        });
    }
}
