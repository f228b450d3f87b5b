//! Streams against a scripted Slack: what is called, and what a failure or a refusal comes to.

use selkie_channel_core::{
    Body, Channel, ConversationId, GrowingText, MessageRef, Outbound, Part, PersonId,
};

use super::*;
use crate::testkit::{Reply, Server};

const THREAD: &str = "slack:T1:C2:1763640000.000100";
const TS: &str = "1763640001.000200";

/// A part that shows a text as far as it is written.
fn so_far(channel: &Channel, conversation: &str, text: &str, over: Option<&str>) -> Part {
    let conversation = ConversationId::new(channel.account.clone(), conversation);
    let reader = Some(PersonId::new("slack:T1:U2"));
    let said = Outbound::text(conversation, format!("{text} …"));
    let said = said.over(over.map(MessageRef::new));
    let said = said.quoting(Some(MessageRef::new("1763640000.000100")));
    channel.sender.render(&said.growing(GrowingText { so_far: text.to_owned(), reader })).remove(0)
}

/// The part that says the whole.
fn whole(channel: &Channel, text: &str) -> Part {
    let conversation = ConversationId::new(channel.account.clone(), THREAD);
    let said = Outbound::text(conversation, text).over(Some(MessageRef::new(TS)));
    channel.sender.render(&said).remove(0)
}

fn withdrawal(channel: &Channel) -> Part {
    let conversation = ConversationId::new(channel.account.clone(), THREAD);
    let body = Body::Withdrawal { message: MessageRef::new(TS) };
    channel.sender.render(&Outbound::new(conversation, body)).remove(0)
}

fn at() -> Reply {
    Reply::ok(json!({ "channel": "C2", "ts": TS }))
}

/// A server on which a message grows: "The water " stands there.
async fn begun() -> (Server, Channel) {
    let mut server = Server::start([("chat.startStream", at())]).await;
    let channel = server.channel();
    let delivery = channel.sender.deliver(&so_far(&channel, THREAD, "The water will", None)).await;
    assert_eq!(message(&delivery), Some(TS), "{delivery:?}");
    server.next("chat.startStream").await;
    (server, channel)
}

async fn grow(channel: &Channel, text: &str) -> Delivery {
    channel.sender.deliver(&so_far(channel, THREAD, text, Some(TS))).await
}

fn message(delivery: &Delivery) -> Option<&str> {
    let Delivery::Sent(receipt) = delivery else { panic!("{delivery:?}") };
    receipt.message.as_ref().map(MessageRef::as_str)
}

