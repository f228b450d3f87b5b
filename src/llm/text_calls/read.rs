//! Calls that a model wrote as text, in the few forms that models are taught, told from its words.

use serde_json::{Deserializer, Value};

use super::block::{Block, MAX_LENGTH, call, is_name};
use super::harmony;
use selkie_domain::transcript::Call;

/// No answer holds more calls.
const MAX_CALLS: usize = 128;
/// How each form begins.
pub(crate) const BEGINNINGS: [&str; 7] = [
    "<tool_call>",
    "<function=",
    "[TOOL_CALLS]",
    "<｜DSML｜",
    "<|DSML|",
    harmony::CHANNEL,
    harmony::START,
];

/// An answer, taken apart.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Parts {
    /// The calls, where all of them can be read.
    pub calls: Vec<Call>,
    /// The calls as they were written.
    pub written: Vec<String>,
    /// What is left for people.
    pub words: String,
    /// Something that begins as a call cannot be read, or the calls are of several forms.
    pub is_broken: bool,
    form: Option<&'static str>,
}

/// Longer answers are not looked through, bytes.
const MAX_READ: usize = 4 * MAX_LENGTH;
/// Nor is one that begins a call so often.
const MAX_BEGINNINGS: usize = 256;

/// Whether an answer that holds no call that can be read is words about calls.
pub(super) fn is_prose(text: &str) -> bool {
    let has_channels = text.contains(harmony::CHANNEL) || text.contains(harmony::START);
    !has_channels && read(text).is_none_or(|parts| parts.calls.is_empty())
}

/// Takes an answer apart; `None` where it is words alone. What stands in code is words.
pub(super) fn read(text: &str) -> Option<Parts> {
    let mut parts = Parts::default();
    if text.len() > MAX_READ {
        // What is thought in channels is nobody's, however long.
        let begin = text.trim_start();
        let is_hidden = begin.starts_with(harmony::CHANNEL) || begin.starts_with(harmony::START);
        return is_hidden.then_some(Parts { is_broken: true, ..parts });
    }
    let mut beginnings = 0;
    let mut at = 0;
    let mut done = 0;
    let mut found = false;
    while let Some((form, begin)) = next(text, at) {
        beginnings += 1;
        if beginnings > MAX_BEGINNINGS {
            parts.is_broken = true;
            break;
        }
        let rest = &text[begin..];
        let block = if is_in_code(text, begin) { None } else { block(form, rest, text.len()) };
        let Some(block) = block else {
            at = begin + form.len();
            continue;
        };
        found = true;
        parts.words.push_str(&text[done..begin]);
        parts.words.push_str(&block.words);
        let end = begin + block.end;
        match block.calls {
            Some(calls) if calls.is_empty() => {}
            Some(calls) => {
                parts.is_broken |= parts.form.replace(form).is_some_and(|other| other != form);
                parts.calls.extend(calls);
                parts.written.push(text[begin..end].to_owned());
            }
            None => parts.is_broken = true,
        }
        (at, done) = (end, end);
    }
    parts.words.push_str(&text[done..]);
    parts.is_broken |= parts.calls.len() > MAX_CALLS;
    found.then_some(parts)
}

/// Where the next form begins.
fn next(text: &str, at: usize) -> Option<(&'static str, usize)> {
    let found = BEGINNINGS.iter().filter_map(|form| Some((*form, at + text[at..].find(form)?)));
    found.min_by_key(|(_, begin)| *begin)
}

fn is_in_code(text: &str, begin: usize) -> bool {
    let before = &text[..begin];
    before.ends_with('`') || before.matches("```").count() % 2 == 1
}

