//! What the OpenAI-compatible server refuses: the rules a history must keep.
//!
//! Where compatible servers differ this takes the strict side: the conversation begins with the user, as
//! many of their chat templates demand.

use std::collections::HashSet;

use serde_json::Value;

use super::text_of;

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Complaint {
    pub(crate) message: String,
    pub(crate) param: Option<String>,
    pub(crate) code: Option<String>,
}

impl Complaint {
    /// These words.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), param: None, code: None }
    }

    /// With the provider's code.
    pub(crate) fn with_code(self, code: &str) -> Self {
        Self { code: Some(code.to_owned()), ..self }
    }

    /// About this parameter.
    pub(crate) fn at(self, param: impl Into<String>) -> Self {
        Self { param: Some(param.into()), ..self }
    }
}

type CheckResult = Result<(), Complaint>;

/// Checks a request's body; null stands for one that is no JSON.
pub(crate) fn check(body: &Value) -> CheckResult {
    if !body.is_object() {
        return Err(Complaint::new("We could not parse the JSON body of your request."));
    }
    if body["model"].as_str().is_none_or(str::is_empty) {
        return Err(Complaint::new("you must provide a model parameter"));
    }
    let messages =
        body["messages"].as_array().filter(|list| !list.is_empty()).ok_or_else(|| {
            Complaint::new("Invalid 'messages': expected an array with minimum length 1.")
                .at("messages")
        })?;
    if body.get("stream_options").is_some_and(|options| !options.is_null())
        && body["stream"] != true
    {
        return Err(Complaint::new(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        )
        .at("stream_options"));
    }
    check_tools(body)?;
    check_messages(messages)
}

fn check_messages(messages: &[Value]) -> CheckResult {
    let mut open: Vec<&str> = vec![];
    let mut begun = false;
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            answer(message, at, &mut open)?;
            continue;
        }
        all_answered(&open, at)?;
        match role {
            "system" | "developer" => text_needed(message, at)?,
            "user" => {
                text_needed(message, at)?;
                check_pictures(message, at)?;
                begun = true;
            }
            "assistant" if !begun => {
                return Err(Complaint::new(
                    "Conversation roles must begin with a user message, after system messages.",
                )
                .at(format!("messages.[{at}].role")));
            }
            "assistant" => open = asks(message, at)?,
            other => {
                return Err(Complaint::new(format!(
                    "Invalid value: '{other}'. Supported values are: 'system', 'developer', 'user', 'assistant', and 'tool'."
                ))
                .at(format!("messages[{at}].role")));
            }
        }
    }
    all_answered(&open, messages.len())?;
    if begun {
        return Ok(());
    }
    Err(Complaint::new("Conversation has no user message.").at("messages"))
}

/// A `tool` message answers one open call.
fn answer<'a>(message: &'a Value, at: usize, open: &mut Vec<&'a str>) -> CheckResult {
    let id = message["tool_call_id"].as_str().unwrap_or_default();
    let Some(found) = open.iter().position(|call| *call == id) else {
        return Err(Complaint::new(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        )
        .at(format!("messages.[{at}].role")));
    };
    open.remove(found);
    let content = &message["content"];
    if content.is_string() || content.is_array() {
        return Ok(());
    }
    Err(content_wrong(at))
}

fn all_answered(open: &[&str], at: usize) -> CheckResult {
    if open.is_empty() {
        return Ok(());
    }
    Err(Complaint::new(format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
        open.join(", ")
    ))
    .at(format!("messages.[{at}].role")))
}

fn text_needed(message: &Value, at: usize) -> CheckResult {
    match &message["content"] {
        Value::String(_) => Ok(()),
        Value::Array(parts) if !parts.is_empty() && parts.iter().all(|p| p["type"].is_string()) => {
            Ok(())
        }
        _ => Err(content_wrong(at)),
    }
}

/// A picture is a data URL of a type that models take, or an address.
fn check_pictures(message: &Value, at: usize) -> CheckResult {
    let parts = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    for part in parts.iter().filter(|part| part["type"] == "image_url") {
        let url = part["image_url"]["url"].as_str().unwrap_or_default();
        let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
        let taken = data.is_some_and(|(kind, data)| PICTURES.contains(&kind) && !data.is_empty());
        if !taken && !url.starts_with("https://") {
            return Err(Complaint::new(
                "You uploaded an unsupported image. Please make sure your image is valid.",
            )
            .at(format!("messages.[{at}].content"))
            .with_code("invalid_image_format"));
        }
    }
    Ok(())
}

