//! The model servers against a real HTTP client: refusals, scripts, streams.

use serde_json::{Value, json};

use super::*;
use crate::playground::Playground;
use crate::testing::{client, lifted};

async fn openai(playground: &Playground, body: &Value) -> reqwest::Result<reqwest::Response> {
    let url = format!("{}/chat/completions", playground.model_endpoint());
    client().post(url).json(body).send().await
}

async fn anthropic(playground: &Playground, body: &Value) -> reqwest::Result<reqwest::Response> {
    let url = format!("{}/messages", playground.anthropic_endpoint());
    let request =
        client().post(url).header("x-api-key", "k").header("anthropic-version", "2023-06-01");
    request.json(body).send().await
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn asks(ids: &[&str]) -> Value {
    let calls: Vec<Value> = ids
        .iter()
        .map(|id| json!({"id": id, "type": "function", "function": {"name": "think", "arguments": "{}"}}))
        .collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn told(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "done"})
}

#[tokio::test]
async fn openai_refuses_malformed_histories() {
    let playground = lifted().await;
    let table = [
        (json!([]), "Invalid 'messages'"),
        (json!([told("a")]), "Invalid parameter: messages with role 'tool'"),
        (json!([user("x"), asks(&["a"])]), "An assistant message with 'tool_calls'"),
        (
            json!([user("x"), asks(&["a", "b"]), told("a"), user("y")]),
            "An assistant message with 'tool_calls'",
        ),
        (
            json!([user("x"), asks(&["a"]), told("a"), told("a")]),
            "Invalid parameter: messages with role 'tool'",
        ),
        (json!([user("x"), asks(&["a", "a"]), told("a")]), "Duplicate value for 'tool_call_id'"),
        (
            json!([user("x"), asks(&["a"]), told("b")]),
            "Invalid parameter: messages with role 'tool'",
        ),
        (json!([user("x"), asks(&[])]), "[] is too short"),
        (
            json!([{"role": "assistant", "content": "hi"}, user("x")]),
            "Conversation roles must begin",
        ),
        (json!([{"role": "system", "content": "s"}]), "Conversation has no user message"),
        (json!([{"role": "user", "content": null}]), "Invalid value for 'content'"),
        (json!([{"role": "wizard", "content": "x"}]), "Invalid value: 'wizard'"),
    ];
    for (messages, words) in table {
        let answer =
            openai(&playground, &json!({"model": "m", "messages": messages})).await.unwrap();
        assert_eq!(answer.status(), 400, "{messages}");
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["error"]["type"], "invalid_request_error");
        let message = body["error"]["message"].as_str().unwrap();
        assert!(message.starts_with(words), "{messages}: {message}");
    }
    let good = json!([user("x"), asks(&["a", "b"]), told("b"), told("a")]);
    let answer = openai(&playground, &json!({"model": "m", "messages": good})).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(playground.model().calls(), 13);
    assert_eq!(
        playground.model().requests().iter().filter(|asked| asked.refused.is_none()).count(),
        1
    );
}

#[tokio::test]
async fn openai_refuses_bad_tools_and_missing_fields() {
    let playground = lifted().await;
    let tool = |name: &str, schema: Value| json!({"type": "function", "function": {"name": name, "parameters": schema}});
    let object = json!({"type": "object"});
    let table = [
        (json!({"messages": [user("x")]}), "you must provide a model"),
        (json!({"model": "m", "messages": [user("x")], "tools": []}), "[] is too short"),
        (
            json!({"model": "m", "messages": [user("x")], "tools": [tool("a", json!({"type": "string"}))]}),
            "Invalid schema for function 'a'",
        ),
        (
            json!({"model": "m", "messages": [user("x")], "tools": [tool("a b", object.clone())]}),
            "Invalid 'tools[0].function.name'",
        ),
        (
            json!({"model": "m", "messages": [user("x")], "tools": [tool("a", object.clone()), tool("a", object)]}),
            "Tool names must be unique",
        ),
        (
            json!({"model": "m", "messages": [user("x")], "stream_options": {"include_usage": true}}),
            "The 'stream_options' parameter",
        ),
    ];
    for (body, words) in table {
        let answer = openai(&playground, &body).await.unwrap();
        assert_eq!(answer.status(), 400, "{body}");
        let answer: Value = answer.json().await.unwrap();
        assert!(answer["error"]["message"].as_str().unwrap().starts_with(words), "{answer}");
    }
}

