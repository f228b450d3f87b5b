//! The reasoning items of OpenAI's Responses door, and where they have to stand when they come back.

use serde_json::{Value, json};

use crate::model::openai_check::Complaint;
use crate::model::owned::is_made;

/// The reasoning of a request's answer.
pub(super) fn item(number: u64) -> Value {
    json!({
        "id": format!("rs_{number}"), "type": "reasoning", "summary": [],
        "encrypted_content": encrypted(number),
    })
}

fn encrypted(number: u64) -> String {
    format!("gAAAAA/{number}/c2VjcmV0+==")
}

/// Checks a whole input: <https://developers.openai.com/api/docs/guides/reasoning#keeping-reasoning-items-in-context>.
/// What reasoning led to follows it. In the current turn a function call has the reasoning that it came with right
/// before it, and in earlier ones where it is sent under its own id; reasoning of earlier turns may be left out, and
/// what no longer fits its prefix is dropped without a word
/// (<https://developers.openai.com/api/docs/guides/preserved-reasoning>). `thinks`: the model does.
pub(super) fn check(input: &[Value], thinks: bool) -> Result<(), Complaint> {
    let turn = input.iter().rposition(|item| item["role"] == "user").unwrap_or_default();
    let mut reasoning = None;
    for (at, item) in input.iter().enumerate() {
        match item["type"].as_str() {
            Some("reasoning") => {
                check_one(item, at)?;
                if !input.get(at + 1).is_some_and(follows) {
                    let id = item["id"].as_str().unwrap_or_default();
                    let message = format!(
                        "Item '{id}' of type 'reasoning' was provided without its required following item."
                    );
                    return Err(Complaint::new(message).at("input"));
                }
                reasoning = item["id"].as_str().and_then(|id| id.strip_prefix("rs_"));
            }
            Some("function_call") => {
                let of = |id: &str| id.strip_prefix("fc_")?.split('_').next().map(str::to_owned);
                let own = item["id"].as_str().and_then(of);
                let is_needed = thinks && (at > turn || own.is_some());
                let is_there =
                    reasoning.is_some_and(|it| own.as_deref().is_none_or(|own| own == it));
                if is_needed && !is_there {
                    let id = item["id"].as_str().or(item["call_id"].as_str()).unwrap_or_default();
                    let wanted = own.map_or_else(String::new, |own| format!(": 'rs_{own}'"));
                    let message = format!(
                        "Item '{id}' of type 'function_call' was provided without its required 'reasoning' \
                         item{wanted}."
                    );
                    return Err(Complaint::new(message).at("input"));
                }
            }
            _ if item["role"] == "assistant" => {}
            _ => reasoning = None,
        }
    }
    Ok(())
}

/// Whether an item can be what reasoning led to.
fn follows(item: &Value) -> bool {
    item["type"] == "function_call" || item["role"] == "assistant"
}

/// Checks that an item is as it was; only its status may be left out.
fn check_one(given: &Value, at: usize) -> Result<(), Complaint> {
    if !given["summary"].is_array() {
        let message = format!("Missing required parameter: 'input[{at}].summary'.");
        return Err(Complaint::new(message).at(format!("input[{at}].summary")));
    }
    let id = given["id"].as_str().unwrap_or_default();
    let Some(content) = given["encrypted_content"].as_str() else {
        return Err(Complaint::new(format!(
            "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with \
             `store` set to true, or remove this item from your input."
        ))
        .at("input"));
    };
    let mut bare = given.clone();
    if let Some(fields) = bare.as_object_mut() {
        fields.remove("status");
    }
    let number = id.strip_prefix("rs_").and_then(|number| number.parse().ok());
    if is_made(content, encrypted) && number.is_some_and(|number| bare == item(number)) {
        return Ok(());
    }
    let message = format!("The encrypted content for item {id} could not be verified.");
    Err(Complaint::new(message).at("input").with_code("invalid_encrypted_content"))
}
