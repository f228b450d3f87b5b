//! A server that answers at another address than the one that is asked first.

use std::sync::Arc;

use reqwest::Url;
use selkie_channel_core::{Redactor, tls};
use serde_json::json;

use super::adapters::{adapter, full, says, surroundings};
use super::server::{Answer, Server};
use crate::build::Builder;
use crate::{Model, ModelError, Request, Settings, StandIn};
use selkie_domain::effort::Effort;

const TOOLS: &str = "Function tools with reasoning_effort are not supported for m in /v1/chat/completions. \
                     To use function tools, use /v1/responses or set reasoning_effort to 'none'.";

fn no(status: u16, what: &str) -> Answer {
    Answer::json(status, &json!({ "error": { "message": what } }).to_string())
}

fn chat() -> Answer {
    Answer::json(200, &says("ok"))
}

fn responses() -> Answer {
    let output =
        json!([{ "type": "message", "content": [{ "type": "output_text", "text": "ok" }] }]);
    Answer::json(200, &json!({ "status": "completed", "output": output }).to_string())
}

/// A server of the usual kind, which is asked for chat completions first.
fn usual(server: &Server) -> Arc<dyn Model> {
    adapter(&format!("{{ endpoint: '{}', api_key: k-k-k-k, model: m }}", server.endpoint))
}

/// A server behind a name of Microsoft's, which is asked for responses first.
fn azure(server: &Server) -> Arc<dyn Model> {
    let port = Url::parse(&server.endpoint).unwrap().port().unwrap();
    let endpoint = format!("http://mine.openai.azure.com:{port}/v1");
    let yaml = format!("{{ endpoint: '{endpoint}', api_key: k-k-k-k, model: m }}");
    let settings: Settings = serde_saphyr::from_str(&yaml).expect("settings");
    let (clock, chance) = surroundings();
    Builder::new(&settings, StandIn::absent(), &nearby, &Redactor::default(), &clock, &chance)
        .only_adapter()
}

#[expect(clippy::disallowed_methods, reason = "the daemon's client is not there in a unit test")]
fn nearby() -> Result<reqwest::Client, String> {
    let tls = tls::client_config(rustls::RootCertStore::empty).map_err(|e| e.to_string())?;
    reqwest::Client::builder()
        .tls_backend_preconfigured(Arc::unwrap_or_clone(tls))
        .no_proxy()
        .resolve("mine.openai.azure.com", ([127, 0, 0, 1], 0).into())
        .build()
        .map_err(|e| e.to_string())
}

fn paths(server: &Server) -> Vec<String> {
    let path = |head: &str| head.split(' ').nth(1).unwrap_or("").to_owned();
    server.asked().iter().map(|asked| path(&asked.head)).collect()
}

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";

#[tokio::test]
async fn a_server_that_names_the_other_address_is_asked_there_from_then_on() {
    let only = "This model is only supported in v1/responses and not in v1/chat/completions.";
    for refusal in [no(400, TOOLS), no(404, only)] {
        let server = Server::playing(vec![chat(), refusal, responses(), responses()]).await;
        let model = usual(&server);
        for led_to in [None, Some("/responses"), Some("/responses")] {
            assert_eq!(model.ask(&full(), &|_| {}).await.expect("a reply").text, "ok");
            assert_eq!(model.learnt().led_to, led_to);
        }
        assert_eq!(paths(&server), [CHAT, CHAT, RESPONSES, RESPONSES]);
    }
}

#[tokio::test]
async fn a_server_without_responses_is_asked_for_chat_completions() {
    let refusals = [
        no(404, "Resource not found"),
        Answer::json(404, "404 page not found"),
        no(400, "Use chat/completions for this deployment"),
    ];
    for refusal in refusals {
        let server = Server::playing(vec![refusal, chat(), chat()]).await;
        let model = azure(&server);
        for _ in 0..2 {
            model.ask(&full(), &|_| {}).await.expect("a reply");
        }
        assert_eq!(paths(&server), [RESPONSES, CHAT, CHAT]);
        assert_eq!(model.learnt().led_to, Some("/chat/completions"));
    }
}

#[tokio::test]
async fn where_the_named_address_is_not_there_tools_go_to_a_model_that_does_not_think() {
    let answers = vec![no(400, TOOLS), no(404, "no such page"), no(400, TOOLS), chat(), chat()];
    let server = Server::playing(answers).await;
    let model = usual(&server);
    for _ in 0..2 {
        let request = Request { effort: Some(Effort::High), ..full() };
        model.ask(&request, &|_| {}).await.expect("a reply");
    }
    assert_eq!(paths(&server), [CHAT, RESPONSES, CHAT, CHAT, CHAT]);
    assert_eq!(server.asked()[4].body["reasoning_effort"], "none");
    assert_eq!(model.learnt().led_to, None);
}

#[tokio::test]
async fn a_wrong_model_and_a_wrong_address_are_told_as_such() {
    let server = Server::playing(vec![no(404, "The model `m` does not exist")]).await;
    let got = azure(&server).ask(&full(), &|_| {}).await.expect_err("an error").error;
    assert!(matches!(&got, ModelError::Unusable { .. }), "{got}");
    assert_eq!(paths(&server), [RESPONSES]);

    let server = Server::playing(vec![no(404, "no such page"); 2]).await;
    let model = azure(&server);
    let got = model.ask(&full(), &|_| {}).await.expect_err("an error").error;
    assert!(got.to_string().contains("check"), "{got}");
    assert_eq!((paths(&server).len(), model.learnt().led_to), (2, None));
}

#[tokio::test]
async fn two_addresses_that_name_each_other_end_in_an_error() {
    let server = Server::playing(vec![no(400, TOOLS); 8]).await;
    let got = azure(&server).ask(&full(), &|_| {}).await.expect_err("an error").error;
    assert!(matches!(&got, ModelError::Rejected { .. }), "{got}");
    assert!(paths(&server).len() < 8, "{:?}", paths(&server));
}