#[tokio::test]
async fn only_what_is_new_is_appended() {
    let mut server = Server::start([("chat.startStream", at())]).await;
    let channel = server.channel();
    channel.sender.deliver(&so_far(&channel, THREAD, "The water will", None)).await;
    let begun = server.next("chat.startStream").await.json();
    insta::assert_json_snapshot!(begun, @r#"
    {
      "channel": "C2",
      "thread_ts": "1763640000.000100",
      "markdown_text": "The water ",
      "recipient_team_id": "T1",
      "recipient_user_id": "U2"
    }
    "#);
    server.add("chat.appendStream", at());
    grow(&channel, "The water will come **at").await;
    let more = server.next("chat.appendStream").await.json();
    assert_eq!(more, json!({ "channel": "C2", "ts": TS, "markdown_text": "will come " }));
    let nothing = grow(&channel, "The water will come **at").await;
    assert_eq!(message(&nothing), None);
    assert!(!server.was_asked(), "nothing is new");
}

#[tokio::test]
async fn prose_is_whole_with_the_end_of_its_stream() {
    let (mut server, channel) = begun().await;
    let text = "The water will come at four.";
    server.add("chat.stopStream", Reply::ok(json!({ "ts": TS, "message": { "text": text } })));
    let said = channel.sender.deliver(&whole(&channel, text)).await;
    assert_eq!(message(&said), Some(TS));
    let mut end = server.next("chat.stopStream").await.json();
    assert_eq!(end["markdown_text"], "will come at four.");
    assert_eq!(end["metadata"].take()["event_type"], "selkie_part", "it is found by its key");
    assert!(!server.was_asked());
}

#[tokio::test]
async fn what_reads_otherwise_is_set_after_the_end_of_its_stream() {
    for text in ["The water will come **at four**.", "At four."] {
        let (mut server, channel) = begun().await;
        let stopped = json!({ "ts": TS, "message": { "text": "The water" } });
        server.add("chat.stopStream", Reply::ok(stopped));
        server.add("chat.update", at());
        let said = channel.sender.deliver(&whole(&channel, text)).await;
        assert_eq!(message(&said), Some(TS));
        assert_eq!(server.next("chat.stopStream").await.json()["markdown_text"], Value::Null);
        let set = server.next("chat.update").await.json();
        assert_eq!((&set["text"], &set["blocks"]), (&json!(text.replace("**", "*")), &json!([])));
    }
}

#[tokio::test]
async fn a_text_that_begins_again_replaces_and_is_edited_from_then_on() {
    let (mut server, channel) = begun().await;
    server.add("chat.stopStream", at());
    for _ in 0..2 {
        server.add("chat.update", at());
    }
    grow(&channel, "It comes in").await;
    server.next("chat.stopStream").await;
    assert_eq!(server.next("chat.update").await.json()["text"], "It comes in …");
    grow(&channel, "It comes in at five").await;
    assert_eq!(server.next("chat.update").await.json()["text"], "It comes in at five …");
    assert!(!server.was_asked());
}

#[tokio::test]
async fn a_stream_that_has_ended_is_edited_from_then_on() {
    for code in ["message_not_in_streaming_state", "messaging_processing_failed"] {
        let (mut server, channel) = begun().await;
        server.add("chat.appendStream", Reply::refusal(code));
        server.add("chat.stopStream", Reply::refusal("message_not_in_streaming_state"));
        server.add("chat.update", at());
        grow(&channel, "The water will come").await;
        let set = server.next("chat.update").await.json();
        assert_eq!(set["text"], "The water will come …");
    }
}

#[tokio::test]
async fn a_person_who_stops_it_sees_no_more_before_the_whole() {
    let (mut server, channel) = begun().await;
    server.add("chat.appendStream", Reply::refusal("stopped_by_user"));
    for (text, is_stopped) in
        [("The water will come", true), ("The water will come at four", false)]
    {
        let Delivery::Sent(receipt) = grow(&channel, text).await else { panic!("{text}") };
        assert_eq!((receipt.message, receipt.stopped), (None, is_stopped), "{text}");
    }
    server.next("chat.appendStream").await;
    assert!(!server.was_asked());
    server.add("chat.update", at());
    let text = "The water will come at four.";
    channel.sender.deliver(&whole(&channel, text)).await;
    assert_eq!(server.next("chat.update").await.json()["text"], text);
}

#[tokio::test]
async fn a_piece_that_may_have_arrived_is_not_appended_twice() {
    let (mut server, channel) = begun().await;
    server.add("chat.appendStream", Reply::Cut);
    let cut = grow(&channel, "The water will come").await;
    assert!(matches!(cut, Delivery::Retry { .. }), "{cut:?}");
    server.add("chat.stopStream", at());
    server.add("chat.update", at());
    grow(&channel, "The water will come at").await;
    assert_eq!(server.next("chat.stopStream").await.json()["markdown_text"], Value::Null);
    server.next("chat.update").await;
}

#[tokio::test]
async fn limits_delay_no_last_word_but_their_own() {
    let (mut server, channel) = begun().await;
    server.add("chat.appendStream", Reply::Limited(30));
    assert_eq!(message(&grow(&channel, "The water will come").await), None);
    server.next("chat.appendStream").await;
    assert_eq!(message(&grow(&channel, "The water will come at four").await), None);
    assert!(!server.was_asked(), "not before its time");
    server.add("chat.stopStream", Reply::Limited(7));
    let late = channel.sender.deliver(&whole(&channel, "**No.**")).await;
    let Delivery::Retry { after, .. } = late else { panic!("{late:?}") };
    assert_eq!(after, Duration::from_secs(7));
}

#[tokio::test]
async fn one_channels_long_limit_holds_no_other_back() {
    let (mut server, channel) = begun().await;
    server.add("chat.appendStream", Reply::Limited(600));
    grow(&channel, "The water will come").await;
    server.next("chat.appendStream").await;
    let elsewhere = "slack:T1:C3:1763640000.000100";
    server.add("chat.startStream", at());
    channel.sender.deliver(&so_far(&channel, elsewhere, "The tide will", None)).await;
    assert_eq!(server.next("chat.startStream").await.json()["channel"], "C3");
    server.add("chat.appendStream", at());
    let more = so_far(&channel, elsewhere, "The tide will come", Some(TS));
    channel.sender.deliver(&more).await;
    assert_eq!(server.next("chat.appendStream").await.json()["channel"], "C3");
}

#[tokio::test]
async fn an_answer_does_not_wait_until_its_beginning_may_be_changed() {
    let mut server = Server::start([
        ("chat.update", Reply::Limited(600)),
        ("chat.delete", Reply::ok(json!({}))),
    ])
    .await;
    let channel = server.channel();
    let said = channel.sender.deliver(&whole(&channel, "At four.")).await;
    let Delivery::Instead { part, .. } = said else { panic!("{said:?}") };
    assert_eq!(server.next("chat.delete").await.json()["ts"], TS, "the beginning gives way");
    server.add("chat.postMessage", at());
    assert_eq!(message(&channel.sender.deliver(&part).await), Some(TS));
    assert_eq!(server.next("chat.postMessage").await.json()["text"], "At four.");
}

#[tokio::test]
async fn where_none_is_taken_the_message_is_posted_and_none_tried_for_a_while() {
    // How often it is tried: twice here, then in another channel.
    for (code, tries) in [
        ("missing_scope", [true, false, false]),
        ("unknown_method", [true, false, false]),
        ("channel_type_not_supported", [true, false, true]),
        ("missing_recipient_user_id", [true, false, true]),
        ("messaging_processing_failed", [true, true, true]),
    ] {
        let mut server = Server::start([]).await;
        let channel = server.channel();
        for (place, is_tried) in [THREAD, THREAD, "slack:T1:C3:1763640000.000100"].iter().zip(tries)
        {
            if is_tried {
                server.add("chat.startStream", Reply::refusal(code));
            }
            server.add("chat.postMessage", at());
            let part = so_far(&channel, place, "The water will", None);
            assert_eq!(message(&channel.sender.deliver(&part).await), Some(TS));
            let tried = if is_tried { &["chat.startStream"][..] } else { &[] };
            assert_eq!(server.asked(), [tried, &["chat.postMessage"]].concat(), "{code}");
        }
    }
}

#[tokio::test]
async fn a_limited_stream_is_posted_and_the_next_one_tried() {
    let script = [("chat.startStream", Reply::Limited(0)), ("chat.postMessage", at())];
    let mut server = Server::start(script).await;
    let channel = server.channel();
    let part = so_far(&channel, THREAD, "The water will", None);
    assert_eq!(message(&channel.sender.deliver(&part).await), Some(TS));
    server.next("chat.postMessage").await;
    server.add("chat.startStream", at());
    channel.sender.deliver(&part).await;
    server.next("chat.startStream").await;
}

#[tokio::test]
async fn in_direct_messages_a_reader_is_named_where_that_is_asked_for() {
    let direct = "slack:T1:D3:1763640000.000100";
    let missing = Reply::refusal("missing_recipient_team_id");
    let mut server =
        Server::start([("chat.startStream", missing), ("chat.startStream", at())]).await;
    let channel = server.channel();
    channel.sender.deliver(&so_far(&channel, direct, "The water will", None)).await;
    assert_eq!(server.next("chat.startStream").await.json()["recipient_user_id"], Value::Null);
    assert_eq!(server.next("chat.startStream").await.json()["recipient_user_id"], "U2");
}

fn page(messages: Value) -> (&'static str, Reply) {
    ("conversations.replies", Reply::ok(json!({ "messages": messages })))
}

fn ours(ts: &str, text: &str) -> Value {
    json!({ "ts": ts, "user": "U9", "bot_id": "B9", "text": text })
}

#[tokio::test]
async fn a_start_whose_answer_was_lost_is_found_in_its_thread_and_grows_on() {
    for lost in [
        Reply::Cut,
        Reply::Text(503, "busy"),
        Reply::refusal("internal_error"),
        Reply::ok(json!({ "channel": "C2" })),
    ] {
        let mut server = Server::start([("chat.startStream", lost.clone())]).await;
        let channel = server.channel();
        let part = so_far(&channel, THREAD, "The water will", None);
        let cut = channel.sender.deliver(&part).await;
        assert!(matches!(cut, Delivery::Unclear { .. }), "{lost:?}: {cut:?}");
        // It may be on its way yet.
        let root = ours("1763640000.000100", "The water");
        let other = ours("1763640000.500000", "The tide will");
        let keyed = json!({ "event_type": "selkie_part", "event_payload": { "key": "x" } });
        let mut said = ours("1763640000.600000", "The water");
        said["metadata"] = keyed;
        let theirs = json!({ "ts": "1763640000.700000", "user": "U2", "text": "The water" });
        let (method, none) = page(json!([root, other, said, theirs]));
        server.add(method, none.clone());
        assert_eq!(channel.sender.lookup(&part).await, Lookup::NotSent);
        let asked = server.next("conversations.replies").await.head;
        assert!(asked.contains("oldest=1763640000.000100"), "{asked}");
        let (method, there) = page(json!([root, other, theirs, ours(TS, "The water")]));
        server.add(method, there);
        let found = channel.sender.lookup(&part).await;
        assert!(matches!(&found, Lookup::Sent(r) if r.message == Some(MessageRef::new(TS))));
        server.add("chat.appendStream", at());
        grow(&channel, "The water will come").await;
        let more = server.next("chat.appendStream").await.json();
        assert_eq!((&more["ts"], &more["markdown_text"]), (&json!(TS), &json!("will ")));
    }
}

#[tokio::test]
async fn a_thread_that_may_not_be_read_leaves_the_doubt() {
    let missing = ("conversations.replies", Reply::refusal("missing_scope"));
    let server = Server::start([("chat.startStream", Reply::Cut), missing]).await;
    let channel = server.channel();
    let part = so_far(&channel, THREAD, "The water will", None);
    channel.sender.deliver(&part).await;
    assert_eq!(channel.sender.lookup(&part).await, Lookup::Unknown);
}

#[tokio::test]
async fn a_look_that_is_limited_is_made_later() {
    let limited = ("conversations.replies", Reply::Limited(30));
    let server = Server::start([("chat.startStream", Reply::Cut), limited]).await;
    let channel = server.channel();
    let part = so_far(&channel, THREAD, "The water will", None);
    channel.sender.deliver(&part).await;
    let later = channel.sender.lookup(&part).await;
    assert!(matches!(later, Lookup::Later { .. }), "{later:?}");
}

#[tokio::test]
async fn what_an_earlier_life_left_growing_is_stopped_and_set_or_taken_away() {
    let mut server = Server::start([
        ("chat.update", Reply::refusal("streaming_state_conflict")),
        ("chat.stopStream", at()),
        ("chat.update", at()),
        ("chat.delete", Reply::refusal("cant_delete_message")),
        ("chat.stopStream", at()),
        ("chat.delete", at()),
    ])
    .await;
    let channel = server.channel();
    let said = channel.sender.deliver(&whole(&channel, "At four.")).await;
    assert_eq!(message(&said), Some(TS));
    for method in ["chat.update", "chat.stopStream", "chat.update"] {
        assert_eq!(server.next(method).await.json()["ts"], TS);
    }
    let gone = channel.sender.deliver(&withdrawal(&channel)).await;
    assert!(matches!(gone, Delivery::Sent(_)), "{gone:?}");
    for method in ["chat.delete", "chat.stopStream", "chat.delete"] {
        assert_eq!(server.next(method).await.json()["ts"], TS);
    }
}

#[tokio::test]
async fn what_cannot_be_stopped_is_said_anew() {
    let conflict = || ("chat.update", Reply::refusal("streaming_state_conflict"));
    let stuck = ("chat.stopStream", Reply::refusal("user_not_found"));
    let server = Server::start([conflict(), stuck, conflict()]).await;
    let channel = server.channel();
    let said = channel.sender.deliver(&whole(&channel, "At four.")).await;
    assert!(matches!(said, Delivery::Instead { .. }), "{said:?}");
}

#[tokio::test]
async fn a_withdrawn_stream_is_stopped_first() {
    let (mut server, channel) = begun().await;
    server.add("chat.stopStream", at());
    server.add("chat.delete", at());
    channel.sender.deliver(&withdrawal(&channel)).await;
    server.next("chat.stopStream").await;
    server.next("chat.delete").await;
    assert!(!server.was_asked());
}

#[test]
fn a_refusal_reaches_as_far_as_it_says() {
    let rows = [
        ("missing_scope", Reach::All),
        ("unknown_method", Reach::All),
        ("user_not_found", Reach::Channel),
        ("no_permission", Reach::Channel),
        ("channel_type_not_supported", Reach::Channel),
        ("missing_recipient_user_id", Reach::Channel),
        ("streaming_state_conflict", Reach::Channel),
        ("something_new", Reach::Channel),
        ("ratelimited", Reach::Once),
        ("token_revoked", Reach::Once),
        ("not_in_channel", Reach::Once),
        ("msg_too_long", Reach::Once),
        ("thread_not_found", Reach::Once),
    ];
    for (code, wanted) in rows {
        let refusal = Refusal { code: code.to_owned(), ..Refusal::default() };
        assert_eq!(reach(&refusal), wanted, "{code}");
    }
}
