//! What each kind of answer and of failure comes to, over a real connection.

use std::io::Write;

use selkie_channel_core::{
    Body, Channel, Choice, ConversationId, Outbound, Question, Redactor, ReplyWindow,
};

use super::*;
use crate::testkit::{BOT_TOKEN, Reply, Server, channel};

const THREAD: &str = "slack:T1:C2:1763640000.000100";

fn part(channel: &Channel, body: Body) -> Part {
    let conversation = ConversationId::new(channel.account.clone(), THREAD);
    let outbound = Outbound::new(conversation, body);
    let outbound = outbound.quoting(Some(MessageRef::new("1763640000.000100")));
    channel.sender.render(&outbound).remove(0)
}

fn text(channel: &Channel) -> Part {
    part(channel, Body::Text { markdown: "**hi** <there>".to_owned() })
}

fn reaction(channel: &Channel, emoji: &str) -> Part {
    let message = MessageRef::new("1763640000.000100");
    part(channel, Body::Reaction { message, emoji: emoji.to_owned(), big: false })
}

async fn deliver(replies: impl IntoIterator<Item = Reply>) -> Delivery {
    let replies = replies.into_iter().map(|reply| ("chat.postMessage", reply));
    let server = Server::start(replies).await;
    let channel = server.channel();
    channel.sender.deliver(&text(&channel)).await
}

