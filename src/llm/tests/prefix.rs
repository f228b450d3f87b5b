//! A request begins with what the one before it was: provider caches read it, and thoughts are bound to it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::adapters::{adapter, full, says};
use super::server::{Answer, Server};
use crate::{Model, Request};
use selkie_domain::own_form::OwnForm;
use selkie_domain::transcript::{Answer as Answered, Call, Turn};

/// Answers with thoughts and a call, and the field of a request that grows.
fn api(name: &str) -> (Answer, &'static str) {
    let call =
        json!({ "type": "function_call", "call_id": "x", "name": "read_file", "arguments": "{}" });
    let thoughts = json!({ "type": "reasoning", "id": "rs", "encrypted_content": "c2ln" });
    let (body, field) = match name {
        "responses" => (json!({ "status": "completed", "output": [thoughts, call] }), "input"),
        "messages" => {
            let thoughts = json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln" });
            let call = json!({ "type": "tool_use", "id": "x", "name": "read_file", "input": {} });
            (json!({ "content": [thoughts, call], "stop_reason": "tool_use" }), "messages")
        }
        _ => {
            let function = json!({ "name": "read_file", "arguments": "{}" });
            let message = json!({ "reasoning_content": "hm", "tool_calls": [{ "id": "x", "function": function }] });
            (
                json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] }),
                "messages",
            )
        }
    };
    (Answer::json(200, &body.to_string()), field)
}

/// Without the marks of caches, which move on.
fn unmarked(mut value: Value) -> Value {
    match &mut value {
        Value::Array(items) => items.iter_mut().for_each(|item| *item = unmarked(item.take())),
        Value::Object(fields) => {
            fields.shift_remove("cache_control");
            fields.values_mut().for_each(|field| *field = unmarked(field.take()));
        }
        _ => {}
    }
    value
}

/// The items of a request's list; those of messages that hold several one by one.
fn items(body: &Value, field: &str) -> Vec<String> {
    let list = unmarked(body[field].clone());
    let of = |message: &Value| match &message["content"] {
        Value::Array(blocks) => blocks.iter().map(|b| format!("{} {b}", message["role"])).collect(),
        _ => vec![message.to_string()],
    };
    list.as_array().expect("a list").iter().flat_map(of).collect()
}

#[tokio::test]
async fn a_step_sends_what_the_step_before_it_sent_and_more() {
    for name in ["chat", "responses", "messages"] {
        let (answer, field) = api(name);
        let server = Server::playing(vec![answer; 3]).await;
        let endpoint = &server.endpoint;
        let model: Arc<dyn Model> = adapter(&format!(
            "{{ api: {name}, endpoint: '{endpoint}', api_key: k-k-k-k, model: m }}"
        ));
        let mut request = full();
        for _ in 0..3 {
            let reply = model.ask(&request, &|_| {}).await.expect("a reply");
            let answered = |call: Call| (call.clone(), Answered::words(&call.id, "ok"));
            let calls = reply.calls.into_iter().map(answered).collect();
            let own: Option<OwnForm> = reply.own;
            assert!(own.is_some(), "{name}");
            request.turns.push(Turn::Calls { text: reply.text, calls, own });
        }
        let bodies: Vec<Value> = server.asked().into_iter().map(|asked| asked.body).collect();
        for (before, after) in bodies.iter().zip(&bodies[1..]) {
            let (short, long) = (items(before, field), items(after, field));
            assert!(
                short.len() < long.len() && long.starts_with(&short),
                "{name}: {short:#?} {long:#?}"
            );
            for same in ["system", "instructions", "tools"] {
                assert_eq!(before[same].to_string(), after[same].to_string(), "{name}");
            }
        }
    }
}

#[tokio::test]
async fn a_last_step_lists_the_same_tools() {
    let server = Server::playing(vec![Answer::json(200, &says("ok")); 2]).await;
    let endpoint = &server.endpoint;
    let model = adapter(&format!("{{ api: chat, endpoint: '{endpoint}', api_key: k-k-k-k }}"));
    for may_call in [true, false] {
        model.ask(&Request { may_call, ..full() }, &|_| {}).await.expect("a reply");
    }
    let bodies: Vec<Value> = server.asked().into_iter().map(|asked| asked.body).collect();
    assert_eq!(bodies[0]["tools"].to_string(), bodies[1]["tools"].to_string());
    assert_eq!(bodies[1]["tool_choice"], "none");
}
