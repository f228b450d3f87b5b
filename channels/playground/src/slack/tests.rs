//! The emulated Slack against its rules, over real HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, TimeDelta};
use serde_json::{Value, json};

use super::server::BURST;
use super::*;
use crate::clock::Now;
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
        (
            "chat.update",
            json!({ "channel": CHANNEL, "ts": "1.0", "text": "x" }),
            "message_not_found",
        ),
        ("chat.delete", json!({ "channel": CHANNEL, "ts": "1.0" }), "message_not_found"),
        ("conversations.replies", json!({ "channel": CHANNEL, "ts": "1.0" }), "thread_not_found"),
        (
            "chat.postEphemeral",
            json!({ "channel": CHANNEL, "user": "U0NONE", "text": "x" }),
            "user_not_in_channel",
        ),
        (
            "chat.postMessage",
            json!({ "channel": CHANNEL, "text": "x", "blocks": [{ "type": "actions", "elements": [] }] }),
            "invalid_blocks",
        ),
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

/// A playground in which the bot asks something with a button.
async fn asked() -> (Playground, String) {
    let playground = Playground::start(Options::default()).await.unwrap();
    let button = json!({ "type": "button", "action_id": "a", "value": "v",
        "text": { "type": "plain_text", "text": "Yes" } });
    let post = json!({ "channel": CHANNEL, "text": "?",
        "blocks": [{ "type": "actions", "elements": [button] }] });
    let ts = call(&playground, BOT_TOKEN, "chat.postMessage", post).await["ts"].clone();
    (playground, ts.as_str().unwrap().to_owned())
}

#[tokio::test]
async fn buttons_go_with_an_update_that_names_none() {
    let (playground, ts) = asked().await;
    let slack = playground.slack();
    assert!(slack.tap(CHANNEL, &ts, ADA, "Yes") && !slack.tap(CHANNEL, &ts, ADA, "No"));
    let update = json!({ "channel": CHANNEL, "ts": ts, "text": "Done", "blocks": [] });
    assert_eq!(error(&playground, "chat.update", update).await, "ok");
    assert!(slack.buttons(CHANNEL, &ts).is_empty());
    let theirs = slack.say(CHANNEL, ADA, "hi");
    let update = json!({ "channel": CHANNEL, "ts": theirs, "text": "x" });
    assert_eq!(error(&playground, "chat.update", update).await, "cant_update_message");
}

#[tokio::test]
async fn a_whisper_is_seen_by_one_person() {
    let (playground, ts) = asked().await;
    let whisper = json!({ "channel": CHANNEL, "user": ADA, "text": "psst", "thread_ts": ts });
    assert_eq!(error(&playground, "chat.postEphemeral", whisper).await, "ok");
    let slack = playground.slack();
    assert_eq!(slack.whispers(CHANNEL, ADA)[0].thread.as_deref(), Some(ts.as_str()));
    assert!(slack.whispers(CHANNEL, GRACE).is_empty());
    assert!(slack.messages(CHANNEL).iter().all(|message| message.text != "psst"));
}

#[tokio::test]
async fn an_address_takes_five_answers() {
    let playground = Playground::start(Options::default()).await.unwrap();
    let url = respond::address(playground.slack().server(), CHANNEL, ADA);
    let mut statuses = Vec::new();
    for _ in 0..6 {
        let sent = client().post(&url).json(&json!({ "text": "hi" })).send().await.unwrap();
        statuses.push(sent.status().as_u16());
    }
    assert_eq!(statuses, [200, 200, 200, 200, 200, 404]);
}

