//! Every rule of every family, against a real HTTP client: what is taken, and what is refused with which words.

mod openai;

use serde_json::{Value, json};

use super::*;
use crate::model::Turn;
use crate::playground::Playground;
use crate::testing::{client, lifted};

struct Server(Playground);

impl Server {
    async fn of(family: Family) -> Self {
        let playground = lifted().await;
        playground.model().set_family(family);
        Self(playground)
    }

    /// Sends a body; the answer, or the words of the refusal.
    async fn ask(&self, path: &str, beta: &str, body: &Value) -> Result<Value, String> {
        let base = self.0.url();
        let request = client()
            .post(format!("{base}/model{path}"))
            .header("x-api-key", "k")
            .header("anthropic-version", "2023-06-01")
            .header("anthropic-beta", beta);
        let answer = request.json(body).send().await.unwrap();
        let status = answer.status();
        let answer: Value = answer.json().await.unwrap();
        let error = answer.get(0).unwrap_or(&answer)["error"]["message"].as_str();
        match error {
            Some(words) => Err(words.to_owned()),
            None if status == 200 => Ok(answer),
            None => panic!("{status}: {answer}"),
        }
    }

    async fn chat(&self, body: &Value) -> Result<Value, String> {
        self.ask("/v1/chat/completions", "", body).await
    }

    async fn responses(&self, body: &Value) -> Result<Value, String> {
        self.ask("/v1/responses", "", body).await
    }

    async fn messages(&self, beta: &str, body: &Value) -> Result<Value, String> {
        self.ask("/anthropic/v1/messages", beta, body).await
    }

    fn calls(&self) {
        self.0.model().script(vec![Turn::call("look", json!({ "a": 1 }))]);
    }
}

