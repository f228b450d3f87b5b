//! The emulated Slack against its rules, over real HTTP.

use serde_json::{Value, json};

use super::*;
use crate::testing::client;
use crate::{Options, Playground};

async fn call(playground: &Playground, token: &str, method: &str, params: Value) -> Value {
    let url = format!("{}/{method}", playground.slack_base_url());
    let request = client().post(url).bearer_auth(token).json(&params);
    request.send().await.unwrap().json().await.unwrap()
}

async fn error(playground: &Playground, method: &str, params: Value) -> String {
    let answer = call(playground, BOT_TOKEN, method, params).await;
    answer["error"].as_str().unwrap_or("ok").to_owned()
}

#[tokio::test]
async fn refusals_are_slacks_words() {
    let playground = Playground::start(Options::default()).await.unwrap();
    let post = |channel: &str, text: &str| json!({ "channel": channel, "text": text });
    let rows = [
        ("chat.postMessage", post("C0NONE", "hi"), "channel_not_found"),
        ("chat.postMessage", post("C0ELSE", "hi"), "not_in_channel"),
        ("chat.postMessage", post(CHANNEL, " "), "no_text"),
        ("chat.postMessage", post(CHANNEL, &"x".repeat(40_001)), "msg_too_long"),
        ("reactions.add", json!({ "channel": CHANNEL, "name": "nonsense" }), "invalid_name"),
        ("reactions.add", json!({ "channel": CHANNEL, "name": "eyes" }), "message_not_found"),
        ("apps.connections.open", json!({}), "not_allowed_token_type"),
        ("no.method", json!({}), "unknown_method"),
    ];
    for (method, params, wanted) in rows {
        assert_eq!(error(&playground, method, params).await, wanted);
    }
    playground.slack().set_archived(CHANNEL, true);
    assert_eq!(error(&playground, "chat.postMessage", post(CHANNEL, "hi")).await, "is_archived");
    playground.slack().remove_scope("chat:write");
    let answer = call(&playground, BOT_TOKEN, "chat.postMessage", post(DM, "hi")).await;
    assert_eq!(
        (&answer["error"], &answer["needed"]),
        (&json!("missing_scope"), &json!("chat:write"))
    );
    assert_eq!(call(&playground, "xoxb-x", "auth.test", json!({})).await["error"], "invalid_auth");
    playground.slack().revoke();
    assert_eq!(error(&playground, "auth.test", json!({})).await, "token_revoked");
}

#[tokio::test]
async fn a_channel_takes_short_bursts_only() {
    let playground = Playground::start(Options::default()).await.unwrap();
    let post = json!({ "channel": CHANNEL, "text": "hi" });
    for _ in 0..BURST {
        assert_eq!(error(&playground, "chat.postMessage", post.clone()).await, "ok");
    }
    assert_eq!(error(&playground, "chat.postMessage", post).await, "ratelimited");
    let other = json!({ "channel": DM, "text": "hi" });
    assert_eq!(error(&playground, "chat.postMessage", other).await, "ok");
}

#[tokio::test]
async fn a_reaction_stands_once() {
    let playground = Playground::start(Options::default()).await.unwrap();
    let ts = playground.slack().say(CHANNEL, ADA, "hi");
    let react = json!({ "channel": CHANNEL, "timestamp": ts, "name": "eyes" });
    assert_eq!(error(&playground, "reactions.add", react.clone()).await, "ok");
    assert_eq!(error(&playground, "reactions.add", react).await, "already_reacted");
}
