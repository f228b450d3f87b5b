//! What servers of the chat completions API mark as theirs in an answer and want back: thoughts beside it, marks on its calls.

use serde_json::{Map, Value, json};

use crate::habits::Habits;
use crate::halves::PieceJoiner;

/// The fields of a message that are a server's own.
const FIELDS: [&str; 4] = [THOUGHTS, "reasoning", "reasoning_details", "extra_content"];
/// The field of a call.
const MARK: &str = "extra_content";
/// The field of a message whose absence is refused.
const THOUGHTS: &str = "reasoning_content";
/// What Gemini takes for the mark of a call that it has not made.
const NO_MARK: &str = "skip_thought_signature_validator";

/// What has arrived of a message's own fields.
#[derive(Default)]
pub(super) struct Own {
    texts: Vec<(&'static str, PieceJoiner)>,
    others: Map<String, Value>,
}

impl Own {
    /// Takes what a message, or a piece of one, has of them.
    pub fn take(&mut self, said: &Value, torn: bool) {
        for field in FIELDS {
            match &said[field] {
                Value::Null => {}
                Value::String(text) => self.text(field).push(text, torn),
                Value::Array(more) => {
                    let all = self.others.entry(field).or_insert_with(|| json!([]));
                    more.iter().for_each(|one| add(all, one));
                }
                other => drop(self.others.insert(field.to_owned(), other.clone())),
            }
        }
    }

    fn text(&mut self, field: &'static str) -> &mut PieceJoiner {
        let at = self.texts.iter().position(|(name, _)| *name == field);
        let at = at.unwrap_or_else(|| {
            self.texts.push((field, PieceJoiner::default()));
            self.texts.len() - 1
        });
        &mut self.texts[at].1
    }

    /// Returns them beside the marks of all calls, in their order; nothing where there are none.
    pub fn finish(self, marks: Vec<Value>) -> Option<Value> {
        let mut message = self.others;
        for (field, text) in self.texts {
            message.insert(field.to_owned(), text.finish().into());
        }
        let is_all = message.is_empty() && marks.iter().all(Value::is_null);
        (!is_all).then(|| json!({ "message": message, "calls": marks }))
    }
}

/// Adds an item of a list: the pieces of one follow each other under its number.
fn add(all: &mut Value, piece: &Value) {
    let Some(list) = all.as_array_mut() else { return };
    let same = |last: &&mut Value| {
        piece["index"].is_u64() && last["index"] == piece["index"] && last["type"] == piece["type"]
    };
    let Some(last) = list.last_mut().filter(same) else { return list.push(piece.clone()) };
    let Some(last) = last.as_object_mut() else { return };
    let Some(piece) = piece.as_object() else { return };
    for (key, value) in piece {
        match (key.as_str(), last.get_mut(key), value) {
            ("text" | "summary" | "data", Some(Value::String(text)), Value::String(more)) => {
                text.push_str(more);
            }
            (_, Some(_), Value::Null) => {}
            _ => drop(last.insert(key.clone(), value.clone())),
        }
    }
}

/// The mark of a call.
pub(super) fn mark(call: &Value) -> Option<&Value> {
    call.get(MARK).filter(|mark| !mark.is_null())
}

/// Writes what a server had marked as its own into the message that goes back; not where the calls are others.
pub(super) fn put_back(message: &mut Value, own: Value) {
    let Value::Object(mut own) = own else { return };
    let marks = own.remove("calls").unwrap_or_default();
    let marks = marks.as_array().map(Vec::as_slice).unwrap_or_default();
    let calls = message["tool_calls"].as_array_mut();
    let Some(calls) = calls.filter(|calls| calls.len() == marks.len()) else { return };
    for (call, mark) in calls.iter_mut().zip(marks).filter(|(_, mark)| !mark.is_null()) {
        call[MARK] = mark.clone();
    }
    if let Some(Value::Object(fields)) = own.remove("message") {
        fields.into_iter().for_each(|(field, value)| message[field] = value);
    }
}

/// Fills the places of what is gone: thoughts of other models and of earlier tasks, which DeepSeek takes as an empty text
/// (<https://api-docs.deepseek.com/guides/thinking_mode>), marks, for which Gemini has a word
/// (<https://ai.google.dev/gemini-api/docs/thought-signatures>).
pub(super) fn fill(messages: &mut [Value], habits: Habits) {
    for said in messages.iter_mut().filter(|said| said["role"] == "assistant") {
        if habits.blank_thoughts && said.get(THOUGHTS).is_none() {
            said[THOUGHTS] = "".into();
        }
        let calls = said.get_mut("tool_calls").and_then(Value::as_array_mut);
        let Some(calls) = calls else { continue };
        if habits.blank_marks && calls.iter().all(|call| mark(call).is_none()) {
            let first = calls.first_mut().into_iter();
            first
                .for_each(|call| call[MARK] = json!({ "google": { "thought_signature": NO_MARK }}));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_has_its_place_where_somebody_wants_one() {
        let call = |mark: Value| json!({ "id": "call_0", MARK: mark });
        let said =
            |calls: Value| json!({ "role": "assistant", "content": null, "tool_calls": calls });
        let marked = json!({ "google": { "thought_signature": "c2ln" } });
        let all = || {
            vec![
                json!({ "role": "user", "content": "hi" }),
                json!({ "role": "assistant", "content": "yes" }),
                said(json!([call(Value::Null), call(Value::Null)])),
                said(json!([call(marked.clone())])),
            ]
        };
        let plain = Habits::chat(true, false);
        let mut filled = plain;
        (filled.blank_thoughts, filled.blank_marks) = (true, true);
        let mut messages = all();
        fill(&mut messages, plain);
        assert_eq!(messages, all(), "nobody wants anything");
        fill(&mut messages, filled);
        assert_eq!(messages[0], all()[0]);
        assert!(messages[1..].iter().all(|said| said[THOUGHTS] == ""), "{messages:?}");
        let mark = |at: usize| messages[2]["tool_calls"][at][MARK].clone();
        assert_eq!(mark(0)["google"]["thought_signature"], NO_MARK);
        assert_eq!((mark(1), &messages[3]["tool_calls"][0][MARK]), (Value::Null, &marked));
    }
}
