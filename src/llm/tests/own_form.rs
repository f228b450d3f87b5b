//! What a provider marks as its own: it goes back to whoever wrote it, as it came, and to nobody else.

use serde_json::{Value, json};

use super::adapters::adapter;
use super::scripted::request;
use super::server::{Answer, Server};
use crate::{Reply, Request};
use selkie_domain::own_form::OwnForm;
use selkie_domain::transcript::{Answer as Answered, Turn};

fn events(all: &[Value]) -> Answer {
    let text: String = all.iter().map(|event| format!("data: {event}\n\n")).collect();
    Answer::stream(&text, 7)
}

/// Asks for the first answer, and puts it into a request of the given model with these words in place of the form.
async fn sent_back(
    provider: &str,
    answer: Answer,
    model: &str,
    own: impl FnOnce(Reply) -> Option<OwnForm>,
) -> Value {
    let server = Server::playing(vec![answer.clone(), answer]).await;
    let endpoint = &server.endpoint;
    let asked = |model: &str| {
        adapter(&format!(
            "{{ provider: {provider}, endpoint: '{endpoint}', api_key: k-k-k-k, model: {model} }}"
        ))
    };
    let reply = asked("m").ask(&request(20), &|_| {}).await.expect("a reply");
    let text = reply.text.clone();
    let answered =
        |call: &selkie_domain::transcript::Call| (call.clone(), Answered::words(&call.id, "ok"));
    let calls = reply.calls.iter().map(answered).collect();
    let turns = vec![Turn::User("hi".to_owned()), Turn::Calls { text, calls, own: own(reply) }];
    let second = Request { turns, ..request(20) };
    asked(model).ask(&second, &|_| {}).await.expect("a reply");
    let body = server.asked()[1].body.clone();
    let mut all = body["messages"].as_array().expect("messages").iter();
    all.find(|message| message["role"] == "assistant").expect("an answer").clone()
}

/// Thoughts, a list in pieces, two calls of which the first is marked.
fn chat() -> Answer {
    let delta = |delta: Value| json!({ "choices": [{ "delta": delta }] });
    let detail = |text: &str, signature: Value| {
        let detail =
            json!({ "type": "reasoning.text", "index": 0, "text": text, "signature": signature });
        delta(json!({ "reasoning_details": [detail] }))
    };
    let call = |at: u32, mark: Value| {
        let function = json!({ "name": "read_file", "arguments": "{\"path\":\"a\"}" });
        let call = json!({ "index": at, "id": format!("x{at}"), "function": function, "extra_content": mark });
        delta(json!({ "tool_calls": [call] }))
    };
    let end = json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] });
    events(&[
        delta(json!({ "reasoning_content": "first " })),
        delta(json!({ "reasoning_content": "second" })),
        detail("one ", Value::Null),
        detail("two", json!("c2ln")),
        call(0, json!({ "google": { "thought_signature": "c2ln/+==" } })),
        call(1, Value::Null),
        end,
    ])
}

fn messages() -> Answer {
    let start = |at: u32, block: Value| json!({ "type": "content_block_start", "index": at, "content_block": block });
    let delta = |at: u32, delta: Value| json!({ "type": "content_block_delta", "index": at, "delta": delta });
    events(&[
        start(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
        delta(0, json!({ "type": "thinking_delta", "thinking": "let me " })),
        delta(0, json!({ "type": "thinking_delta", "thinking": "see" })),
        delta(0, json!({ "type": "signature_delta", "signature": "c2ln" })),
        start(1, json!({ "type": "redacted_thinking", "data": "aGlkZGVu" })),
        start(2, json!({ "type": "text", "text": "" })),
        delta(2, json!({ "type": "text_delta", "text": "Looking." })),
        start(3, json!({ "type": "tool_use", "id": "t", "name": "read_file", "input": {} })),
        delta(3, json!({ "type": "input_json_delta", "partial_json": "{\"path\":\"a\"}" })),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }),
        json!({ "type": "message_stop" }),
    ])
}

#[tokio::test]
async fn it_goes_back_as_it_came() {
    let sent = sent_back("openai", chat(), "m", |reply| reply.own).await;
    assert_eq!(sent["reasoning_content"], "first second");
    let detail =
        json!([{ "type": "reasoning.text", "index": 0, "text": "one two", "signature": "c2ln" }]);
    assert_eq!(sent["reasoning_details"], detail);
    let calls = &sent["tool_calls"];
    let mark = json!({ "google": { "thought_signature": "c2ln/+==" } });
    assert_eq!((&calls[0]["extra_content"], &calls[1]["extra_content"]), (&mark, &Value::Null));
    assert_eq!((&calls[0]["id"], &calls[1]["id"]), (&json!("call_0"), &json!("call_1")));

    let sent = sent_back("anthropic", messages(), "m", |reply| reply.own).await;
    let blocks = json!([
        { "type": "thinking", "thinking": "let me see", "signature": "c2ln" },
        { "type": "redacted_thinking", "data": "aGlkZGVu" },
        { "type": "text", "text": "Looking." },
        { "type": "tool_use", "id": "call_0", "name": "read_file", "input": { "path": "a" } },
    ]);
    assert_eq!(sent["content"], blocks);
}

#[tokio::test]
async fn another_model_and_another_address_read_nothing_of_it() {
    for (provider, answer) in [("openai", chat()), ("anthropic", messages())] {
        let elsewhere =
            |reply: Reply| reply.own.map(|own| OwnForm { origin: "elsewhere".into(), ..own });
        let others = [
            sent_back(provider, answer.clone(), "other", |reply| reply.own).await,
            sent_back(provider, answer.clone(), "m", elsewhere).await,
            sent_back(provider, answer, "m", |_| None).await,
        ];
        for sent in others {
            let text = sent.to_string();
            let is_plain = !["c2ln", "reasoning", "thinking", "extra_content"]
                .iter()
                .any(|own| text.contains(own));
            assert!(is_plain && text.contains("call_0"), "{text}");
        }
    }
}

#[tokio::test]
async fn an_answer_of_words_and_calls_alone_has_no_form_of_its_own() {
    let openai = r#"{"choices":[{"message":{"content":"x","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{}"}}]}}]}"#;
    let anthropic = r#"{"type":"message","content":[{"type":"tool_use","id":"t","name":"a","input":{}}],"stop_reason":"tool_use"}"#;
    for (provider, body) in [("openai", openai), ("anthropic", anthropic)] {
        let reply =
            super::adapters::once(provider, Answer::json(200, body)).await.expect("a reply");
        assert_eq!(reply.own, None, "{provider}");
    }
}
