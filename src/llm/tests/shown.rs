//! A person's pictures in the requests of both adapters.

use serde_json::{Value, json};

use super::adapters::adapter;
use super::scripted::request;
use super::server::{Answer, Server};
use crate::Request;
use selkie_domain::transcript::{Picture, Turn};

const GOOD: &str = r#"{"type":"message","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn",
    "choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}"#;

/// A message with two pictures, of which one is still there.
fn asked() -> Request {
    let picture = |path: &str| Picture { path: path.to_owned(), mime: "image/png".to_owned() };
    let pictures = vec![picture("/gone"), picture("/there")];
    Request {
        turns: vec![Turn::Shown { text: "what is it?".to_owned(), pictures }],
        pictures: [("/there".to_owned(), "AAAA".into())].into(),
        ..request(20)
    }
}

async fn message(provider: &str, sees: bool) -> Value {
    let server = Server::playing(vec![Answer::json(200, GOOD)]).await;
    let model = adapter(&format!(
        "profiles: {{ p: {{ provider: {provider}, endpoint: '{}', api_key: k-k-k-k, model: m, sees_images: {sees} }} }}",
        server.endpoint
    ));
    model.ask(&asked(), &|_| {}).await.expect("a reply");
    let messages = server.asked()[0].body["messages"].as_array().expect("messages").clone();
    messages.into_iter().rfind(|m| m["role"] == "user").expect("a message")["content"].clone()
}

#[tokio::test]
async fn a_model_that_sees_gets_what_is_there_and_is_told_of_the_rest() {
    let words = "what is it?\n[Not every picture of this message is shown any more.]";
    let url = json!({ "url": "data:image/png;base64,AAAA", "detail": "high" });
    assert_eq!(
        message("openai", true).await,
        json!([{ "type": "text", "text": words }, { "type": "image_url", "image_url": url }])
    );
    let source = json!({ "type": "base64", "media_type": "image/png", "data": "AAAA" });
    let cache = json!({ "type": "ephemeral" });
    assert_eq!(
        message("anthropic", true).await,
        json!([
            { "type": "image", "source": source },
            { "type": "text", "text": words, "cache_control": cache },
        ])
    );
}

#[tokio::test]
async fn a_model_that_does_not_see_gets_the_words() {
    assert_eq!(message("openai", false).await, json!("what is it?"));
    let text =
        json!({ "type": "text", "text": "what is it?", "cache_control": { "type": "ephemeral" } });
    assert_eq!(message("anthropic", false).await, json!([text]));
}

#[tokio::test]
async fn a_server_that_refuses_pictures_is_asked_without_them() {
    let refused =
        r#"{"error":{"message":"image input is not supported - hint: provide the mmproj"}}"#;
    let good = || Answer::json(200, GOOD);
    let server = Server::playing(vec![Answer::json(400, refused), good(), good()]).await;
    let model = adapter(&format!(
        "profiles: {{ p: {{ endpoint: '{}', model: 'gemma3:4b' }} }}",
        server.endpoint
    ));
    model.ask(&asked(), &|_| {}).await.expect("a reply");
    model.ask(&asked(), &|_| {}).await.expect("a reply");
    let contents: Vec<Value> =
        server.asked().iter().map(|asked| asked.body["messages"][1]["content"].clone()).collect();
    assert!(contents[0].is_array(), "its name says that it sees: {contents:?}");
    assert_eq!(contents[1..], [json!("what is it?"), json!("what is it?")]);
}