fn reason(delivery: Delivery) -> String {
    match delivery {
        Delivery::Refused { reason, closed } => format!("{closed}: {reason}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_refusal_that_repeats_the_token_is_told_without_it() {
    let refused = Reply::refusal(&format!("refused_for {BOT_TOKEN}"));
    assert_eq!(reason(deliver([refused]).await), "false: refused_for [redacted]");
}

#[tokio::test]
async fn a_posted_message_goes_to_its_thread_and_has_its_ts() {
    let ts = "1763640001.000200";
    let posted = Reply::ok(json!({ "ts": ts }));
    let mut server = Server::start([("chat.postMessage", posted)]).await;
    let channel = server.channel();
    let delivery = channel.sender.deliver(&text(&channel)).await;
    let receipt = Receipt { message: Some(MessageRef::new(ts)), note: None, ..Receipt::default() };
    assert_eq!(delivery, Delivery::Sent(receipt));
    let seen = server.next("chat.postMessage").await;
    assert!(seen.head.contains(&format!("Bearer {BOT_TOKEN}")), "{}", seen.head);
    let mut body = seen.json();
    body["metadata"]["event_payload"]["key"].take();
    insta::assert_json_snapshot!(body, @r#"
    {
      "channel": "C2",
      "text": "*hi* &lt;there&gt;",
      "mrkdwn": true,
      "unfurl_links": false,
      "unfurl_media": false,
      "thread_ts": "1763640000.000100",
      "metadata": {
        "event_type": "selkie_part",
        "event_payload": {
          "key": null
        }
      }
    }
    "#);
}

#[tokio::test]
async fn slacks_own_refusals_prove_that_nothing_was_sent() {
    for code in ["not_in_channel", "is_archived", "channel_not_found"] {
        let reason = reason(deliver([Reply::refusal(code)]).await);
        assert!(reason.starts_with(&format!("true: {code}")), "{reason}");
    }
    let scope = json!({ "ok": false, "error": "missing_scope", "needed": "chat:write" });
    let reason = reason(deliver([Reply::Json(200, scope)]).await);
    assert!(reason.starts_with("false: missing_scope: the app needs chat:write"), "{reason}");
    for code in ["invalid_auth", "token_revoked"] {
        let retry = deliver([Reply::refusal(code)]).await;
        assert!(matches!(retry, Delivery::Retry { account: true, .. }), "{retry:?}");
    }
}

#[tokio::test]
async fn a_limit_is_waited_for() {
    let limited = deliver([Reply::Limited(7)]).await;
    let Delivery::Retry { after, account: false, .. } = limited else { panic!("{limited:?}") };
    assert_eq!(after, Duration::from_secs(7));
}

#[tokio::test]
async fn a_form_that_is_not_taken_goes_out_plain() {
    for (code, wanted) in [
        ("metadata_too_large", "sent without its metadata: metadata_too_large"),
        ("msg_too_long", "sent in its plain form: msg_too_long"),
        ("thread_not_found", "sent beside its thread, which is gone: thread_not_found"),
    ] {
        let posted = Reply::ok(json!({ "ts": "1.000002" }));
        let sent = deliver([Reply::refusal(code), posted]).await;
        let Delivery::Sent(receipt) = sent else { panic!("{sent:?}") };
        assert_eq!(receipt.note.as_deref(), Some(wanted));
    }
    let twice = deliver([Reply::refusal("msg_too_long"), Reply::refusal("msg_too_long")]).await;
    assert!(reason(twice).starts_with("false: msg_too_long"));
}

#[tokio::test]
async fn an_answer_that_proves_nothing_is_unclear() {
    for reply in [
        Reply::Cut,
        Reply::Text(503, "busy"),
        Reply::Text(200, "<html>welcome"),
        Reply::refusal("fatal_error"),
        Reply::Json(200, json!({})),
        // A yes that names no message.
        Reply::ok(json!({})),
        Reply::ok(json!({ "ts": "" })),
        Reply::ok(json!({ "ts": 7 })),
    ] {
        let delivery = deliver([reply.clone()]).await;
        assert!(matches!(delivery, Delivery::Unclear { .. }), "{reply:?}: {delivery:?}");
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_got_nothing() {
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let channel = channel(address, Redactor::default());
    let delivery = channel.sender.deliver(&text(&channel)).await;
    assert!(matches!(delivery, Delivery::Retry { account: true, .. }), "{delivery:?}");
}

#[tokio::test]
async fn an_unclear_message_is_found_by_its_key_or_is_not_there() {
    let server = Server::start([]).await;
    let channel = server.channel();
    let part = text(&channel);
    let metadata = part.call.pointer("/params/metadata").unwrap().clone();
    let page = |messages: Value, next: &str| {
        Reply::ok(json!({ "messages": messages, "response_metadata": { "next_cursor": next } }))
    };
    let ours = json!([{ "ts": "1.000002", "text": "hi", "metadata": metadata }]);
    server.add("conversations.replies", page(json!([{ "ts": "1.000001", "text": "hi" }]), "n"));
    server.add("conversations.replies", page(ours, ""));
    let found = channel.sender.lookup(&part).await;
    let Lookup::Sent(receipt) = found else { panic!("{found:?}") };
    assert_eq!(receipt.message, Some(MessageRef::new("1.000002")));
    server.add("conversations.replies", page(json!([]), ""));
    assert_eq!(channel.sender.lookup(&part).await, Lookup::NotSent);
    server.add("conversations.replies", Reply::refusal("missing_scope"));
    assert_eq!(channel.sender.lookup(&part).await, Lookup::Unknown);
}

#[tokio::test]
async fn a_look_that_fails_is_tried_again_and_decides_nothing() {
    for reply in
        [Reply::Limited(7), Reply::Text(500, "oh"), Reply::Cut, Reply::refusal("fatal_error")]
    {
        let server = Server::start([("conversations.replies", reply.clone())]).await;
        let channel = server.channel();
        let known = channel.sender.lookup(&text(&channel)).await;
        let Lookup::Later { after, .. } = known else { panic!("{reply:?}: {known:?}") };
        let limited = matches!(reply, Reply::Limited(_));
        assert!(!limited || after >= Duration::from_secs(7), "{after:?}");
    }
}

#[tokio::test]
async fn the_plain_form_is_found_by_its_key_too() {
    let mut server = Server::start([
        ("chat.postMessage", Reply::refusal("msg_too_long")),
        ("chat.postMessage", Reply::Cut),
    ])
    .await;
    let channel = server.channel();
    let part = text(&channel);
    let unclear = channel.sender.deliver(&part).await;
    assert!(matches!(unclear, Delivery::Unclear { .. }), "{unclear:?}");
    let rich = server.next("chat.postMessage").await.json();
    let plain = server.next("chat.postMessage").await.json();
    assert_eq!(plain["metadata"], rich["metadata"]);
    assert_ne!(plain["text"], rich["text"]);
}

#[tokio::test]
async fn a_message_without_metadata_is_found_by_its_words_or_stays_a_doubt() {
    let server = Server::start([]).await;
    let channel = server.channel();
    let part = text(&channel);
    let page = |messages: Value| Reply::ok(json!({ "messages": messages }));
    let bots = |text: &str| json!({ "ts": "1.000002", "bot_id": "B9", "user": "U9", "text": text });
    server.add("conversations.replies", page(json!([bots("hi &lt;there&gt;")])));
    let found = channel.sender.lookup(&part).await;
    assert!(matches!(&found, Lookup::Sent(r) if r.message == Some(MessageRef::new("1.000002"))));
    server.add("conversations.replies", page(json!([bots("something that Slack changed")])));
    assert_eq!(channel.sender.lookup(&part).await, Lookup::Unknown);
    let theirs = json!([{ "ts": "1.000002", "user": "U2", "text": "hi &lt;there&gt;" }]);
    server.add("conversations.replies", page(theirs));
    assert_eq!(channel.sender.lookup(&part).await, Lookup::NotSent);
}

#[tokio::test]
async fn a_sign_of_life_stands_in_a_thread_and_a_refused_one_is_not_tried_again() {
    let mut server =
        Server::start([("assistant.threads.setStatus", Reply::refusal("missing_scope"))]).await;
    let channel = server.channel();
    let sign = part(&channel, Body::Typing);
    for _ in 0..2 {
        let shown = channel.sender.deliver(&sign).await;
        assert!(matches!(shown, Delivery::Sent(_)), "nobody misses it: {shown:?}");
    }
    let seen = server.next("assistant.threads.setStatus").await.json();
    assert_eq!(seen["channel_id"], "C2");
    assert_eq!(seen["thread_ts"], "1763640000.000100");
    assert!(!server.was_asked(), "nothing is asked in vain");
}

#[tokio::test]
async fn a_reaction_is_a_name_and_sets_a_state() {
    let mut server = Server::start([
        ("reactions.add", Reply::refusal("already_reacted")),
        ("reactions.add", Reply::refusal("invalid_name")),
        ("reactions.add", Reply::Cut),
    ])
    .await;
    let channel = server.channel();
    let already = channel.sender.deliver(&reaction(&channel, ":eyes:")).await;
    assert!(matches!(already, Delivery::Sent(_)), "{already:?}");
    let seen = server.next("reactions.add").await.json();
    let wanted = json!({ "channel": "C2", "timestamp": "1763640000.000100", "name": "eyes" });
    assert_eq!(seen, wanted);
    let unknown = channel.sender.deliver(&reaction(&channel, "nonsense")).await;
    assert!(reason(unknown).starts_with("false: invalid_name"));
    let again = channel.sender.deliver(&reaction(&channel, "eyes")).await;
    assert!(matches!(again, Delivery::Retry { .. }), "{again:?}");
    let raw = channel.sender.deliver(&reaction(&channel, "two words")).await;
    assert!(reason(raw).contains("is not an emoji name"));
    server.add("reactions.add", Reply::ok(json!({})));
    let eyes = channel.sender.deliver(&reaction(&channel, "👀")).await;
    assert!(matches!(eyes, Delivery::Sent(_)), "{eyes:?}");
    server.next("reactions.add").await;
    server.next("reactions.add").await;
    assert_eq!(server.next("reactions.add").await.json()["name"], "eyes");
}

#[tokio::test]
async fn a_file_goes_in_three_steps_and_is_seen_after_the_last() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"twelve bytes").unwrap();
    let mut server = Server::start([]).await;
    let channel = server.channel();
    let body = Body::File {
        path: file.path().to_string_lossy().into_owned(),
        name: "notes.txt".to_owned(),
        caption: Some("see **here**".to_owned()),
    };
    let part = part(&channel, body);
    let named = || {
        let url = format!("http://{}/upload/F1", server.address);
        Reply::ok(json!({ "upload_url": url, "file_id": "F1" }))
    };
    server.add("files.getUploadURLExternal", named());
    server.add("F1", Reply::Text(500, "oh"));
    let early = channel.sender.deliver(&part).await;
    assert!(matches!(early, Delivery::Retry { .. }), "nobody saw anything: {early:?}");
    server.add("files.getUploadURLExternal", named());
    server.add("F1", Reply::Text(200, "OK - 12"));
    server.add("files.completeUploadExternal", Reply::Cut);
    let unclear = channel.sender.deliver(&part).await;
    assert!(matches!(unclear, Delivery::Unclear { .. }), "{unclear:?}");
    assert_eq!(server.next("F1").await.body, "twelve bytes");
    let seen = server.next("files.completeUploadExternal").await.json();
    insta::assert_json_snapshot!(seen, @r#"
    {
      "files": [
        {
          "id": "F1",
          "title": "notes.txt"
        }
      ],
      "channel_id": "C2",
      "thread_ts": "1763640000.000100",
      "initial_comment": "see *here*"
    }
    "#);
    let shares = json!({ "public": { "C2": [{ "ts": "1.000003" }] } });
    server.add("files.info", Reply::ok(json!({ "file": { "id": "F1", "shares": shares } })));
    let found = channel.sender.lookup(&part).await;
    let Lookup::Sent(receipt) = found else { panic!("{found:?}") };
    assert_eq!(receipt.message, Some(MessageRef::new("1.000003")));
}

#[tokio::test]
async fn a_limited_method_is_not_asked_before_its_time() {
    let mut server = Server::start([("chat.update", Reply::Limited(30))]).await;
    let channel = server.channel();
    let revise = || async {
        let part = part(&channel, revision("x"));
        channel.sender.deliver(&part).await
    };
    let first = revise().await;
    assert!(matches!(first, Delivery::Retry { .. }), "{first:?}");
    server.next("chat.update").await;
    let Delivery::Retry { after, .. } = revise().await else { panic!("no retry") };
    assert!(after > Duration::from_secs(20), "{after:?}");
    assert!(!server.was_asked(), "nothing was asked in vain");
}

fn revision(markdown: &str) -> Body {
    let message = MessageRef::new("1763640000.000100");
    Body::Revision { message, markdown: markdown.to_owned(), question: None }
}

fn question() -> Body {
    let choice = |id: &str| Choice {
        id: id.to_owned(),
        label: id.to_uppercase(),
        description: String::new(),
    };
    Body::Question(Question {
        key: "q7".to_owned(),
        markdown: "Really?".to_owned(),
        choices: vec![choice("yes"), choice("no")],
        free_text: false,
        placeholder: String::new(),
    })
}

#[tokio::test]
async fn a_question_whose_blocks_are_refused_is_asked_in_words() {
    let posted = Reply::ok(json!({ "ts": "1.000002" }));
    let mut server = Server::start([
        ("chat.postMessage", Reply::refusal("invalid_blocks")),
        ("chat.postMessage", posted),
    ])
    .await;
    let channel = server.channel();
    let sent = channel.sender.deliver(&part(&channel, question())).await;
    let Delivery::Sent(receipt) = sent else { panic!("{sent:?}") };
    assert_eq!(receipt.note.as_deref(), Some("sent in its plain form: invalid_blocks"));
    assert!(server.next("chat.postMessage").await.json()["blocks"].is_array());
    let plain = server.next("chat.postMessage").await.json();
    assert_eq!((&plain["text"], plain.get("blocks")), (&json!("Really?\n\n1. YES\n2. NO"), None));
}

#[tokio::test]
async fn a_message_that_cannot_be_changed_is_refused_in_words() {
    for (code, wanted) in [
        ("message_not_found", "the message is gone"),
        ("cant_update_message", "not this app's"),
        ("edit_window_closed", "so old"),
    ] {
        let server = Server::start([("chat.update", Reply::refusal(code))]).await;
        let channel = server.channel();
        let refused = reason(channel.sender.deliver(&part(&channel, revision("x"))).await);
        assert!(refused.starts_with("false: ") && refused.contains(wanted), "{refused}");
    }
    let server = Server::start([("chat.update", Reply::Cut)]).await;
    let channel = server.channel();
    let cut = channel.sender.deliver(&part(&channel, revision("x"))).await;
    assert!(matches!(cut, Delivery::Retry { .. }), "it sets a state: {cut:?}");
}

#[tokio::test]
async fn what_is_gone_already_is_taken_away() {
    let server = Server::start([("chat.delete", Reply::refusal("message_not_found"))]).await;
    let channel = server.channel();
    let message = MessageRef::new("1763640000.000100");
    let gone = channel.sender.deliver(&part(&channel, Body::Withdrawal { message })).await;
    assert!(matches!(gone, Delivery::Sent(_)), "{gone:?}");
}

#[tokio::test]
async fn a_command_is_answered_to_its_person_alone_whatever_becomes_of_its_address() {
    let mut server = Server::start([
        ("answer", Reply::Text(200, "ok")),
        ("answer", Reply::Text(404, "used_url")),
        ("chat.postEphemeral", Reply::ok(json!({ "message_ts": "1.000002" }))),
    ])
    .await;
    let channel = server.channel();
    let answer = |url: String| {
        let token = json!({ "url": url, "alone": true, "user": "U2" }).to_string();
        let until = chrono::DateTime::UNIX_EPOCH;
        let conversation = ConversationId::new(channel.account.clone(), "slack:T1:C2");
        let outbound = Outbound::text(conversation, "**Stopped.**");
        let window = ReplyWindow { token, until, calls: 5, hold_at: None };
        channel.sender.render(&outbound.within(Some(window))).remove(0)
    };
    let ours = answer(format!("http://{}/answer", server.address));
    let shown = channel.sender.deliver(&ours).await;
    assert!(matches!(shown, Delivery::Sent(Receipt { message: None, .. })), "{shown:?}");
    let seen = server.next("answer").await;
    assert_eq!(seen.json()["text"], "*Stopped.*");
    assert!(!seen.head.to_lowercase().contains("authorization"), "no token goes there");
    let whispered = channel.sender.deliver(&ours).await;
    assert!(matches!(whispered, Delivery::Sent(_)), "{whispered:?}");
    let seen = server.next("chat.postEphemeral").await.json();
    assert_eq!((&seen["channel"], &seen["user"]), (&json!("C2"), &json!("U2")));
    server.add("chat.postEphemeral", Reply::refusal("not_in_channel"));
    server.add("chat.postMessage", Reply::ok(json!({ "ts": "1.000003" })));
    let foreign = channel.sender.deliver(&answer("https://evil.example/x".to_owned())).await;
    assert!(matches!(foreign, Delivery::Sent(Receipt { message: Some(_), .. })), "{foreign:?}");
    assert_eq!(server.next("chat.postMessage").await.json()["channel"], "U2", "to the person");
}

#[tokio::test]
async fn a_page_is_no_yes_to_a_commands_answer() {
    for (reply, is_taken) in [
        (Reply::Text(200, "OK"), true),
        (Reply::Text(200, ""), true),
        (Reply::ok(json!({})), true),
        (Reply::Text(200, "<html>sign in"), false),
        (Reply::Json(200, json!({})), false),
    ] {
        let server = Server::start([("answer", reply.clone())]).await;
        let channel = server.channel();
        let url = format!("http://{}/answer", server.address);
        let token = json!({ "url": url, "alone": true }).to_string();
        let until = chrono::DateTime::UNIX_EPOCH;
        let window = ReplyWindow { token, until, calls: 5, hold_at: None };
        let conversation = ConversationId::new(channel.account.clone(), "slack:T1:C2");
        let outbound = Outbound::text(conversation, "hi").within(Some(window));
        let told = channel.sender.deliver(&channel.sender.render(&outbound).remove(0)).await;
        assert_eq!(matches!(told, Delivery::Sent(_)), is_taken, "{reply:?}: {told:?}");
        assert_eq!(matches!(told, Delivery::Unclear { .. }), !is_taken, "{reply:?}: {told:?}");
    }
}

#[tokio::test]
async fn a_command_in_a_closed_channel_is_answered_aside() {
    let mut server = Server::start([
        ("chat.postMessage", Reply::refusal("not_in_channel")),
        ("answer", Reply::Text(200, "ok")),
    ])
    .await;
    let channel = server.channel();
    let url = format!("http://{}/answer", server.address);
    let token = json!({ "url": url, "alone": false }).to_string();
    let window =
        ReplyWindow { token, until: chrono::DateTime::UNIX_EPOCH, calls: 5, hold_at: None };
    let conversation = ConversationId::new(channel.account.clone(), "slack:T1:C2");
    let outbound = Outbound::text(conversation, "hi").within(Some(window));
    let shown = channel.sender.deliver(&channel.sender.render(&outbound).remove(0)).await;
    assert!(matches!(shown, Delivery::Sent(_)), "{shown:?}");
    assert_eq!(server.next("answer").await.json()["text"], "hi");
}
