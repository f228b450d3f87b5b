//! What OpenAI's Responses door refuses: fields, tools, the items of an input and what belongs together among them.
//!
//! <https://developers.openai.com/api/reference/resources/responses/methods/create>

use serde_json::Value;

use super::{openai, reasoning};
use crate::model::openai_check::{Complaint, PICTURES, tool_name_fits};

type CheckResult = Result<(), Complaint>;

/// The fields of a request.
const KNOWN: &str = "\
    model input instructions tools tool_choice parallel_tool_calls max_tool_calls store include stream \
    stream_options max_output_tokens reasoning text prompt_cache_key prompt_cache_options \
    prompt_cache_retention metadata truncation user safety_identifier service_tier background \
    temperature top_p top_logprobs context_management";
/// What more an answer can be asked to hold.
const INCLUDED: [&str; 4] = [
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
    "message.input_image.image_url",
    "web_search_call.action.sources",
];
/// The longest name of a prompt for the cache.
const MAX_KEY: usize = 64;
/// The fewest tokens of an answer.
const SHORTEST: u64 = 16;

/// Checks a request's body; null stands for one that is no JSON.
pub(super) fn check(body: &Value) -> CheckResult {
    let Some(fields) = body.as_object() else {
        return Err(Complaint::new("We could not parse the JSON body of your request."));
    };
    if let Some(name) = fields.keys().find(|name| !KNOWN.split(' ').any(|known| known == *name)) {
        return Err(Complaint::new(format!("Unknown parameter: '{name}'."))
            .at(name.as_str())
            .with_code("unknown_parameter"));
    }
    let Some(model) = body["model"].as_str().filter(|model| !model.is_empty()) else {
        return Err(missing("model"));
    };
    openai::check_sampling(body)?;
    openai::check_effort(model, &body["reasoning"]["effort"], "reasoning.effort")?;
    check_sizes(body)?;
    let included = body["include"].as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(odd) = included.iter().find(|one| !INCLUDED.iter().any(|known| *one == known)) {
        let known = INCLUDED.join("', '");
        let message = format!("Invalid value: {odd}. Supported values are: '{known}'.");
        return Err(Complaint::new(message).at("include"));
    }
    check_tools(body)?;
    match &body["input"] {
        Value::String(text) if !text.is_empty() => Ok(()),
        Value::Array(items) if !items.is_empty() => {
            check_items(items)?;
            reasoning::check(items, body["reasoning"]["effort"] != "none")
        }
        _ => Err(missing("input")),
    }
}

fn missing(what: &str) -> Complaint {
    Complaint::new(format!("Missing required parameter: '{what}'."))
        .at(what)
        .with_code("missing_required_parameter")
}

fn check_sizes(body: &Value) -> CheckResult {
    if body["max_output_tokens"].as_u64().is_some_and(|most| most < SHORTEST) {
        let message = format!(
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= {SHORTEST}."
        );
        return Err(Complaint::new(message).at("max_output_tokens"));
    }
    if body["prompt_cache_key"].as_str().is_some_and(|key| key.len() > MAX_KEY) {
        let message = format!(
            "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length {MAX_KEY}."
        );
        return Err(Complaint::new(message).at("prompt_cache_key"));
    }
    Ok(())
}

/// Tools are flat here: <https://developers.openai.com/api/docs/guides/migrate-to-responses>.
fn check_tools(body: &Value) -> CheckResult {
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut names = Vec::new();
    for (at, tool) in tools.iter().enumerate() {
        if tool["type"] != "function" {
            return Err(missing(&format!("tools[{at}].type")));
        }
        let Some(name) = tool["name"].as_str() else {
            return Err(missing(&format!("tools[{at}].name")));
        };
        if !tool_name_fits(name, 64) || names.contains(&name) {
            let message = format!("Invalid 'tools[{at}].name': '{name}'.");
            return Err(Complaint::new(message).at(format!("tools[{at}].name")));
        }
        names.push(name);
        let schema = &tool["parameters"];
        let is_open = tool["strict"] == true && schema["additionalProperties"] != false;
        if !schema.is_null() && (schema["type"] != "object" || is_open) {
            let why = if is_open {
                "'additionalProperties' is required to be supplied and to be false"
            } else {
                "schema must be a JSON Schema of 'type: \"object\"'"
            };
            let message = format!("Invalid schema for function '{name}': In context=(), {why}.");
            return Err(Complaint::new(message)
                .at(format!("tools[{at}].parameters"))
                .with_code("invalid_function_parameters"));
        }
    }
    Ok(())
}

