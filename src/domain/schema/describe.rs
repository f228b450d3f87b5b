//! What a schema takes, in plain words: `an array of strings`.

use std::io::{self, Write};

use serde_json::Value;

use selkie_channel_core::shorten;

use super::effort::{Effort, EffortExhausted};
use super::follow::{self, choices, resolve};
use crate::span;

/// Characters of a description.
const MAX_LENGTH: usize = 2_000;

/// Says in plain words what a schema takes: `an array of strings`.
pub fn describe(root: &Value, schema: &Value) -> String {
    let said = describe_within(root, schema, &Effort::of_words());
    said.unwrap_or_else(|EffortExhausted| "a value of a schema without an end".to_owned())
}

/// As [`describe`], at somebody's expense.
pub(super) fn describe_within(
    root: &Value,
    schema: &Value,
    effort: &Effort,
) -> Result<String, EffortExhausted> {
    let _level = effort.level()?;
    let schema = resolve(root, schema, effort)?;
    if let Some(choices) = choices(schema) {
        return any_of(root, choices, effort);
    }
    if let Some(constant) = schema.get("const") {
        return Ok(shorten(&plain(constant), MAX_LENGTH));
    }
    if schema.get("format").is_some_and(|format| format == span::FORMAT) {
        return Ok("a length of time (500ms, 30s, 10m, 2h or 7d)".to_owned());
    }
    let name = match schema.get("type") {
        Some(Value::String(one)) => one.as_str(),
        Some(Value::Array(many)) => {
            many.iter().filter_map(Value::as_str).find(|n| *n != "null").unwrap_or("null")
        }
        _ => return Ok("any value".to_owned()),
    };
    Ok(match name {
        "array" => {
            let items = schema.get("items").map(|i| describe_within(root, i, effort));
            let items = items.transpose()?.unwrap_or_default();
            match items.as_str() {
                "" | "any value" => "an array".to_owned(),
                items => shorten(&format!("an array of {}", plural(items)), MAX_LENGTH),
            }
        }
        "integer" => "a whole number".to_owned(),
        "object" => "an object".to_owned(),
        "boolean" => "true or false".to_owned(),
        "null" => "nothing".to_owned(),
        other => shorten(&format!("a {other}"), MAX_LENGTH),
    })
}

/// `a string or a whole number` → `strings or whole numbers`.
fn plural(items: &str) -> String {
    let many = |noun: &str| match noun.strip_prefix("a ").or_else(|| noun.strip_prefix("an ")) {
        Some(noun) => format!("{noun}s"),
        None => noun.to_owned(),
    };
    items.split(" or ").map(many).collect::<Vec<_>>().join(" or ")
}

fn any_of(root: &Value, choices: &[Value], effort: &Effort) -> Result<String, EffortExhausted> {
    let mut words: Vec<String> = Vec::new();
    let mut length = 0;
    for choice in choices {
        let choice = describe_within(root, choice, effort)?;
        if choice == "nothing" || words.contains(&choice) {
            continue;
        }
        length += choice.len();
        words.push(choice);
        if length > MAX_LENGTH {
            break;
        }
    }
    Ok(shorten(&words.join(" or "), MAX_LENGTH))
}

/// The constants of a list of choices that is nothing but constants (a documented Rust enum).
pub(super) fn constants(
    root: &Value,
    choices: &[Value],
    effort: &Effort,
) -> Result<Option<Vec<String>>, EffortExhausted> {
    let _level = effort.level()?;
    let mut all = Vec::new();
    for choice in choices {
        let choice = resolve(root, choice, effort)?;
        if choice.get("type").is_some_and(|t| t == "null") {
            continue;
        }
        match (
            choice.get("const"),
            choice.get("enum").and_then(Value::as_array),
            follow::choices(choice),
        ) {
            (Some(one), _, _) => all.push(got(one, effort)?),
            (None, Some(list), _) => {
                for one in list.iter().filter(|v| !v.is_null()) {
                    all.push(got(one, effort)?);
                }
            }
            (None, None, Some(inner)) => match constants(root, inner, effort)? {
                Some(inner) => all.extend(inner),
                None => return Ok(None),
            },
            _ => return Ok(None),
        }
    }
    Ok((!all.is_empty()).then_some(all))
}

/// A text as it stands, anything else as JSON.
pub(super) fn got(value: &Value, effort: &Effort) -> Result<String, EffortExhausted> {
    let text = plain(value);
    effort.copy(text.len())?;
    Ok(text)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The first characters of a value.
pub(super) fn short(value: &Value) -> String {
    let mut head = Head(Vec::new());
    // It ends with an error where the value is longer than its head.
    let _ = serde_json::to_writer(&mut head, value);
    shorten(&String::from_utf8_lossy(&head.0), 60)
}

/// Takes so much of a text that 60 characters are in it.
struct Head(Vec<u8>);

impl Write for Head {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let left = (4 * 61 + 4_usize).saturating_sub(self.0.len());
        if left == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.0.extend_from_slice(&piece[..piece.len().min(left)]);
        Ok(piece.len().min(left))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
