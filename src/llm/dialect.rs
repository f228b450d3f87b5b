//! What providers want otherwise than we have it: names, ids, arguments and pictures in the form each of
//! them takes.

use std::borrow::Cow;

use selkie_channel_core::json;
use serde_json::{Value, json};

use crate::Request;
use selkie_domain::transcript::{Answer, Call, Picture, Turn};

/// The longest tool name that every provider takes.
const MAX_NAME: usize = 64;

/// Returns a name that every provider takes. History may hold names a model made up.
pub(super) fn safe_name(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let safe: String = name.chars().take(MAX_NAME).map(keep).collect();
    if safe.is_empty() { "unnamed".to_owned() } else { safe }
}

/// Returns the arguments as an object: replaying malformed ones would be refused by every provider.
pub(super) fn replayed(arguments: &Value) -> Value {
    if arguments.is_object() { arguments.clone() } else { json!({}) }
}

/// A call of the history under an id that is unique in its request: ours are unique in a task only.
pub(super) struct Replay<'a> {
    /// `call_<n>`, counted from the first turn.
    pub id: String,
    /// What was asked.
    pub call: &'a Call,
    /// What was answered.
    pub answer: &'a Answer,
}

/// A picture that stands in a request.
pub(super) struct Look<'a> {
    /// `image/png`.
    pub mime: &'a str,
    /// Its bytes.
    pub base64: &'a str,
}

/// Splits what a call was answered into words and the pictures that are shown; of others the words say
/// that they are not.
pub(super) fn answered<'a>(
    answer: &'a Answer,
    request: &'a Request,
    sees: bool,
) -> (Cow<'a, str>, Vec<Look<'a>>) {
    if answer.pictures.is_empty() {
        return (Cow::Borrowed(&answer.text), Vec::new());
    }
    if !sees {
        let note = "[The picture itself is not shown: this model does not see pictures.]";
        return (Cow::Owned(format!("{}\n{note}", answer.text)), Vec::new());
    }
    let looks = looks(&answer.pictures, request);
    if looks.len() == answer.pictures.len() {
        return (Cow::Borrowed(&answer.text), looks);
    }
    let note = "[The picture is not shown any more: read the file again to see it.]";
    (Cow::Owned(format!("{}\n{note}", answer.text)), looks)
}

/// Splits a person's message likewise. A model that does not see reads the names of the files alone.
pub(super) fn shown<'a>(
    text: &'a str,
    pictures: &'a [Picture],
    request: &'a Request,
    sees: bool,
) -> (Cow<'a, str>, Vec<Look<'a>>) {
    if !sees {
        return (Cow::Borrowed(text), Vec::new());
    }
    let looks = looks(pictures, request);
    if looks.len() == pictures.len() {
        return (Cow::Borrowed(text), looks);
    }
    let note = "[Not every picture of this message is shown any more.]";
    (Cow::Owned(format!("{text}\n{note}")), looks)
}

/// Those that go along with the request.
fn looks<'a>(pictures: &'a [Picture], request: &'a Request) -> Vec<Look<'a>> {
    let look = |picture: &'a Picture| {
        let base64 = request.pictures.get(&picture.path)?;
        Some(Look { mime: &picture.mime, base64 })
    };
    pictures.iter().filter_map(look).collect()
}

/// Counts calls while a request is written.
#[derive(Default)]
pub(super) struct Ids(usize);

impl Ids {
    /// Numbers the calls of one turn.
    pub fn replay<'a>(&mut self, calls: &'a [(Call, Answer)]) -> Vec<Replay<'a>> {
        let number = |(call, answer): &'a (Call, Answer)| {
            let id = format!("call_{}", self.0);
            self.0 += 1;
            Replay { id, call, answer }
        };
        calls.iter().map(number).collect()
    }
}

