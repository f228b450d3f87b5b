//! Tasks as traces: a collector gets each task with what it waited for, called and sent, and no word of anybody.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;

use serde_json::{Value, json};

use crate::support::world::{TIMEOUT, World};

/// What a collector was sent.
struct Request {
    head: String,
    body: Value,
}

/// A collector that takes everything: its address, and what it gets.
fn collector() -> (String, mpsc::Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (sender, requests) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream);
            let (mut head, mut line) = (String::new(), String::new());
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                head.push_str(&line.to_lowercase());
                line.clear();
            }
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length = length.and_then(|length| length.trim().parse().ok()).unwrap_or_default();
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("the body");
            let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
            reader.get_mut().write_all(answer.as_bytes()).expect("taken");
            let body = serde_json::from_slice(&body).expect("JSON");
            if sender.send(Request { head, body }).is_err() {
                return;
            }
        }
    });
    (format!("http://{address}"), requests)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_gets_each_task_without_words() {
    let (endpoint, requests) = collector();
    let otlp = json!({ "endpoint": endpoint, "authorization": "Bearer tr4ces-please" });
    let telemetry = json!({ "otlp": otlp });
    let world =
        World::with(json!({ "llm": { "provider": "offline" }, "telemetry": telemetry })).await;
    let daemon = world.daemon();
    world.ask("note: buy milk").await;
    let waited = tokio::task::spawn_blocking(move || requests.recv_timeout(TIMEOUT));
    let Request { head, body } = waited.await.expect("waited").expect("a request");
    assert!(head.starts_with("post /v1/traces http/1.1"), "{head}");
    assert!(head.contains("authorization: bearer tr4ces-please"), "{head}");
    let scope = &body["resourceSpans"][0]["scopeSpans"][0];
    let spans = scope["spans"].as_array().expect("spans");
    let names: Vec<&str> = spans.iter().filter_map(|span| span["name"].as_str()).collect();
    let wanted = [
        "task",
        "wait",
        "model call",
        "tool call",
        "model call",
        "tool call",
        "model call",
        "send",
    ];
    assert_eq!(names, wanted);
    assert!(!body.to_string().contains("milk"), "{body}");
    assert!(daemon.stop().await.success());
    assert!(!world.home.log().contains("tr4ces-please"));
}

/// Nobody is there: tasks are answered all the same, and it is said once.
#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_away_delays_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let world = World::with(json!({ "telemetry": { "otlp": { "endpoint": endpoint } } })).await;
    let daemon = world.daemon();
    assert!(world.ask("tea?").await.ends_with("tea?"));
    assert!(daemon.stop().await.success());
}
