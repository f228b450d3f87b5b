//! Approvals on LINE: a request goes out on the right to answer that its message has brought, and what follows on the
//! one that the decision brings.

use selkie_playground::Turn;
use selkie_playground::line_platform::{ADA, LineMessage, Via};
use serde_json::json;

use crate::support::line::Line;
use crate::support::rows::texts;
use crate::support::world::World;

/// Ada asks for something that needs her approval; gives the request.
async fn asked(line: &Line, then: &str) -> LineMessage {
    let write = Turn::call("write_file", json!({ "path": "tide.txt", "content": then }));
    line.world.playground.model().script(vec![write, Turn::text(then)]);
    let request = line.ask(ADA, "write it down").await;
    assert!(request.text.contains("May I "), "{request:?}");
    assert_eq!(request.via, Via::Reply);
    request
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_is_asked_and_answered_without_a_push() {
    let mut world = World::start().await;
    let policy = json!({ "policy": [{ "trust": "owner", "ask": ["write"] }] });
    world.home.set("approvals", policy);
    let line = Line::of(world, json!({ "push": "never" })).await;
    let platform = line.platform();
    for (label, then) in [("Approve", "high water"), ("Deny", "low water")] {
        let request = asked(&line, then).await;
        let tap = platform.tap(ADA, ADA, &request.id, label).expect("a button");
        let answer = line.answer(ADA, &tap).await;
        assert_eq!((answer.text.as_str(), answer.via), (then, Via::Reply), "{label}");
    }
    let request = asked(&line, "slack water").await;
    let (_, code) = request.text.split_once("approve ").expect("a code");
    let code: String = code.chars().take_while(char::is_ascii_alphanumeric).collect();
    let answer = line.ask(ADA, &format!("approve {code}")).await;
    assert_eq!((answer.text.as_str(), answer.via), ("slack water", Via::Reply));
    let states = texts(&line.world.home, "SELECT state FROM approval ORDER BY id");
    assert_eq!(states, ["consumed", "denied", "consumed"]);
    assert!(platform.calls_of("push").is_empty());
}