#[tokio::test]
async fn openai_plays_its_script() {
    let playground = lifted().await;
    let body = json!({"model": "m", "messages": [user("hello")]});
    playground.model().script(vec![
        Turn::calls([("think", "{}".to_owned()), ("read_file", "{broken".to_owned())]),
        Turn::Refuse { status: 429, message: "slow".into(), code: None, retry_after: Some(9) },
        Turn::OkError { message: "inside".into() },
        Turn::Empty,
        Turn::HangUp,
        Turn::text("late").delayed(1),
    ]);
    playground.model().script_for("other talk", vec![Turn::text("keyed")]);
    let called: Value = openai(&playground, &body).await.unwrap().json().await.unwrap();
    let calls = &called["choices"][0]["message"]["tool_calls"];
    assert_eq!(calls[1]["function"]["arguments"], "{broken");
    assert_ne!(calls[0]["id"], calls[1]["id"]);
    let refused = openai(&playground, &body).await.unwrap();
    assert_eq!(
        (refused.status().as_u16(), &refused.headers()["retry-after"]),
        (429, &"9".parse().unwrap())
    );
    let other = json!({"model": "m", "messages": [user("other talk")]});
    let keyed: Value = openai(&playground, &other).await.unwrap().json().await.unwrap();
    assert_eq!(keyed["choices"][0]["message"]["content"], "keyed");
    let inside: Value = openai(&playground, &body).await.unwrap().json().await.unwrap();
    assert_eq!(inside["error"]["message"], "inside");
    let empty: Value = openai(&playground, &body).await.unwrap().json().await.unwrap();
    assert_eq!(empty["choices"][0]["message"]["content"], "");
    assert!(openai(&playground, &body).await.unwrap_err().is_request());
    for words in ["late", "echo: hello"] {
        let said: Value = openai(&playground, &body).await.unwrap().json().await.unwrap();
        assert_eq!(said["choices"][0]["message"]["content"], words);
    }
    assert_eq!(playground.model().turns_left(), 0);
    playground.model().wait_for_calls(8).await;
}

#[tokio::test]
async fn openai_streams_and_breaks_streams() {
    let playground = lifted().await;
    let body = json!({
        "model": "m", "messages": [user("héllo")], "stream": true,
        "stream_options": {"include_usage": true},
    });
    let text = openai(&playground, &body).await.unwrap().text().await.unwrap();
    let mut events: Vec<&str> = text.split("\n\n").filter(|event| !event.is_empty()).collect();
    assert_eq!(events.pop(), Some("data: [DONE]"));
    let chunks: Vec<Value> = events
        .iter()
        .map(|event| serde_json::from_str(&event["data: ".len()..]).unwrap())
        .collect();
    let said: String = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(said, "echo: héllo");
    let last = chunks.last().unwrap();
    assert_eq!(last["choices"], json!([]));
    assert!(last["usage"]["total_tokens"].as_u64().unwrap() > 0);
    playground.model().script(vec![Turn::CutStream { text: "half".into() }]);
    let mut broken = openai(&playground, &body).await.unwrap();
    assert_eq!(broken.status(), 200);
    let first = broken.chunk().await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&first).contains("half"));
    assert!(broken.chunk().await.is_err());
}

#[tokio::test]
async fn each_fresh_user_message_is_echoed_on_demand() {
    let playground = lifted().await;
    playground.model().set_behaviour(Behaviour::EchoEach);
    let old = json!({"role": "assistant", "content": "old"});
    let body = json!({"model": "m", "messages": [user("a"), old, user("b"), user("c")]});
    let said: Value = openai(&playground, &body).await.unwrap().json().await.unwrap();
    assert_eq!(said["choices"][0]["message"]["content"], "echo: b\necho: c");
}

fn uses(ids: &[&str]) -> Value {
    let blocks: Vec<Value> = ids
        .iter()
        .map(|id| json!({"type": "tool_use", "id": id, "name": "think", "input": {}}))
        .collect();
    json!({"role": "assistant", "content": blocks})
}

