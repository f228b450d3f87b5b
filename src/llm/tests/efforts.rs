//! How hard a model is to think, in the words of each API, and what a server makes known that it does not take.

use serde_json::{Value, json};

use super::adapters::{adapter, full, says};
use super::server::{Answer, Server};
use crate::Request;
use selkie_domain::effort::Effort;

fn no(what: &str) -> Answer {
    Answer::json(400, &json!({ "error": { "message": what } }).to_string())
}

fn good(api: &str) -> Answer {
    let text = json!([{ "type": "text", "text": "ok" }]);
    let output = json!([{ "type": "message", "content": text }]);
    Answer::json(
        200,
        &match api {
            "responses" => json!({ "status": "completed", "output": output }).to_string(),
            "messages" => json!({ "content": text, "stop_reason": "end_turn" }).to_string(),
            _ => says("ok"),
        },
    )
}

/// Asks once for each of the efforts, and returns all that was sent.
async fn sent(api: &str, more: &str, refusals: &[&str], efforts: &[Option<Effort>]) -> Vec<Value> {
    let mut answers: Vec<Answer> = refusals.iter().map(|what| no(what)).collect();
    answers.extend(efforts.iter().map(|_| good(api)));
    let server = Server::playing(answers).await;
    let endpoint = &server.endpoint;
    let model = adapter(&format!(
        "{{ api: {api}, endpoint: '{endpoint}', api_key: k-k-k-k, model: m{more} }}"
    ));
    for effort in efforts {
        let request = Request { effort: *effort, ..full() };
        model.ask(&request, &|_| {}).await.expect("a reply");
    }
    server.asked().into_iter().map(|asked| asked.body).collect()
}

/// Where each API has its level.
fn level(api: &str, body: &Value) -> Value {
    match api {
        "responses" => body["reasoning"]["effort"].clone(),
        "messages" => body["output_config"]["effort"].clone(),
        _ => body["reasoning_effort"].clone(),
    }
}

const APIS: [&str; 3] = ["chat", "responses", "messages"];

#[tokio::test]
async fn an_effort_is_sent_where_one_is_set() {
    for api in APIS {
        let bodies = sent(api, "", &[], &[None, Some(Effort::Xhigh)]).await;
        let levels: Vec<Value> = bodies.iter().map(|body| level(api, body)).collect();
        assert_eq!(levels, [Value::Null, json!("xhigh")], "{api}");
        let bodies = sent(api, ", effort: low", &[], &[None, Some(Effort::High)]).await;
        let levels: Vec<Value> = bodies.iter().map(|body| level(api, body)).collect();
        assert_eq!(levels, ["low", "high"], "{api}: the profile's own, and the task's over it");
    }
    let bodies =
        sent("messages", "", &[], &[None, Some(Effort::None), Some(Effort::Minimal)]).await;
    let thinking: Vec<&Value> = bodies.iter().map(|body| &body["thinking"]["type"]).collect();
    assert_eq!(thinking, [&Value::Null, &json!("disabled"), &json!("adaptive")]);
    assert_eq!(level("messages", &bodies[2]), "low", "the API has no word for less");
}

#[tokio::test]
async fn a_level_that_a_model_refuses_becomes_the_nearest_it_takes() {
    for api in APIS {
        let listed = "Unsupported value: effort does not support 'max'. Supported values are: 'low', 'medium'.";
        let bodies = sent(api, "", &[listed], &[Some(Effort::Max), Some(Effort::Max)]).await;
        let levels: Vec<Value> = bodies.iter().map(|body| level(api, body)).collect();
        assert_eq!(levels, ["max", "medium", "medium"], "{api}");

        let unknown = "Unrecognized request argument supplied: effort";
        let bodies = sent(api, "", &[unknown], &[Some(Effort::High), Some(Effort::High)]).await;
        let levels: Vec<Value> = bodies.iter().map(|body| level(api, body)).collect();
        assert_eq!(levels, [json!("high"), Value::Null, Value::Null], "{api}");
    }
    let always = ["thinking cannot be disabled on this model"];
    let bodies = sent("messages", "", &always, &[Some(Effort::None)]).await;
    assert_eq!(bodies[1]["thinking"]["type"], "adaptive");
    assert_eq!(bodies[1]["output_config"]["effort"], "low");
    let older = ["adaptive thinking is not supported on this model"];
    let bodies = sent("messages", "", &older, &[Some(Effort::High)]).await;
    assert_eq!(
        (&bodies[1]["thinking"], level("messages", &bodies[1])),
        (&Value::Null, json!("high"))
    );
}

#[tokio::test]
async fn tools_that_need_a_model_without_thoughts_get_one_where_there_is_no_other_door() {
    let refusal = "Function tools with reasoning_effort are not supported for m in /v1/chat/completions. \
                   To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
    let bodies = sent("chat", "", &[refusal], &[None, Some(Effort::High)]).await;
    let levels: Vec<Value> = bodies.iter().map(|body| level("chat", body)).collect();
    assert_eq!(levels, [json!(null), json!("none"), json!("none")]);
}

#[tokio::test]
async fn thoughts_of_a_changed_conversation_are_dropped_from_then_on() {
    let bound = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different \
                 conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior`.";
    let server = Server::playing(vec![no(bound), good("messages"), good("messages")]).await;
    let endpoint = &server.endpoint;
    let model =
        adapter(&format!("{{ provider: anthropic, endpoint: '{endpoint}', api_key: k-k-k-k }}"));
    for _ in 0..2 {
        model.ask(&full(), &|_| {}).await.expect("a reply");
    }
    let asked = server.asked();
    let beta = "anthropic-beta: thinking-binding-controls-2026-08-01";
    let betas: Vec<bool> = asked.iter().map(|asked| asked.head.contains(beta)).collect();
    assert_eq!(betas, [false, true, true]);
    let drop = json!({ "type": "adaptive", "block_binding": { "prefix_mismatch_behavior": "drop_block" } });
    assert_eq!((&asked[0].body["thinking"], &asked[2].body["thinking"]), (&Value::Null, &drop));
}

#[tokio::test]
async fn a_refused_tool_choice_is_left_out_from_then_on() {
    for api in APIS {
        let server = Server::playing(vec![no("tool_choice: not supported"), good(api)]).await;
        let endpoint = &server.endpoint;
        let model = adapter(&format!("{{ api: {api}, endpoint: '{endpoint}', api_key: k-k-k-k }}"));
        let last = Request { may_call: false, ..full() };
        model.ask(&last, &|_| {}).await.expect("a reply");
        let has: Vec<bool> =
            server.asked().iter().map(|asked| !asked.body["tool_choice"].is_null()).collect();
        assert_eq!(has, [true, false], "{api}");
        assert!(server.asked()[1].body["tools"].is_array(), "{api}");
    }
}
