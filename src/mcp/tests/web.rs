//! A server at an address, as a test wants it.

use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, StatusCode, Uri};
use reqwest::Url;
use selkie_channel_core::locked;
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

/// What was heard.
#[derive(Clone, Debug)]
pub(super) struct WebRequest {
    pub(super) verb: Method,
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
    /// What stands in its form, or behind the `?` of its address.
    pub(super) form: Vec<(String, String)>,
}

impl WebRequest {
    pub(super) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    pub(super) fn word(&self, key: &str) -> &str {
        let found = self.form.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    /// Answers it.
    pub(super) fn result(&self, result: Value) -> Response<Body> {
        let answer = json!({ "jsonrpc": "2.0", "id": self.body["id"], "result": result });
        typed("application/json", answer.to_string())
    }

    pub(super) fn text(&self, text: &str) -> Response<Body> {
        self.result(json!({ "content": [{ "type": "text", "text": text }] }))
    }

    pub(super) fn discovered(&self) -> Response<Body> {
        self.result(json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": { "tools": { "listChanged": true } }, "ttlMs": 0, "cacheScope": "private",
        }))
    }

    pub(super) fn initialized(&self, session: &str) -> Response<Body> {
        let mut answer = self.result(json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "old", "version": "1" },
        }));
        answer.headers_mut().insert("mcp-session-id", session.parse().unwrap());
        answer
    }
}

pub(super) fn typed(kind: &str, body: impl Into<Body>) -> Response<Body> {
    Response::builder().header("content-type", kind).body(body.into()).unwrap()
}

pub(super) fn status(status: u16) -> Response<Body> {
    let status = StatusCode::from_u16(status).unwrap();
    Response::builder().status(status).body(Body::empty()).unwrap()
}

/// A stream of events.
pub(super) fn events(all: &[String]) -> Response<Body> {
    typed(
        "text/event-stream",
        all.iter().map(|data| format!("data: {data}\n\n")).collect::<String>(),
    )
}

type Answers = dyn Fn(&WebRequest) -> Response<Body> + Send + Sync;

/// A server that answers so and remembers what it heard.
#[derive(Clone)]
pub(super) struct Web {
    pub(super) url: String,
    heard: Arc<Mutex<Vec<WebRequest>>>,
    answers: Arc<Answers>,
}

impl Web {
    pub(super) async fn new(
        answers: impl Fn(&WebRequest) -> Response<Body> + Send + Sync + 'static,
    ) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let web = Self { url, heard: Arc::default(), answers: Arc::new(answers) };
        let router = axum::Router::new().fallback(hear).with_state(web.clone());
        TaskTracker::new().spawn(async move { axum::serve(listener, router).await });
        web
    }

    pub(super) fn heard(&self) -> Vec<WebRequest> {
        locked(&self.heard).clone()
    }

    /// What was asked for, in order.
    pub(super) fn methods(&self) -> Vec<String> {
        let name = |heard: &WebRequest| match heard.method() {
            "" => heard.verb.to_string(),
            method => method.to_owned(),
        };
        self.heard().iter().map(name).collect()
    }

    /// Waits until something was asked for.
    pub(super) async fn until(&self, method: &str) -> WebRequest {
        let found = async {
            loop {
                if let Some(heard) = self.heard().into_iter().find(|it| it.method() == method) {
                    return heard;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(super::desk::TIMEOUT, found).await.expect(method)
    }
}

async fn hear(
    State(web): State<Web>,
    verb: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let written = uri.query().map_or_else(|| String::from_utf8_lossy(&body).into(), str::to_owned);
    let form = Url::parse(&format!("http://x/?{written}")).unwrap();
    let form = form.query_pairs().map(|(key, value)| (key.into(), value.into())).collect();
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let heard = WebRequest { verb, path: uri.path().to_owned(), headers, body, form };
    locked(&web.heard).push(heard.clone());
    (web.answers)(&heard)
}
