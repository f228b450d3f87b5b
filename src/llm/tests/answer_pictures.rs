//! Pictures in the answers of both APIs that have them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::adapters::adapter;
use super::scripted::request;
use super::server::{Answer, Server};
use crate::Reply;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nsmall";

fn address() -> Value {
    let url = format!("data:image/png;base64,{}", STANDARD.encode(PNG));
    json!({ "type": "image_url", "image_url": { "url": url } })
}

async fn reply(api: &str, answer: Answer) -> Reply {
    let server = Server::playing(vec![answer]).await;
    let endpoint = &server.endpoint;
    let model =
        adapter(&format!("{{ api: {api}, endpoint: '{endpoint}', api_key: k-k-k-k, model: m }}"));
    model.ask(&request(20), &|_| {}).await.expect("a reply")
}

fn streamed(all: &[Value]) -> Answer {
    let text: String = all.iter().map(|event| format!("data: {event}\n\n")).collect();
    Answer::stream(&format!("{text}data: [DONE]\n\n"), 11)
}

fn seen(reply: &Reply) -> (&str, Vec<&[u8]>) {
    (&reply.text, reply.pictures.iter().map(|picture| &picture.bytes()[..]).collect())
}

#[tokio::test]
async fn a_chat_brings_them_beside_its_words_or_among_them() {
    let message = |message: Value| {
        let answer = json!({ "choices": [{ "message": message, "finish_reason": "stop" }] });
        Answer::json(200, &answer.to_string())
    };
    let delta = |delta: Value| json!({ "choices": [{ "delta": delta }] });
    let end = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] });
    let text = json!({ "type": "text", "text": "A cat." });
    for answer in [
        message(json!({ "content": "A cat.", "images": [address()] })),
        message(json!({ "content": [text, address()] })),
        streamed(&[
            delta(json!({ "content": "A " })),
            delta(json!({ "content": "cat." })),
            delta(json!({ "content": "", "images": [address()] })),
            end.clone(),
        ]),
        streamed(&[
            delta(json!({ "images": [address()] })),
            delta(json!({ "content": [text] })),
            end.clone(),
        ]),
    ] {
        assert_eq!(seen(&reply("chat", answer).await), ("A cat.", vec![PNG]));
    }
    // An answer that is nothing else is one.
    let alone = message(json!({ "content": null, "images": [address()] }));
    assert_eq!(seen(&reply("chat", alone).await), ("", vec![PNG]));
    let elsewhere = json!({ "image_url": { "url": "https://example.com/cat.png" } });
    let named = message(json!({ "content": "A cat.", "images": [elsewhere] }));
    assert_eq!(
        seen(&reply("chat", named).await),
        ("A cat.\n\n[a picture from the model, which cannot be shown]", vec![])
    );
}

#[tokio::test]
async fn responses_bring_them_as_items_that_do_not_go_back() {
    let drawn = json!({
        "id": "ig_1", "type": "image_generation_call", "status": "completed", "result": STANDARD.encode(PNG),
    });
    let words = json!({ "type": "message", "role": "assistant",
        "content": [{ "type": "output_text", "text": "A cat." }] });
    let thoughts = json!({ "type": "reasoning", "summary": [], "encrypted_content": "e" });
    let call =
        json!({ "type": "function_call", "call_id": "c", "name": "noop", "arguments": "{}" });
    let done = |(place, item): (usize, &Value)| json!({ "type": "response.output_item.done", "output_index": place, "item": item });
    let items = [thoughts.clone(), drawn.clone(), words.clone(), call.clone()];
    let whole = json!({ "type": "response.completed", "response": { "status": "completed", "output": items } });
    let mut all: Vec<Value> = items.iter().enumerate().map(done).collect();
    all.insert(1, json!({ "type": "response.image_generation_call.partial_image", "partial_image_b64": "AAAA" }));
    all.push(whole.clone());
    for answer in [streamed(&all), Answer::json(200, &whole["response"].to_string())] {
        let reply = reply("responses", answer).await;
        assert_eq!(seen(&reply), ("A cat.", vec![PNG]));
        assert_eq!((reply.calls.len(), reply.own), (1, None));
    }
}