/// Each item by its type; each call is answered, and nothing else is.
fn check_items(items: &[Value]) -> CheckResult {
    let mut open: Vec<&str> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let place = format!("input[{at}]");
        match item["type"].as_str() {
            None | Some("message") => check_message(item, &place)?,
            Some("function_call") => open.push(check_call(item, &place)?),
            Some("function_call_output") => {
                let id =
                    item["call_id"].as_str().ok_or_else(|| missing(&format!("{place}.call_id")))?;
                let Some(asked) = open.iter().position(|open| *open == id) else {
                    let message =
                        format!("No tool call found for function call output with call_id {id}.");
                    return Err(Complaint::new(message).at("input"));
                };
                open.remove(asked);
                check_output(&item["output"], &place)?;
            }
            Some("reasoning") => {}
            Some(other) => {
                let message = format!(
                    "Invalid value: '{other}'. Supported values are: 'message', 'function_call', \
                     'function_call_output', and 'reasoning'."
                );
                return Err(Complaint::new(message).at(place).with_code("invalid_value"));
            }
        }
    }
    let Some(id) = open.first() else { return Ok(()) };
    Err(Complaint::new(format!("No tool output found for function call {id}.")).at("input"))
}

fn check_message(item: &Value, place: &str) -> CheckResult {
    let role = item["role"].as_str().unwrap_or_default();
    let parts: &[&str] = match role {
        "user" | "system" | "developer" => &["input_text", "input_image", "input_file"],
        "assistant" => &["output_text", "refusal"],
        other => {
            let message = format!(
                "Invalid value: '{other}'. Supported values are: 'assistant', 'system', 'developer', and 'user'."
            );
            return Err(Complaint::new(message).at(format!("{place}.role")));
        }
    };
    match &item["content"] {
        Value::String(_) => Ok(()),
        Value::Array(content) if !content.is_empty() => check_parts(content, parts, place),
        _ => Err(missing(&format!("{place}.content"))),
    }
}

fn check_parts(content: &[Value], known: &[&str], place: &str) -> CheckResult {
    for (at, part) in content.iter().enumerate() {
        let place = format!("{place}.content[{at}]");
        let kind = part["type"].as_str().unwrap_or_default();
        if !known.contains(&kind) {
            let known = known.join("', '");
            let message = format!("Invalid value: '{kind}'. Supported values are: '{known}'.");
            return Err(Complaint::new(message).at(place).with_code("invalid_value"));
        }
        match kind {
            "input_image" => check_picture(part, &place)?,
            "input_text" | "output_text" if !part["text"].is_string() => {
                return Err(missing(&format!("{place}.text")));
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_picture(part: &Value, place: &str) -> CheckResult {
    let url = part["image_url"].as_str().unwrap_or_default();
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let is_data = data.is_some_and(|(kind, data)| PICTURES.contains(&kind) && !data.is_empty());
    let details = [Value::Null, "low".into(), "high".into(), "auto".into(), "original".into()];
    if (is_data || url.starts_with("https://")) && details.contains(&part["detail"]) {
        return Ok(());
    }
    let message = "The image data you provided does not represent a valid image. Please check your input and try again.";
    Err(Complaint::new(message).at(place).with_code("invalid_image"))
}

/// The id by which a call is answered.
fn check_call<'a>(item: &'a Value, place: &str) -> Result<&'a str, Complaint> {
    let text = |field: &str| {
        let text = item[field].as_str().filter(|text| !text.is_empty());
        text.ok_or_else(|| missing(&format!("{place}.{field}")))
    };
    if let Some(id) = item["id"].as_str().filter(|id| !id.starts_with("fc")) {
        let message =
            format!("Invalid '{place}.id': '{id}'. Expected an ID that begins with 'fc'.");
        return Err(Complaint::new(message).at(format!("{place}.id")));
    }
    text("arguments")?;
    if !tool_name_fits(text("name")?, 64) {
        return Err(Complaint::new(format!("Invalid '{place}.name'.")).at(format!("{place}.name")));
    }
    text("call_id")
}

/// What a call was answered: words, or parts as a person's message has them.
fn check_output(output: &Value, place: &str) -> CheckResult {
    match output {
        Value::String(_) => Ok(()),
        Value::Array(parts) => {
            check_parts(parts, &["input_text", "input_image", "input_file"], place)
        }
        _ => Err(missing(&format!("{place}.output"))),
    }
}
