//! Puts a Responses answer together, from one document or from events. What counts are completed items: what is
//! announced and what arrives in pieces is for whoever watches.

use std::sync::Once;

use serde_json::Value;

use crate::gather::{Gather, MAX_CALLS, Whole};
use crate::pictures::Pictures;
use crate::refusal::IncompleteAnswer;
use crate::text_so_far::TextSoFar;
use crate::{OnText, Reason, Reply, StopReason, dialect, halves};
use selkie_domain::transcript::Call;
use selkie_domain::usage::Usage;

/// No answer has more items than this.
const MAX_ITEMS: usize = 512;
/// What stands between two messages of one answer.
const BREAK: &str = "\n\n";
/// The items that are pictures.
const PICTURE: &str = "image_generation_call";
/// How the names of events end whose item comes whole later, or that say that a server lives.
const PIECES: [&str; 6] = [".delta", ".done", ".added", ".created", "_progress", ".partial_image"];

/// An event of a kind that nobody knows has been told of.
static UNKNOWN: Once = Once::new();

/// What has arrived so far.
#[derive(Default)]
pub(crate) struct PartialReply {
    /// The words as they were written.
    written: TextSoFar,
    /// The message that they are of.
    message: Option<u64>,
    /// The number of the last piece of them.
    last: Option<u64>,
    /// Completed items by their place, in their order.
    items: Vec<(u64, Value)>,
    too_many: bool,
    /// `completed`, `incomplete` …, once the answer has come to an end.
    status: Option<String>,
    /// Why it is incomplete.
    reason: String,
    usage: Usage,
}

impl Gather for PartialReply {
    fn take_whole(&mut self, answer: &Value, heard: &OnText<'_>) {
        self.end(answer, "completed", false);
        let words: Vec<String> = self.messages().map(words_of).collect();
        self.written.push(&words.join(BREAK), false, heard);
    }

    fn take(&mut self, event: &Value, torn: bool, heard: &OnText<'_>) {
        let next = self.items.last().map_or(0, |(at, _)| at + 1);
        let place = event["output_index"].as_u64().unwrap_or(next);
        match event["type"].as_str().unwrap_or("") {
            "response.output_text.delta" => self.write(place, event, torn, heard),
            "response.output_item.done" => self.keep(place, &event["item"], torn),
            "response.incomplete" => self.end(&event["response"], "incomplete", torn),
            "response.completed" | "response.done" => {
                self.end(&event["response"], "completed", torn);
            }
            kind if PIECES.iter().any(|end| kind.ends_with(end)) => {}
            kind => UNKNOWN.call_once(|| {
                tracing::info!(
                    kind,
                    "the model server sends events of a kind that is not known: they are skipped"
                );
            }),
        }
    }

    fn has_ended(&self) -> bool {
        self.status.is_some()
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn finish(mut self, by: String, told: bool) -> Result<Whole, IncompleteAnswer> {
        let usage = Usage { calls: 1, ..self.usage };
        let garbled = |why: String| IncompleteAnswer { reason: Reason::Garbled, why, usage };
        let word = self.status.clone().unwrap_or_default();
        if !told || !matches!(&*word, "" | "completed" | "incomplete") {
            return Err(garbled(format!("the answer ended early {word}").trim_end().to_owned()));
        }
        let calls: Vec<Call> = self.items.iter().filter_map(|(_, item)| call(item)).collect();
        if self.too_many || calls.len() > MAX_CALLS {
            let why = format!("an answer with more than {MAX_CALLS} calls");
            return Err(IncompleteAnswer { reason: Reason::TooMuch, why, usage });
        }
        let written = std::mem::take(&mut self.written).finish();
        let (text, refused) = self.text(written);
        let (pictures, text) = self.pictures().finish(text);
        let stopped = match (&*word, &*self.reason) {
            ("incomplete", "content_filter") => Some(StopReason::Filter),
            ("incomplete", _) => Some(StopReason::Room),
            _ => refused.then_some(StopReason::Refusal),
        };
        let own = if stopped.is_some() { None } else { own(self.items) };
        let reply = Reply { text, calls, pictures, usage, own: None, stopped, by };
        Ok(Whole { reply, own, word })
    }
}

impl PartialReply {
    /// Takes a piece of a message; not one that has come before, or too late.
    fn write(&mut self, place: u64, event: &Value, torn: bool, heard: &OnText<'_>) {
        let number = event["sequence_number"].as_u64();
        if number.is_some() && number <= self.last {
            return;
        }
        self.last = number.or(self.last);
        if self.message.replace(place).is_some_and(|before| before != place) {
            self.written.push(BREAK, false, heard);
        }
        self.written.push(event["delta"].as_str().unwrap_or(""), torn, heard);
    }

