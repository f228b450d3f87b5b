//! A request as a talk: who said what, what was called and answered, in one form for all dialects.

use serde_json::{Value, json};

/// What a request tells of a talk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    /// Its turns, oldest first, without what the system says.
    pub turns: Vec<TalkTurn>,
    /// The tools that may be called.
    pub tools: Vec<ListedTool>,
}

/// A turn of a talk.
#[derive(Clone, Debug, PartialEq)]
pub enum TalkTurn {
    /// A person's words.
    User(String),
    /// The model's.
    Assistant(String),
    /// What it called, with the words beside that.
    Calls {
        /// The words.
        text: String,
        /// The calls of one answer.
        calls: Vec<AnsweredCall>,
    },
}

impl TalkTurn {
    /// A person's words.
    pub fn user(&self) -> Option<&str> {
        if let Self::User(text) = self { Some(text) } else { None }
    }
}

/// A call and its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct AnsweredCall {
    /// The tool.
    pub name: String,
    /// JSON.
    pub arguments: String,
    /// The answer's words.
    pub answer: String,
    /// The answer is an error, where the dialect can say so.
    pub is_error: bool,
}

/// A tool as a request lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedTool {
    /// Its name.
    pub name: String,
    /// For the model.
    pub description: String,
}

/// Reads a chat completions request.
pub(super) fn of_chat(body: &Value) -> Conversation {
    let may_call = body["tool_choice"] != "none";
    Conversation { turns: turns(&list(&body["messages"])), tools: tools(body, may_call) }
}

/// Reads a Messages request.
pub(super) fn of_messages(body: &Value) -> Conversation {
    let may_call = body["tool_choice"]["type"] != "none";
    let messages: Vec<Value> = list(&body["messages"]).iter().flat_map(chat_of_message).collect();
    Conversation { turns: turns(&messages), tools: tools(body, may_call) }
}

/// Reads a Responses request.
pub(super) fn of_responses(body: &Value) -> Conversation {
    let may_call = body["tool_choice"] != "none";
    Conversation { turns: turns(&chat_of_input(&body["input"])), tools: tools(body, may_call) }
}

/// A Responses input as messages of the chat dialect.
pub(super) fn chat_of_input(input: &Value) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::new();
    if let Value::String(text) = input {
        messages.push(json!({ "role": "user", "content": text }));
    }
    for item in &list(input) {
        match item["type"].as_str() {
            Some("function_call") => {
                let call = json!({ "id": item["call_id"], "function": item });
                let last = messages.last_mut().filter(|last| last["role"] == "assistant");
                match last.and_then(Value::as_object_mut) {
                    Some(last) => {
                        let calls = last.entry("tool_calls").or_insert_with(|| json!([]));
                        calls.as_array_mut().into_iter().for_each(|calls| calls.push(call.clone()));
                    }
                    None => messages.push(json!({ "role": "assistant", "tool_calls": [call] })),
                }
            }
            Some("function_call_output") => messages.push(json!({
                "role": "tool", "tool_call_id": item["call_id"], "content": item["output"],
            })),
            Some("reasoning") => {}
            _ => messages.push(item.clone()),
        }
    }
    messages
}

/// A message of Anthropic's dialect as messages of the chat dialect: each text of a person is one of its own.
fn chat_of_message(message: &Value) -> Vec<Value> {
    let Some(blocks) = message["content"].as_array() else { return vec![message.clone()] };
    let texts = blocks.iter().filter(|block| block["type"] == "text");
    if message["role"] == "assistant" {
        let call = |block: &Value| {
            let arguments = block["input"].to_string();
            json!({ "id": block["id"], "function": { "name": block["name"], "arguments": arguments } })
        };
        let calls = blocks.iter().filter(|block| block["type"] == "tool_use").map(call);
        let calls: Vec<Value> = calls.collect();
        let text: Vec<&Value> = texts.collect();
        let mut said = json!({ "role": "assistant", "content": text });
        if !calls.is_empty() {
            said["tool_calls"] = json!(calls);
        }
        return vec![said];
    }
    let result = |block: &Value| {
        json!({
            "role": "tool", "tool_call_id": block["tool_use_id"], "content": block["content"],
            "is_error": block["is_error"],
        })
    };
    let results = blocks.iter().filter(|block| block["type"] == "tool_result").map(result);
    results.chain(texts.map(|text| json!({ "role": "user", "content": [text] }))).collect()
}