fn block(form: &str, rest: &str, whole: usize) -> Option<Block> {
    match form {
        harmony::CHANNEL | harmony::START => return harmony::block(rest),
        _ if whole > MAX_LENGTH => return None,
        _ => {}
    }
    let inside = &rest[form.len()..];
    match form {
        "<tool_call>" => fenced(rest, form.len(), "</tool_call>", named),
        "<function=" => {
            let (name, _) = inside.split_once('>')?;
            is_name(name).then_some(())?;
            let begin = form.len() + name.len() + 1;
            fenced(rest, begin, "</function>", |value| call(name, value))
        }
        "[TOOL_CALLS]" => listed(rest, form.len()),
        _ => dsml(form, rest),
    }
}

/// One JSON value between two marks.
fn fenced(
    rest: &str,
    begin: usize,
    close: &str,
    read: impl Fn(Value) -> Option<Call>,
) -> Option<Block> {
    let inside = &rest[begin..];
    // Without a value behind it, it is a word about calls.
    inside.trim_start().starts_with(['{', '<']).then_some(())?;
    let Some(length) = inside.find(close) else { return Some(Block::broken(rest)) };
    // A mark in a string is none: the value ends first.
    let value = value(inside).filter(|value| inside[value.end..].trim_start().starts_with(close));
    let Some(value) = value else {
        return Some(Block { end: begin + length + close.len(), ..Block::broken(rest) });
    };
    let blanks = inside[value.end..].len() - inside[value.end..].trim_start().len();
    let end = begin + value.end + blanks + close.len();
    Some(Block { calls: read(value.value).map(|call| vec![call]), words: String::new(), end })
}

/// A list of calls behind a mark.
fn listed(rest: &str, begin: usize) -> Option<Block> {
    let Some(list) = value(&rest[begin..]) else { return Some(Block::broken(rest)) };
    let calls = match list.value {
        Value::Array(all) if !all.is_empty() => all.into_iter().map(named).collect(),
        _ => None,
    };
    Some(Block { calls, words: String::new(), end: begin + list.end })
}

/// `<｜DSML｜invoke name="…">` with a mark for each parameter, perhaps within `<｜DSML｜tool_calls>`.
fn dsml(mark: &str, rest: &str) -> Option<Block> {
    let ends = ["tool_calls>", "function_calls>", "invoke>"];
    let close = |name: &str| format!("</{}{name}", &mark[1..]);
    let end = ends.iter().find(|name| {
        let opens = &rest[mark.len()..];
        opens.starts_with(name.trim_end_matches('>'))
    })?;
    let Some(length) = rest.find(&close(end)) else { return Some(Block::broken(rest)) };
    let end = length + close(end).len();
    let mut calls = Some(Vec::new());
    for part in rest[..end].split(&format!("{mark}invoke name=\"")).skip(1) {
        let call = invoked(mark, part, &close("parameter>"));
        calls = calls.zip(call).map(|(mut calls, call)| {
            calls.push(call);
            calls
        });
    }
    Some(Block { calls: calls.filter(|calls| !calls.is_empty()), words: String::new(), end })
}

fn invoked(mark: &str, part: &str, close: &str) -> Option<Call> {
    let (name, body) = part.split_once("\">")?;
    let mut arguments = serde_json::Map::new();
    for parameter in body.split(&format!("{mark}parameter name=\"")).skip(1) {
        let (head, rest) = parameter.split_once('>')?;
        let (text, _) = rest.split_once(close)?;
        let (key, kind) = head.split_once('"')?;
        let value = match kind.contains("string=\"false\"") {
            true => serde_json::from_str(text.trim()).ok()?,
            false => Value::from(text),
        };
        arguments.insert(key.to_owned(), value).is_none().then_some(())?;
    }
    call(name, arguments.into())
}

/// A value at the beginning of a text.
struct LeadingValue {
    value: Value,
    end: usize,
}

fn value(text: &str) -> Option<LeadingValue> {
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some(LeadingValue { value, end: values.byte_offset() })
}

/// `{"name": …, "arguments": {…}}`.
fn named(value: Value) -> Option<Call> {
    let name = value["name"].as_str()?.to_owned();
    let arguments = value.get("arguments").or_else(|| value.get("parameters")).cloned();
    call(&name, arguments.unwrap_or_default())
}