    fn keep(&mut self, place: u64, item: &Value, torn: bool) {
        let item = if torn { halves::whole(item) } else { item.clone() };
        match self.items.binary_search_by_key(&place, |(at, _)| *at) {
            Ok(at) => self.items[at].1 = item,
            Err(_) if self.items.len() >= MAX_ITEMS => self.too_many = true,
            Err(at) => self.items.insert(at, (place, item)),
        }
    }

    /// Takes the end. What it lists is all of the answer; some servers list nothing there.
    fn end(&mut self, response: &Value, status: &str, torn: bool) {
        let output = response["output"].as_array().map(Vec::as_slice).unwrap_or_default();
        if !output.is_empty() {
            self.items.clear();
        }
        for (place, item) in (0..).zip(output) {
            self.keep(place, item, torn);
        }
        self.status = Some(response["status"].as_str().unwrap_or(status).to_owned());
        let reason = &response["incomplete_details"]["reason"];
        self.reason = reason.as_str().unwrap_or("").to_owned();
        if response["usage"].is_object() {
            self.usage = read_usage(&response["usage"]);
        }
    }

    fn messages(&self) -> impl Iterator<Item = &Value> {
        self.items.iter().map(|(_, item)| item).filter(|item| item["type"] == "message")
    }

    fn pictures(&self) -> Pictures {
        let mut pictures = Pictures::default();
        let items = self.items.iter().map(|(_, item)| item);
        for item in items.filter(|item| item["type"] == PICTURE) {
            pictures.take(item["result"].as_str().unwrap_or(""));
        }
        pictures
    }

    /// The words for people, and whether they are a refusal. `written`: those that came in pieces, where no item has any.
    fn text(&self, written: String) -> (String, bool) {
        let spoken = |item: &Value| {
            let mut said = TextSoFar::default();
            said.push(&words_of(item), false, &|_| {});
            said.finish()
        };
        let words: Vec<String> = self.messages().map(spoken).filter(|w| !w.is_empty()).collect();
        let parts = || self.messages().flat_map(|item| item["content"].as_array()).flatten();
        let refusal: String = parts().filter_map(|part| part["refusal"].as_str()).collect();
        let words = if words.is_empty() { written } else { words.join(BREAK) };
        dialect::with_refusal(words, refusal)
    }
}

/// The words of a message.
fn words_of(message: &Value) -> String {
    let part = |part: &Value| match (&part["text"], part["type"].as_str()) {
        (Value::String(text), _) => text.clone(),
        (_, Some("refusal")) => String::new(),
        (_, kind) => dialect::unshown(kind),
    };
    match &message["content"] {
        Value::String(text) => text.clone(),
        content => content.as_array().into_iter().flatten().map(part).collect(),
    }
}

fn call(item: &Value) -> Option<Call> {
    let text = |key: &str| item[key].as_str().unwrap_or("").to_owned();
    (item["type"] == "function_call").then(|| Call {
        id: text("call_id"),
        name: text("name"),
        arguments: match &item["arguments"] {
            object @ Value::Object(_) => dialect::shallow(object.clone()),
            written => dialect::arguments(written.as_str().unwrap_or("")),
        },
    })
}

/// The items as they came, where words and calls are not all. The server keeps none of them: an item that is a mere
/// name of something there is left out, and so are the names of words and calls. Beside a picture nothing is kept: it is
/// too large to go back.
fn own(items: Vec<(u64, Value)>) -> Option<Value> {
    let is_plain = |item: &Value| item["type"] == "message" || item["type"] == "function_call";
    let mut all: Vec<Value> =
        items.into_iter().map(|(_, item)| item).filter(|item| !is_name(item)).collect();
    let has_picture = all.iter().any(|item| item["type"] == PICTURE);
    let more = !has_picture && all.iter().any(|item| !is_plain(item));
    for item in all.iter_mut().filter(|item| is_plain(item)) {
        item.as_object_mut().and_then(|item| item.shift_remove("id"));
    }
    more.then(|| all.into())
}

/// Thoughts that hold nothing.
fn is_name(item: &Value) -> bool {
    let is_empty = |key: &str| match &item[key] {
        Value::String(text) => text.is_empty(),
        Value::Array(parts) => parts.is_empty(),
        _ => true,
    };
    item["type"] == "reasoning" && ["encrypted_content", "content"].into_iter().all(is_empty)
}

fn read_usage(usage: &Value) -> Usage {
    let number = |v: &Value| v.as_u64().unwrap_or(0);
    Usage {
        input: number(&usage["input_tokens"]),
        cached: number(&usage["input_tokens_details"]["cached_tokens"]),
        output: number(&usage["output_tokens"]),
        thoughts: number(&usage["output_tokens_details"]["reasoning_tokens"]),
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
                gathered.take_whole(&value, &|_| {});
            }
        });
    }
}