/// The types of pictures that providers take.
pub(crate) const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

fn content_wrong(at: usize) -> Complaint {
    Complaint::new("Invalid value for 'content': expected a string or a non-empty array of parts.")
        .at(format!("messages.[{at}].content"))
}

/// The ids of an assistant message's calls, each well formed.
fn asks(message: &Value, at: usize) -> Result<Vec<&str>, Complaint> {
    let Some(calls) = message.get("tool_calls").filter(|calls| !calls.is_null()) else {
        if text_of(&message["content"]).is_empty() && message["content"].as_str().is_none() {
            return Err(content_wrong(at));
        }
        return Ok(vec![]);
    };
    let calls = calls
        .as_array()
        .filter(|calls| !calls.is_empty())
        .ok_or_else(|| Complaint::new(format!("[] is too short - 'messages.{at}.tool_calls'")))?;
    let mut ids = vec![];
    for (number, call) in calls.iter().enumerate() {
        let place = format!("messages[{at}].tool_calls[{number}]");
        let missing = |what: &str| {
            Complaint::new(format!("Missing required parameter: '{place}.{what}'."))
                .at(format!("{place}.{what}"))
        };
        let id = call["id"].as_str().filter(|id| !id.is_empty()).ok_or_else(|| missing("id"))?;
        if ids.contains(&id) {
            return Err(
                Complaint::new(format!("Duplicate value for 'tool_call_id' of '{id}'")).at(place)
            );
        }
        if call["type"] != "function" {
            return Err(missing("type"));
        }
        call["function"]["name"].as_str().ok_or_else(|| missing("function.name"))?;
        call["function"]["arguments"].as_str().ok_or_else(|| missing("function.arguments"))?;
        ids.push(id);
    }
    Ok(ids)
}

fn check_tools(body: &Value) -> CheckResult {
    let Some(tools) = body.get("tools").filter(|tools| !tools.is_null()) else { return Ok(()) };
    let tools = tools
        .as_array()
        .filter(|tools| !tools.is_empty())
        .ok_or_else(|| Complaint::new("[] is too short - 'tools'").at("tools"))?;
    if tools.len() > 128 {
        return Err(Complaint::new(format!(
            "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length {} instead.",
            tools.len()
        ))
        .at("tools")
        .with_code("array_above_max_length"));
    }
    let mut names = HashSet::new();
    for (at, tool) in tools.iter().enumerate() {
        let name = check_tool(tool, at)?;
        if !names.insert(name) {
            return Err(Complaint::new(format!("Tool names must be unique: '{name}'.")).at("tools"));
        }
    }
    Ok(())
}

fn check_tool(tool: &Value, at: usize) -> Result<&str, Complaint> {
    if tool["type"] != "function" {
        return Err(Complaint::new(format!("Missing required parameter: 'tools[{at}].type'."))
            .at(format!("tools[{at}].type")));
    }
    let name = tool["function"]["name"].as_str().unwrap_or_default();
    if !tool_name_fits(name, 64) {
        return Err(Complaint::new(format!(
            "Invalid 'tools[{at}].function.name': string does not match pattern '^[a-zA-Z0-9_-]+$' of 1 to 64 characters."
        ))
        .at(format!("tools[{at}].function.name")));
    }
    let parameters = tool["function"].get("parameters");
    if parameters.is_some_and(|schema| schema["type"] != "object") {
        return Err(Complaint::new(format!(
            "Invalid schema for function '{name}': schema must be a JSON Schema of 'type: \"object\"', got 'type: {}'.",
            parameters.map(|schema| schema["type"].to_string()).unwrap_or_default()
        ))
        .at(format!("tools[{at}].function.parameters"))
        .with_code("invalid_function_parameters"));
    }
    Ok(name)
}

/// Whether a tool's name has the form and length providers take.
pub(crate) fn tool_name_fits(name: &str, most: usize) -> bool {
    (1..=most).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