/// Returns an answer's parts as its provider has written them, each call among them, by its `kind`, rewritten for this
/// request; nothing where the calls are others.
pub(super) fn as_it_came(
    own: Value,
    kind: &str,
    replays: &[Replay<'_>],
    rewrite: impl Fn(&mut Value, &Replay<'_>),
) -> Option<Vec<Value>> {
    let Value::Array(mut parts) = own else { return None };
    let mut left = replays.iter();
    for part in parts.iter_mut().filter(|part| part["type"] == kind) {
        rewrite(part, left.next()?);
    }
    left.next().is_none().then_some(parts)
}

/// Names a picture by the call it belongs to.
pub(super) fn picture_of(id: &str) -> String {
    format!("[The picture that {id} answered with]")
}

/// Names a part of an answer that is no text, so that nothing goes missing unseen.
pub(super) fn unshown(kind: Option<&str>) -> String {
    format!("[{} from the model, which cannot be shown]", kind.unwrap_or("a part"))
}

/// Returns the words for people out of what was said and a refusal beside it, and whether there is one.
pub(super) fn with_refusal(said: String, refusal: String) -> (String, bool) {
    let refused = !refusal.trim().is_empty();
    let text = match (said.trim().is_empty(), refused) {
        (true, true) => refusal,
        (false, true) => format!("{said}\n\n{refusal}"),
        (_, false) => said,
    };
    (text, refused)
}

/// Returns the names of tools that the turns have called, each once, in the order of their first call.
pub(super) fn called_names(turns: &[Turn]) -> Vec<String> {
    let mut names = Vec::new();
    for turn in turns {
        let Turn::Calls { calls, .. } = turn else { continue };
        for (call, _) in calls {
            let name = safe_name(&call.name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// Arguments nest at most so deep: they are stored inside other values, and what a parser reads back nests
/// at most 128 deep.
const DEEPEST: usize = 64;

/// Reads the arguments a model wrote as text: an object, or the text itself when it is none.
///
/// Repairs what is common and cannot change the meaning: nothing at all, a code fence around, an object
/// inside a JSON string, a comma before the last brace.
pub(super) fn arguments(text: &str) -> Value {
    let bare = unfenced(text.trim());
    if bare.is_empty() || bare == "null" {
        return json!({});
    }
    object(bare)
        .or_else(|| {
            serde_json::from_str::<String>(bare).ok().and_then(|inner| object(inner.trim()))
        })
        .or_else(|| object(&without_last_comma(bare)?))
        .filter(|arguments| is_shallow(arguments, DEEPEST))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Returns arguments that came as an object, as text where they nest too deep.
pub(super) fn shallow(arguments: Value) -> Value {
    if is_shallow(&arguments, DEEPEST) { arguments } else { Value::String(arguments.to_string()) }
}

/// Whether a value can be read again after it was stored inside others.
pub(super) fn is_readable(value: &Value) -> bool {
    is_shallow(value, DEEPEST)
}

fn is_shallow(value: &Value, left: usize) -> bool {
    match value {
        Value::Array(items) => left > 0 && items.iter().all(|v| is_shallow(v, left - 1)),
        Value::Object(map) => left > 0 && map.values().all(|v| is_shallow(v, left - 1)),
        _ => true,
    }
}

/// Whether a text is a whole JSON object.
pub(super) fn is_object(text: &str) -> bool {
    object(text).is_some()
}

fn object(text: &str) -> Option<Value> {
    json::read(text).ok().filter(Value::is_object)
}

fn unfenced(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```").and_then(|t| t.strip_suffix("```")) else {
        return text;
    };
    inner.strip_prefix("json").unwrap_or(inner).trim()
}

fn without_last_comma(text: &str) -> Option<String> {
    let body = text.strip_suffix('}')?.trim_end().strip_suffix(',')?;
    Some(format!("{body}}}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn arguments_are_repaired_only_where_the_meaning_is_plain() {
        let cases = [
            ("", json!({})),
            ("null", json!({})),
            (r#"{"a":1}"#, json!({"a": 1})),
            ("```json\n{\"a\":1}\n```", json!({"a": 1})),
            (r#""{\"a\":1}""#, json!({"a": 1})),
            (r#"{"a":1,}"#, json!({"a": 1})),
            (r#"{"a":"#, json!(r#"{"a":"#)),
            ("[1]", json!("[1]")),
            ("buy milk", json!("buy milk")),
        ];
        for (text, expected) in cases {
            assert_eq!(arguments(text), expected, "{text:?}");
        }
    }

    #[test]
    fn arguments_that_nest_too_deep_are_text() {
        let nested =
            |levels: usize| format!("{{\"a\":{}1{}}}", "[".repeat(levels), "]".repeat(levels));
        assert!(arguments(&nested(60)).is_object());
        for levels in [64, 100, 10_000] {
            assert!(arguments(&nested(levels)).is_string());
        }
        let deep = (0..100).fold(json!(1), |inner, _| json!({"a": inner}));
        assert!(shallow(deep).is_string());
    }

    proptest! {
        #[test]
        fn any_text_gives_an_object_or_itself(text in ".{0,60}") {
            let read = arguments(&text);
            prop_assert!(read.is_object() || read == json!(text));
        }

        #[test]
        fn any_name_becomes_one_that_providers_take(name in ".{0,90}") {
            let safe = safe_name(&name);
            prop_assert!((1..=64).contains(&safe.len()));
            prop_assert!(safe.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
        }
    }

    #[test]
    fn fuzz_arguments() {
        selkie_fuzz::text("arguments", |text| drop(arguments(text)));
    }
}