fn turns(messages: &[Value]) -> Vec<TalkTurn> {
    let answer_to = |at: usize, id: &Value| {
        let mut later = messages[at..].iter().filter(|message| message["role"] == "tool");
        later.find(|message| message["tool_call_id"] == *id)
    };
    let mut turns = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let text = text_of(&message["content"]);
        let calls = list(&message["tool_calls"]);
        let calls = calls.iter().map(|call| {
            let word =
                |field: &str| call["function"][field].as_str().unwrap_or_default().to_owned();
            let answer = answer_to(at, &call["id"]);
            AnsweredCall {
                name: word("name"),
                arguments: word("arguments"),
                answer: answer.map(|answer| text_of(&answer["content"])).unwrap_or_default(),
                is_error: answer.is_some_and(|answer| answer["is_error"] == true),
            }
        });
        let calls: Vec<AnsweredCall> = calls.collect();
        match message["role"].as_str() {
            Some("user") => turns.push(TalkTurn::User(text)),
            Some("assistant") if !calls.is_empty() => turns.push(TalkTurn::Calls { text, calls }),
            Some("assistant") => turns.push(TalkTurn::Assistant(text)),
            _ => {}
        }
    }
    turns
}

fn tools(body: &Value, may_call: bool) -> Vec<ListedTool> {
    let tool = |tool: &Value| {
        let tool = if tool["function"].is_object() { &tool["function"] } else { tool };
        let word = |field: &str| tool[field].as_str().unwrap_or_default().to_owned();
        ListedTool { name: word("name"), description: word("description") }
    };
    let listed = list(&body["tools"]);
    listed.iter().filter(|_| may_call).map(tool).collect()
}

/// A message's text, whole or in parts.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_dialects_tell_one_talk() {
        let called = AnsweredCall {
            name: "look".into(),
            arguments: "{\"a\":1}".into(),
            answer: "seen".into(),
            is_error: false,
        };
        let talk = Conversation {
            turns: vec![
                TalkTurn::User("hi".into()),
                TalkTurn::Calls { text: "let me see".into(), calls: vec![called] },
                TalkTurn::User("quick".into()),
            ],
            tools: vec![ListedTool { name: "look".into(), description: "Looks.".into() }],
        };
        let flat = json!({ "type": "function", "name": "look", "description": "Looks." });
        let call = json!({ "name": "look", "arguments": "{\"a\":1}" });
        let chat = json!({
            "tools": [{ "type": "function", "function": flat }],
            "messages": [
                { "role": "system", "content": "be kind" },
                { "role": "user", "content": "hi" },
                { "role": "assistant", "content": "let me see", "tool_calls": [{ "id": "c", "function": call }] },
                { "role": "tool", "tool_call_id": "c", "content": "seen" },
                { "role": "user", "content": "quick" },
            ],
        });
        assert_eq!(of_chat(&chat), talk);
        let messages = json!({
            "tools": [{ "name": "look", "description": "Looks." }],
            "messages": [
                { "role": "user", "content": "hi" },
                { "role": "assistant", "content": [
                    { "type": "thinking", "thinking": "hm" },
                    { "type": "text", "text": "let me see" },
                    { "type": "tool_use", "id": "c", "name": "look", "input": { "a": 1 } },
                ] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "c", "content": "seen" },
                    { "type": "text", "text": "quick" },
                ] },
            ],
        });
        assert_eq!(of_messages(&messages), talk);
        let responses = json!({
            "tools": [flat],
            "input": [
                { "role": "user", "content": [{ "type": "input_text", "text": "hi" }] },
                { "type": "reasoning", "id": "rs_1" },
                { "role": "assistant", "content": [{ "type": "output_text", "text": "let me see" }] },
                { "type": "function_call", "call_id": "c", "name": "look", "arguments": "{\"a\":1}" },
                { "type": "function_call_output", "call_id": "c", "output": "seen" },
                { "role": "user", "content": "quick" },
            ],
        });
        assert_eq!(of_responses(&responses), talk);
    }
}