#[tokio::test]
async fn replies_come_in_pages_with_their_root_first() {
    let playground = Playground::start(Options::default()).await.unwrap();
    let slack = playground.slack();
    let root = slack.say(CHANNEL, ADA, "root");
    let all: Vec<String> =
        (0..3).map(|n| slack.reply(CHANNEL, GRACE, &root, &format!("reply {n}"))).collect();
    let params = json!({ "channel": CHANNEL, "ts": root, "limit": "2", "latest": all[2] });
    let page = call(&playground, BOT_TOKEN, "conversations.replies", params.clone()).await;
    let texts = |page: &Value| -> Vec<String> {
        let messages = page["messages"].as_array().unwrap();
        messages.iter().map(|m| m["text"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(texts(&page), ["root", "reply 0"]);
    let mut next = params;
    next["cursor"] = page["response_metadata"]["next_cursor"].clone();
    let page = call(&playground, BOT_TOKEN, "conversations.replies", next).await;
    assert_eq!((texts(&page), &page["has_more"]), (vec!["reply 1".to_owned()], &json!(false)));
}

#[tokio::test]
async fn people_react_and_take_it_back() {
    let playground = Playground::start(Options::default()).await.unwrap();
    let slack = playground.slack();
    let ts = slack.say(CHANNEL, ADA, "hi");
    let before = slack.envelopes().1;
    assert!(slack.react(CHANNEL, GRACE, &ts, "eyes"));
    assert!(!slack.react(CHANNEL, GRACE, &ts, "eyes"), "it stands already");
    assert!(!slack.react(CHANNEL, GRACE, &ts, "nonsense"));
    assert!(!slack.react(CHANNEL, "U0NONE", &ts, "eyes"));
    assert!(!slack.unreact(CHANNEL, ADA, &ts, "eyes"), "it is Grace's");
    assert!(slack.unreact(CHANNEL, GRACE, &ts, "eyes"));
    assert_eq!(slack.envelopes().1, before + 2, "the app is told of both");
    slack.remove_scope("reactions:read");
    assert!(slack.react(CHANNEL, GRACE, &ts, "eyes"));
    assert_eq!(slack.envelopes().1, before + 2, "and of nothing without the scope");
}

#[tokio::test]
async fn a_distributed_app_gets_fifteen_messages_a_minute() {
    let playground = Playground::start(Options::default()).await.unwrap();
    let slack = playground.slack();
    slack.distribute();
    let root = slack.say(CHANNEL, ADA, "root");
    (0..20).for_each(|n| _ = slack.reply(CHANNEL, GRACE, &root, &format!("reply {n}")));
    let params = json!({ "channel": CHANNEL, "ts": root, "limit": "200" });
    let page = call(&playground, BOT_TOKEN, "conversations.replies", params.clone()).await;
    assert_eq!((page["messages"].as_array().unwrap().len(), &page["has_more"]), (15, &json!(true)));
    assert_eq!(error(&playground, "conversations.replies", params).await, "ratelimited");
}

/// A playground in which the bot's answer to Ada grows: "One ".
async fn growing(options: Options) -> (Playground, String, String) {
    let playground = Playground::start(options).await.unwrap();
    let root = playground.slack().say(CHANNEL, ADA, "count");
    let start = json!({
        "channel": CHANNEL, "thread_ts": root, "markdown_text": "One ",
        "recipient_user_id": ADA, "recipient_team_id": TEAM,
    });
    let ts = call(&playground, BOT_TOKEN, "chat.startStream", start).await["ts"].clone();
    (playground, root, ts.as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_stream_begins_in_a_thread_and_in_a_channel_for_somebody() {
    let (playground, root, _) = growing(Options::default()).await;
    let start = |changes: Value| {
        let mut params = json!({
            "channel": CHANNEL, "thread_ts": root, "markdown_text": "x",
            "recipient_user_id": ADA, "recipient_team_id": TEAM,
        });
        for (key, value) in changes.as_object().unwrap() {
            params[key] = value.clone();
        }
        params
    };
    for (changes, wanted) in [
        (json!({ "thread_ts": null }), "missing_thread_ts"),
        (json!({ "thread_ts": "1.000001" }), "thread_not_found"),
        (json!({ "recipient_user_id": null }), "missing_recipient_user_id"),
        (json!({ "recipient_team_id": null }), "missing_recipient_team_id"),
        (json!({ "recipient_user_id": "U0NONE" }), "user_not_found"),
        (json!({ "recipient_team_id": "T0NONE" }), "team_not_found"),
        (json!({ "markdown_text": "x".repeat(12_001) }), "msg_too_long"),
        (json!({ "channel": "C0ELSE" }), "not_in_channel"),
        (json!({}), "ok"),
    ] {
        let params = start(changes.clone());
        assert_eq!(error(&playground, "chat.startStream", params).await, wanted, "{changes}");
    }
    let asked = playground.slack().say(DM, ADA, "count");
    let direct = json!({ "channel": DM, "thread_ts": asked, "markdown_text": "x" });
    assert_eq!(error(&playground, "chat.startStream", direct.clone()).await, "ok");
    playground.slack().remove_scope("chat:write");
    assert_eq!(error(&playground, "chat.startStream", direct).await, "missing_scope");
}

#[tokio::test]
async fn a_stream_takes_pieces_alone_until_it_is_stopped() {
    let (playground, root, ts) = growing(Options::default()).await;
    let slack = playground.slack();
    let piece = |text: &str| json!({ "channel": CHANNEL, "ts": ts, "markdown_text": text });
    assert_eq!(error(&playground, "chat.appendStream", piece("two ")).await, "ok");
    assert_eq!(error(&playground, "chat.appendStream", piece(" three")).await, "ok");
    assert_eq!(error(&playground, "chat.appendStream", piece("")).await, "no_text");
    let long = piece(&"x".repeat(12_001));
    assert_eq!(error(&playground, "chat.appendStream", long).await, "msg_too_long");
    let update = json!({ "channel": CHANNEL, "ts": ts, "text": "x" });
    let wanted = "streaming_state_conflict";
    assert_eq!(error(&playground, "chat.update", update.clone()).await, wanted);
    assert_eq!(error(&playground, "chat.delete", update.clone()).await, "cant_delete_message");
    let stopped = call(&playground, BOT_TOKEN, "chat.stopStream", piece(", four")).await;
    let whole = "One two three, four";
    assert_eq!(stopped["message"]["text"], whole, "white space is lost where a piece begins");
    assert_eq!(slack.answers(CHANNEL, &root)[0].text, whole);
    let wanted = "message_not_in_streaming_state";
    for method in ["chat.appendStream", "chat.stopStream"] {
        assert_eq!(error(&playground, method, piece("x")).await, wanted);
    }
    let theirs = json!({ "channel": CHANNEL, "ts": root, "markdown_text": "x" });
    assert_eq!(error(&playground, "chat.appendStream", theirs).await, "message_not_owned_by_app");
    let none = json!({ "channel": CHANNEL, "ts": "1.000001", "markdown_text": "x" });
    assert_eq!(error(&playground, "chat.appendStream", none).await, "message_not_found");
    assert_eq!(error(&playground, "chat.update", update).await, "ok");
}

#[tokio::test]
async fn a_stream_ends_by_a_person_and_by_its_age() {
    let (playground, _, ts) = growing(Options::default()).await;
    let slack = playground.slack();
    assert!(slack.end_stream(CHANNEL, &ts, Stream::StoppedByPerson));
    assert!(!slack.end_stream(CHANNEL, &ts, Stream::Ended), "it is over");
    let piece = |ts: &str| json!({ "channel": CHANNEL, "ts": ts, "markdown_text": "x" });
    assert_eq!(error(&playground, "chat.appendStream", piece(&ts)).await, "stopped_by_user");
    let update = json!({ "channel": CHANNEL, "ts": ts, "text": "x" });
    assert_eq!(error(&playground, "chat.update", update).await, "ok");
    let minutes = Arc::new(AtomicI64::new(30_000_000));
    let clock = Arc::clone(&minutes);
    let now: Now =
        Arc::new(move || DateTime::UNIX_EPOCH + TimeDelta::minutes(clock.load(Ordering::Relaxed)));
    let (playground, _, ts) = growing(Options { now, ..Options::default() }).await;
    minutes.fetch_add(4, Ordering::Relaxed);
    assert_eq!(error(&playground, "chat.appendStream", piece(&ts)).await, "ok");
    minutes.fetch_add(2, Ordering::Relaxed);
    let wanted = "message_not_in_streaming_state";
    assert_eq!(error(&playground, "chat.appendStream", piece(&ts)).await, wanted);
}
