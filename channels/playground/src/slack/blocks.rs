//! Block Kit's rules: what a message's blocks may hold. Every refusal is `invalid_blocks`, with Slack's kind
//! of words beside it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Blocks in one message.
const MAX_BLOCKS: usize = 50;
/// Elements in one `actions` block.
const MAX_ELEMENTS: usize = 25;
/// Characters of an id.
const MAX_ID: usize = 255;

type CheckResult = Result<(), String>;

/// Checks the blocks of a call.
///
/// # Errors
/// What is wrong, in words.
pub(super) fn check(blocks: &Value) -> CheckResult {
    let blocks = blocks.as_array().ok_or("blocks: must be an array")?;
    if blocks.len() > MAX_BLOCKS {
        return Err(format!("no more than {MAX_BLOCKS} items allowed"));
    }
    let mut ids = BTreeSet::new();
    for block in blocks {
        let block = block.as_object().ok_or("a block must be an object")?;
        if let Some(id) = block.get("block_id") {
            let id = text(id, "block_id", 0, MAX_ID)?;
            if !ids.insert(id.to_owned()) {
                return Err(format!("block_id {id} is already in use"));
            }
        }
        check_block(block)?;
    }
    Ok(())
}

fn check_block(block: &Map<String, Value>) -> CheckResult {
    match block.get("type").and_then(Value::as_str).unwrap_or_default() {
        "section" => {
            only(block, &["type", "block_id", "text", "fields", "accessory", "expand"])?;
            let words = block.get("text").ok_or("section: text is missing")?;
            text_object(words, &["mrkdwn", "plain_text"], 3000)
        }
        "context" => {
            only(block, &["type", "block_id", "elements"])?;
            elements(block, 10)?
                .iter()
                .try_for_each(|element| text_object(element, &["mrkdwn", "plain_text"], 2000))
        }
        "header" => {
            only(block, &["type", "block_id", "text"])?;
            let words = block.get("text").ok_or("header: text is missing")?;
            text_object(words, &["plain_text"], 150)
        }
        "divider" => only(block, &["type", "block_id"]),
        "markdown" => {
            only(block, &["type", "block_id", "text"])?;
            text(block.get("text").unwrap_or(&Value::Null), "text", 1, 12_000).map(drop)
        }
        "actions" => {
            only(block, &["type", "block_id", "elements"])?;
            let mut ids = BTreeSet::new();
            elements(block, MAX_ELEMENTS)?.iter().try_for_each(|element| button(element, &mut ids))
        }
        other => Err(format!("unsupported type: {other}")),
    }
}

fn elements(block: &Map<String, Value>, most: usize) -> Result<&Vec<Value>, String> {
    let elements = block.get("elements").and_then(Value::as_array).ok_or("elements: missing")?;
    match elements.len() {
        0 => Err("elements: no fewer than 1 item required".to_owned()),
        n if n > most => Err(format!("elements: no more than {most} items allowed")),
        _ => Ok(elements),
    }
}

fn button(element: &Value, ids: &mut BTreeSet<String>) -> CheckResult {
    let button = element.as_object().ok_or("an element must be an object")?;
    if button.get("type") != Some(&Value::from("button")) {
        return Err("only buttons are emulated".to_owned());
    }
    only(
        button,
        &["type", "text", "action_id", "value", "url", "style", "confirm", "accessibility_label"],
    )?;
    text_object(button.get("text").unwrap_or(&Value::Null), &["plain_text"], 75)?;
    if let Some(value) = button.get("value") {
        text(value, "value", 0, 2000)?;
    }
    if let Some(style) = button.get("style").filter(|s| *s != "primary" && *s != "danger") {
        return Err(format!("style: {style} is not an allowed value"));
    }
    let id = text(button.get("action_id").unwrap_or(&Value::Null), "action_id", 1, MAX_ID)?;
    match ids.insert(id.to_owned()) {
        true => Ok(()),
        false => Err(format!("action_id {id} already exists in this block")),
    }
}

fn text_object(object: &Value, kinds: &[&str], most: usize) -> CheckResult {
    let object = object.as_object().ok_or("text: must be a text object")?;
    let kind = object.get("type").and_then(Value::as_str).unwrap_or_default();
    if !kinds.contains(&kind) {
        return Err(format!("text: type {kind} is not allowed here"));
    }
    only(object, &["type", "text", "emoji", "verbatim"])?;
    text(object.get("text").unwrap_or(&Value::Null), "text", 1, most).map(drop)
}

fn text<'a>(value: &'a Value, name: &str, least: usize, most: usize) -> Result<&'a str, String> {
    let text = value.as_str().ok_or_else(|| format!("{name}: must be a string"))?;
    let length = text.chars().count();
    if length < least {
        return Err(format!("{name}: must be more than {} characters", least - 1));
    }
    if length > most {
        return Err(format!("{name}: must be less than {} characters", most + 1));
    }
    Ok(text)
}

fn only(object: &Map<String, Value>, known: &[&str]) -> CheckResult {
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("invalid additional property: {key}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn button(n: usize) -> Value {
        json!({ "type": "button", "action_id": format!("a{n}"), "value": "v",
            "text": { "type": "plain_text", "text": "Yes" } })
    }

    #[test]
    fn what_slack_takes_is_taken() {
        let section = json!({ "type": "section", "text": { "type": "mrkdwn", "text": "hi" } });
        let actions = json!({ "type": "actions", "elements": [button(1), button(2)] });
        assert_eq!(check(&json!([section, { "type": "divider" }, actions])), Ok(()));
        assert_eq!(check(&json!([])), Ok(()));
    }

    #[test]
    fn what_slack_refuses_is_refused() {
        let section =
            |text: String| json!({ "type": "section", "text": { "type": "mrkdwn", "text": text } });
        let actions = |elements: Vec<Value>| json!({ "type": "actions", "elements": elements });
        let with = |key: &str, value: Value| {
            let mut button = button(1);
            button[key] = value;
            actions(vec![button])
        };
        let long_label = json!({ "type": "plain_text", "text": "x".repeat(76) });
        let styled_label = json!({ "type": "mrkdwn", "text": "x" });
        for wrong in [
            section("x".repeat(3001)),
            section(String::new()),
            actions(vec![]),
            actions((0..26).map(button).collect()),
            actions(vec![button(1), button(1)]),
            with("text", long_label),
            with("text", styled_label),
            with("value", json!("x".repeat(2001))),
            with("action_id", json!("x".repeat(256))),
            with("style", json!("loud")),
            with("colour", json!("red")),
            json!({ "type": "carousel" }),
        ] {
            assert!(check(&json!([wrong])).is_err(), "{wrong}");
        }
        assert!(check(&json!(vec![section("x".to_owned()); 51])).is_err());
        assert!(check(&json!({})).is_err());
    }
}