fn says(refused: &Result<Value, String>, words: &str) {
    assert!(refused.as_ref().is_err_and(|said| said.contains(words)), "{words}: {refused:?}");
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn with(body: &Value, field: &str, value: Value) -> Value {
    let mut body = body.clone();
    body[field] = value;
    body
}

#[tokio::test]
async fn claude_wants_the_thoughts_of_a_turn_back_as_they_were() {
    for family in [Family::Claude, Family::ClaudeBound] {
        let server = Server::of(family).await;
        server.calls();
        let body = |messages: Value| json!({ "model": "m", "max_tokens": 9, "messages": messages });
        let first = server.messages("", &body(json!([user("hi")]))).await.unwrap();
        let content = first["content"].as_array().unwrap().clone();
        let result =
            json!({ "type": "tool_result", "tool_use_id": content[1]["id"], "content": "x" });
        let result = json!({ "role": "user", "content": [result] });
        let said = |content: &[Value]| json!({ "role": "assistant", "content": content });
        let good = body(json!([user("hi"), said(&content), result]));
        assert!(server.messages("", &good).await.is_ok());
        let bare = said(&content[1..]);
        says(
            &server.messages("", &body(json!([user("hi"), bare, result]))).await,
            "Expected `thinking`",
        );
        let later = body(json!([user("hi"), bare, result, user("and?")]));
        assert!(
            server.messages("", &later).await.is_ok(),
            "those of earlier turns may be left out"
        );
        let other = [with(&content[0], "thinking", json!("made up")), content[1].clone()];
        let other = body(json!([user("hi"), said(&other), result]));
        says(&server.messages("", &other).await, "Invalid `signature` in `thinking` block");
        let table = [
            ("temperature", json!(1), "`temperature`"),
            ("thinking", json!({ "type": "enabled", "budget_tokens": 9 }), "thinking.type.enabled"),
            ("tool_choice", json!({ "type": "any" }), "tool_choice"),
        ];
        for (field, value, words) in table {
            says(&server.messages("", &with(&good, field, value)).await, words);
        }
        let changed = with(&good, "system", json!("be quick"));
        let refused = server.messages("", &changed).await;
        if family == Family::Claude {
            assert!(refused.is_ok());
            continue;
        }
        says(&refused, "bound to a different conversation");
        let marked =
            json!([{ "type": "text", "text": "hi", "cache_control": { "type": "ephemeral" } }]);
        let marked = body(json!([with(&user(""), "content", marked), said(&content), result]));
        assert!(server.messages("", &marked).await.is_ok(), "marks for the cache do not count");
        let drop = json!({ "type": "adaptive", "block_binding": { "prefix_mismatch_behavior": "drop_block" } });
        let drop = with(&changed, "thinking", drop);
        says(&server.messages("", &drop).await, "Extra inputs are not permitted");
        assert!(server.messages("thinking-binding-controls-2026-08-01", &drop).await.is_ok());
    }
}

#[tokio::test]
async fn bound_thoughts_are_a_chain_whose_beginning_alone_may_go() {
    let server = Server::of(Family::ClaudeBound).await;
    let body = |messages: &[Value]| json!({ "model": "m", "max_tokens": 9, "messages": messages });
    let mut messages = vec![user("hi")];
    for _ in 0..3 {
        server.calls();
        let said = server.messages("", &body(&messages)).await.unwrap();
        let id = &said["content"][1]["id"];
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": "x" });
        messages.push(json!({ "role": "assistant", "content": said["content"] }));
        messages.push(json!({ "role": "user", "content": [result] }));
    }
    messages.extend([json!({ "role": "assistant", "content": "done" }), user("and?")]);
    let without = |gone: &[usize]| {
        let mut messages = messages.clone();
        for at in gone {
            messages[*at]["content"].as_array_mut().unwrap().remove(0);
        }
        body(&messages)
    };
    for gone in [&[][..], &[1], &[1, 3], &[1, 3, 5]] {
        assert!(server.messages("", &without(gone)).await.is_ok(), "{gone:?}");
    }
    says(&server.messages("", &without(&[3])).await, "bound to a different conversation");
}

#[tokio::test]
async fn gemini_wants_the_signature_of_each_step_and_knows_its_fields() {
    let server = Server::of(Family::Gemini).await;
    server.calls();
    let body = |messages: Value| json!({ "model": "m", "messages": messages });
    let first = server.chat(&body(json!([user("hi")]))).await.unwrap();
    let said = &first["choices"][0]["message"];
    let told =
        json!({ "role": "tool", "tool_call_id": said["tool_calls"][0]["id"], "content": "x" });
    assert!(server.chat(&body(json!([user("hi"), said, told]))).await.is_ok());
    let mut bare = said.clone();
    bare["tool_calls"][0].as_object_mut().unwrap().remove("extra_content");
    let refused = server.chat(&body(json!([user("hi"), bare, told]))).await;
    says(&refused, "Function call is missing a thought_signature in functionCall parts.");
    let later = body(json!([user("hi"), bare, told, user("and?")]));
    assert!(server.chat(&later).await.is_ok(), "earlier turns are not looked at");
    bare["tool_calls"][0]["extra_content"] = json!({ "google": { "thought_signature": "x" } });
    says(&server.chat(&body(json!([user("hi"), bare, told]))).await, "Corrupted thought signature");
    let odd = with(&later, "prompt_cache_key", json!("k"));
    says(&server.chat(&odd).await, "Unknown name \"prompt_cache_key\"");
    let schema = json!({ "type": "object", "properties": { "a": { "type": "number", "exclusiveMinimum": 0 } } });
    let tools =
        json!([{ "type": "function", "function": { "name": "look", "parameters": schema } }]);
    says(&server.chat(&with(&later, "tools", tools)).await, "Unknown name \"exclusiveMinimum\"");
}

#[tokio::test]
async fn deepseek_wants_the_thoughts_of_every_turn_that_called() {
    let server = Server::of(Family::DeepSeek).await;
    server.calls();
    let body = |messages: Value| json!({ "model": "m", "messages": messages });
    let first = server.chat(&body(json!([user("hi")]))).await.unwrap();
    let said = &first["choices"][0]["message"];
    let told =
        json!({ "role": "tool", "tool_call_id": said["tool_calls"][0]["id"], "content": "x" });
    let last = server.chat(&body(json!([user("hi"), said, told]))).await.unwrap();
    let last = &last["choices"][0]["message"];
    let without = |message: &Value| {
        let mut message = message.clone();
        message.as_object_mut().unwrap().remove("reasoning_content");
        message
    };
    let empty = |message: &Value| with(message, "reasoning_content", json!(""));
    let words = "The `reasoning_content` in the thinking mode must be passed back";
    says(&server.chat(&body(json!([user("hi"), without(said), told]))).await, words);
    says(&server.chat(&body(json!([user("hi"), empty(said), told]))).await, words);
    let later =
        |said: Value, last: Value| body(json!([user("hi"), said, told, last, user("and?")]));
    assert!(server.chat(&later(said.clone(), last.clone())).await.is_ok());
    assert!(server.chat(&later(empty(said), empty(last))).await.is_ok());
    says(&server.chat(&later(without(said), last.clone())).await, words);
    says(&server.chat(&later(said.clone(), without(last))).await, words);
    let talk = body(json!([user("hi"), { "role": "assistant", "content": "hello" }, user("and?")]));
    assert!(server.chat(&talk).await.is_ok(), "turns without calls go without");
}

#[tokio::test]
async fn a_local_server_cuts_and_says_nothing() {
    let server = Server::of(Family::Local).await;
    let long = "long ago ".repeat(1_000);
    let old = json!({ "role": "assistant", "content": "yes" });
    let system = json!({ "role": "system", "content": "be kind" });
    let messages = json!([system, user(&long), old, user(&long), old, user("what did I say?")]);
    let body = json!({ "model": "m", "messages": messages, "stream_options": {}, "odd": true });
    let answer = server.chat(&body).await.unwrap();
    assert_eq!(answer["choices"][0]["message"]["content"], "echo: what did I say?");
    let usage = &answer["usage"];
    let read = usage["prompt_tokens"].as_u64().unwrap();
    assert!((2_000..3_600).contains(&read), "{usage}");
    let asked = server.0.model().requests().pop().unwrap();
    assert!(asked.cut > 2_000 && asked.refused.is_none());
    // Alone too long: its beginning goes.
    let body = json!({ "model": "m", "messages": [with(&system, "content", json!(long.repeat(9))), user("hi")] });
    let answer = server.chat(&body).await.unwrap();
    assert!(answer["usage"]["prompt_tokens"].as_u64().unwrap() < 3_600, "{answer}");
}

#[test]
fn families_are_found_by_their_names() {
    assert!(Family::ALL.into_iter().all(|family| Family::parse(family.name()) == Some(family)));
    assert_eq!(Family::parse("clod"), None);
}