fn results(ids: &[&str]) -> Value {
    let blocks: Vec<Value> = ids
        .iter()
        .map(|id| json!({"type": "tool_result", "tool_use_id": id, "content": "done"}))
        .collect();
    json!({"role": "user", "content": blocks})
}

#[tokio::test]
async fn anthropic_refuses_malformed_histories() {
    let playground = lifted().await;
    let late = json!({"role": "user", "content": [
        {"type": "text", "text": "first words"}, {"type": "tool_result", "tool_use_id": "a", "content": "x"},
    ]});
    let table = [
        (json!([uses(&["a"])]), "messages: first message must use"),
        (json!([user("x"), uses(&["a"])]), "messages.1: `tool_use` ids were found without"),
        (
            json!([user("x"), uses(&["a", "b"]), results(&["a"]), results(&["b"])]),
            "messages.1: `tool_use` ids were found without",
        ),
        (
            json!([user("x"), uses(&["a"]), user("y")]),
            "messages.1: `tool_use` ids were found without",
        ),
        (json!([user("x"), uses(&["a"]), late]), "messages.1: `tool_use` ids were found without"),
        (json!([results(&["a"])]), "messages.0.content.0: unexpected `tool_use_id`"),
        (
            json!([user("x"), uses(&["a", "a"]), results(&["a"])]),
            "messages.1.content.1: `tool_use` ids must be unique",
        ),
        (json!([user("")]), "messages.0: all messages must have non-empty content"),
        (
            json!([{"role": "user", "content": [{"type": "text", "text": " "}]}]),
            "messages: text content blocks must be non-empty",
        ),
        (json!([user("x"), {"role": "system", "content": "s"}]), "messages.1.role"),
    ];
    for (messages, words) in table {
        let body = json!({"model": "m", "max_tokens": 10, "messages": messages});
        let answer = anthropic(&playground, &body).await.unwrap();
        assert_eq!(answer.status(), 400, "{messages}");
        let answer: Value = answer.json().await.unwrap();
        assert_eq!(
            (&answer["type"], &answer["error"]["type"]),
            (&json!("error"), &json!("invalid_request_error"))
        );
        assert!(
            answer["error"]["message"].as_str().unwrap().starts_with(words),
            "{messages}: {answer}"
        );
    }
    let missing =
        anthropic(&playground, &json!({"model": "m", "messages": [user("x")]})).await.unwrap();
    assert!(missing.text().await.unwrap().contains("max_tokens: Field required"));
    let good = json!([user("x"), uses(&["a", "b"]), results(&["b", "a"])]);
    let good = json!({"model": "m", "max_tokens": 10, "messages": good});
    assert_eq!(anthropic(&playground, &good).await.unwrap().status(), 200);
}

#[tokio::test]
async fn anthropic_answers_whole_and_streamed() {
    let playground = lifted().await;
    let mut body = json!({"model": "m", "max_tokens": 10, "messages": [user("hello")]});
    let said: Value = anthropic(&playground, &body).await.unwrap().json().await.unwrap();
    assert_eq!(said["content"][0]["text"], "echo: hello");
    assert_eq!(said["stop_reason"], "end_turn");
    playground.model().script(vec![Turn::call("think", json!({"thought": "x"}))]);
    body["stream"] = json!(true);
    let text = anthropic(&playground, &body).await.unwrap().text().await.unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = data.map(|data| serde_json::from_str(data).unwrap()).collect();
    let arguments: String =
        events.iter().filter_map(|event| event["delta"]["partial_json"].as_str()).collect();
    assert_eq!(arguments, "{\"thought\":\"x\"}");
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("message_start", "message_stop"));
    playground.model().script(vec![Turn::refuse(529, "busy")]);
    let busy = anthropic(&playground, &body).await.unwrap();
    assert_eq!(busy.status(), 529);
    assert!(busy.text().await.unwrap().contains("overloaded_error"));
}

#[test]
fn a_turn_is_read_from_json() {
    let text = r#"[{"kind":"text","text":"hi"},{"kind":"delay","ms":5,"then":{"kind":"empty"}}]"#;
    let turns: Vec<Turn> = serde_json::from_str(text).unwrap();
    assert_eq!(turns, [Turn::text("hi"), Turn::Empty.delayed(5)]);
}
