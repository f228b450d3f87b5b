//! What the Anthropic server refuses: required fields, roles, and results directly after their calls.

use std::collections::HashSet;

use serde_json::Value;

use super::openai_check::{PICTURES, tool_name_fits};

type CheckResult = Result<(), String>;

/// Checks a request's body; null stands for one that is no JSON.
pub(crate) fn check(body: &Value) -> CheckResult {
    if !body.is_object() {
        return Err("The request body is not valid JSON".to_owned());
    }
    if body["model"].as_str().is_none_or(str::is_empty) {
        return Err("model: Field required".to_owned());
    }
    match body.get("max_tokens") {
        None => return Err("max_tokens: Field required".to_owned()),
        Some(most) if most.as_u64().is_none_or(|most| most == 0) => {
            return Err("max_tokens: Input should be greater than or equal to 1".to_owned());
        }
        Some(_) => {}
    }
    let messages = body["messages"].as_array().ok_or("messages: Field required")?;
    if messages.is_empty() {
        return Err("messages: at least one message is required".to_owned());
    }
    check_tools(body)?;
    check_messages(messages)
}

fn check_messages(messages: &[Value]) -> CheckResult {
    if messages[0]["role"] != "user" {
        return Err("messages: first message must use the \"user\" role".to_owned());
    }
    let mut open: Vec<&str> = vec![];
    for (at, message) in messages.iter().enumerate() {
        let last = at + 1 == messages.len();
        check_content(message, at, last)?;
        check_pictures(message, at)?;
        let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        match message["role"].as_str().unwrap_or_default() {
            "user" => check_results(blocks, at, &open)?,
            "assistant" => all_answered(&open, at)?,
            other => {
                return Err(format!(
                    "messages.{at}.role: Input should be 'user' or 'assistant', got '{other}'"
                ));
            }
        }
        open = if message["role"] == "assistant" { check_uses(blocks, at)? } else { vec![] };
    }
    all_answered(&open, messages.len())
}

fn check_content(message: &Value, at: usize, last: bool) -> CheckResult {
    let empty = match &message["content"] {
        Value::String(text) => text.is_empty(),
        Value::Array(blocks) => {
            let mut texts = blocks.iter().filter(|block| block["type"] == "text");
            if texts.any(|block| block["text"].as_str().is_none_or(|text| text.trim().is_empty())) {
                return Err("messages: text content blocks must be non-empty".to_owned());
            }
            blocks.is_empty()
        }
        _ => return Err(format!("messages.{at}.content: Field required")),
    };
    if empty && !(last && message["role"] == "assistant") {
        return Err(format!(
            "messages.{at}: all messages must have non-empty content except for the optional final assistant message"
        ));
    }
    Ok(())
}

/// A picture is the person's, in a form that is taken.
fn check_pictures(message: &Value, at: usize) -> CheckResult {
    let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (number, block) in blocks.iter().enumerate().filter(|(_, b)| b["type"] == "image") {
        let place = format!("messages.{at}.content.{number}.image.source");
        if message["role"] != "user" {
            return Err(format!("messages.{at}.content.{number}: image blocks are the user's"));
        }
        let source = &block["source"];
        if source["type"] != "base64" {
            return Err(format!("{place}.type: Input should be 'base64'"));
        }
        if !PICTURES.iter().any(|kind| source["media_type"] == *kind) {
            return Err(format!(
                "{place}.base64.media_type: Input should be {}",
                PICTURES.join(", ")
            ));
        }
        if source["data"].as_str().is_none_or(str::is_empty) {
            return Err(format!("{place}.base64.data: image cannot be empty"));
        }
    }
    Ok(())
}

/// The results of one turn stand at the start of the one user message behind it, complete.
fn check_results(blocks: &[Value], at: usize, open: &[&str]) -> CheckResult {
    let mut left = open.to_vec();
    for (number, block) in blocks.iter().enumerate() {
        if block["type"] != "tool_result" {
            all_answered(&left, at)?;
            continue;
        }
        let id = block["tool_use_id"].as_str().unwrap_or_default();
        let Some(found) = left.iter().position(|open| *open == id) else {
            return Err(format!(
                "messages.{at}.content.{number}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            ));
        };
        left.remove(found);
    }
    all_answered(&left, at)
}

fn all_answered(open: &[&str], at: usize) -> CheckResult {
    if open.is_empty() {
        return Ok(());
    }
    Err(format!(
        "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
        at.saturating_sub(1),
        open.join(", ")
    ))
}

/// The ids of an assistant message's calls, each well formed.
fn check_uses(blocks: &[Value], at: usize) -> Result<Vec<&str>, String> {
    let mut ids = vec![];
    for (number, block) in blocks.iter().enumerate() {
        if block["type"] != "tool_use" {
            continue;
        }
        let place = format!("messages.{at}.content.{number}.tool_use");
        let id = block["id"].as_str().filter(|id| tool_name_fits(id, 256));
        let id = id
            .ok_or_else(|| format!("{place}.id: String should match pattern '^[a-zA-Z0-9_-]+$'"))?;
        if !block["input"].is_object() {
            return Err(format!("{place}.input: Input should be a valid dictionary"));
        }
        if block["name"].as_str().is_none_or(str::is_empty) {
            return Err(format!("{place}.name: Field required"));
        }
        if ids.contains(&id) {
            return Err(format!("messages.{at}.content.{number}: `tool_use` ids must be unique"));
        }
        ids.push(id);
    }
    Ok(ids)
}

fn check_tools(body: &Value) -> CheckResult {
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut names = HashSet::new();
    for (at, tool) in tools.iter().enumerate() {
        let name = tool["name"].as_str().unwrap_or_default();
        if !tool_name_fits(name, 128) {
            return Err(format!(
                "tools.{at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            ));
        }
        if tool["input_schema"]["type"] != "object" {
            return Err(format!("tools.{at}.custom.input_schema.type: Input should be 'object'"));
        }
        if !names.insert(name) {
            return Err("tools: Tool names must be unique.".to_owned());
        }
    }
    Ok(())
}
