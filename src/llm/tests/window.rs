//! The window of a profile, asked of a real local server and learnt from its refusals.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::HeaderMap;
use selkie_channel_core::Redactor;
use serde_json::json;

use super::adapters::{adapter, client, surroundings};
use super::scripted::request;
use super::server::{Answer, Server};
use crate::context_window::{Questions, Window};
use crate::settings::Provider;
use crate::wire::Wire;
use crate::{ContextWindow, WindowSource};

const ASSUMED: ContextWindow = ContextWindow { tokens: 128_000, source: WindowSource::Unknown };

fn window(server: &Server, provider: Provider) -> Window {
    let (clock, _) = surroundings();
    let wire = Wire {
        http: client().expect("a client"),
        url: Url::parse(&server.endpoint).expect("an address"),
        headers: HeaderMap::new(),
        silence: Duration::from_secs(60),
        redactor: Redactor::default(),
        clock: Arc::clone(&clock),
    };
    Window::new("main", ASSUMED, Some(Questions::new(wire, "m", provider)))
}

fn says(body: &serde_json::Value) -> Answer {
    Answer::json(200, &body.to_string())
}

fn missing() -> Answer {
    Answer::json(404, r#"{"error":"not found"}"#)
}

/// What was asked, in order: `GET /props`.
fn questions(server: &Server) -> Vec<String> {
    let asked = server.asked();
    asked.iter().map(|asked| asked.head.split(" HTTP").next().unwrap_or("").to_owned()).collect()
}

async fn a_minute_later() {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(61)).await;
    tokio::time::resume();
}

#[tokio::test]
async fn a_server_of_an_unknown_kind_is_asked_in_every_way_and_once() {
    let listed = says(&json!({ "data": [{ "id": "m" }] }));
    let server = Server::playing(vec![listed, missing(), missing(), missing()]).await;
    let window = window(&server, Provider::Openai);
    window.ask().await;
    a_minute_later().await;
    window.ask_again().await;
    assert_eq!(window.now(), ASSUMED);
    let all = ["GET /v1/models", "GET /props", "GET /api/v0/models", "GET /api/ps"];
    assert_eq!(questions(&server), all);
}

#[tokio::test]
async fn ollama_is_asked_again_until_it_has_loaded_the_model() {
    let none = says(&json!({ "models": [] }));
    let shown = says(&json!({ "details": {}, "parameters": "stop x" }));
    let loaded = says(&json!({ "models": [{ "name": "m:latest", "context_length": 32_768 }] }));
    let server = Server::playing(vec![none, shown, loaded]).await;
    let window = window(&server, Provider::Ollama);
    window.ask_again().await;
    assert_eq!(questions(&server), Vec::<String>::new(), "nobody has asked yet");
    window.ask().await;
    let likely = ContextWindow { tokens: 4_096, source: WindowSource::OllamaDefault };
    assert_eq!(window.now(), likely);
    window.ask_again().await;
    assert_eq!(window.now(), likely, "it is too early");
    for _ in 0..2 {
        a_minute_later().await;
        window.ask_again().await;
        let told = ContextWindow { tokens: 32_768, source: WindowSource::Server("/api/ps") };
        assert_eq!(window.now(), told);
    }
    assert_eq!(questions(&server), ["GET /api/ps", "POST /api/show", "GET /api/ps"]);
}

#[tokio::test]
async fn only_ollama_has_its_default() {
    for (root, source) in
        [("Ollama is running", WindowSource::OllamaDefault), ("<html>", WindowSource::Unknown)]
    {
        let mut answers = vec![missing(), missing(), missing(), says(&json!({ "models": [] }))];
        answers.extend([says(&json!({ "details": {} })), Answer::json(200, root)]);
        let server = Server::playing(answers).await;
        let window = window(&server, Provider::Openai);
        window.ask().await;
        assert_eq!(window.now().source, source, "{root}");
        assert_eq!(questions(&server).last().map(String::as_str), Some("GET /"));
    }
}

#[tokio::test]
async fn a_server_that_is_not_ready_is_asked_one_thing_at_a_time() {
    let props = says(&json!({ "default_generation_settings": { "n_ctx": 8_192 } }));
    let loading = Answer::json(503, r#"{"error":{"message":"Loading model"}}"#);
    let server = Server::playing(vec![missing(), loading, missing(), props]).await;
    let window = window(&server, Provider::Openai);
    window.ask().await;
    assert_eq!((window.now(), questions(&server).len()), (ASSUMED, 2));
    a_minute_later().await;
    window.ask_again().await;
    let told = ContextWindow { tokens: 8_192, source: WindowSource::Server("/props") };
    assert_eq!(window.now(), told);
}

#[tokio::test]
async fn an_answer_without_an_end_tells_nothing() {
    let huge = Answer { pieces: vec![vec![b' '; 1 << 20]; 6], ..says(&json!({})) };
    let server = Server::playing(vec![huge]).await;
    let window = window(&server, Provider::Llamacpp);
    window.ask().await;
    assert_eq!(window.now(), ASSUMED);
}

#[tokio::test]
async fn a_refusal_that_names_a_limit_is_heeded_where_the_config_is_silent() {
    let refusal = |limit: u64| {
        let words = format!("This model's maximum context length is {limit} tokens.");
        Answer::json(400, &json!({ "error": { "message": words } }).to_string())
    };
    for (config, known) in [
        ("", ContextWindow { tokens: 8_192, source: WindowSource::Refusal }),
        (", context: 64000", ContextWindow { tokens: 64_000, source: WindowSource::Config }),
    ] {
        let server = Server::playing(vec![refusal(8_192), refusal(900_000)]).await;
        let endpoint = &server.endpoint;
        let model =
            adapter(&format!("{{ endpoint: '{endpoint}', api_key: k-k-k-k, model: m{config} }}"));
        for _ in 0..2 {
            let failed = model.ask(&request(60), &|_| {}).await.expect_err("a refusal");
            assert!(failed.to_string().contains("context to what it reads"), "{failed}");
            assert_eq!(model.learnt().window, known);
            assert_eq!(model.card().context, known.tokens);
        }
    }
}

#[tokio::test]
async fn what_is_known_by_its_address_or_by_the_config_is_not_asked_for() {
    let server = Server::playing(vec![]).await;
    let endpoint = &server.endpoint;
    for (yaml, source) in [
        (format!("{{ endpoint: '{endpoint}', model: m, context: 9000 }}"), WindowSource::Config),
        ("{ api_key: k-k-k-k, model: m }".to_owned(), WindowSource::Provider),
    ] {
        let model = adapter(&yaml);
        model.ask_window().await;
        assert_eq!(model.learnt().window.source, source);
    }
    assert_eq!(questions(&server), Vec::<String>::new());
}
