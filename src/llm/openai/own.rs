//! What servers of the chat completions API mark as theirs in an answer and want back: thoughts beside it, marks on its calls.

use serde_json::{Map, Value, json};

use crate::llm::halves::Joined;

/// The fields of a message that are a server's own.
const FIELDS: [&str; 4] = ["reasoning_content", "reasoning", "reasoning_details", "extra_content"];
/// The field of a call.
const MARK: &str = "extra_content";

/// What has arrived of a message's own fields.
#[derive(Default)]
pub(super) struct Own {
    texts: Vec<(&'static str, Joined)>,
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

    fn text(&mut self, field: &'static str) -> &mut Joined {
        let at = self.texts.iter().position(|(name, _)| *name == field);
        let at = at.unwrap_or_else(|| {
            self.texts.push((field, Joined::default()));
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
    let (Some(last), Some(piece)) = (last.as_object_mut(), piece.as_object()) else { return };
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
