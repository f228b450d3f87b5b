//! The durable sockets and the fetching of files, over real connections.

use std::time::Duration;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use selkie_channel_core::{
    AddressReason, AttachmentKind, Channel, Cursor, Inbound, InboxBroken, Pulse, Redactor, What,
};
use serde_json::json;
use tokio::sync::mpsc;

use super::*;
use crate::testkit::{APP_TOKEN, BOT_TOKEN, Reply, Server, channel, with_sockets};

/// Hands on what it stores; refuses the first `broken` batches.
struct Memory {
    told: mpsc::UnboundedSender<Vec<Inbound>>,
    broken: AtomicUsize,
    notices: Mutex<Vec<String>>,
}

#[async_trait]
impl Inbox for Memory {
    async fn accept(&self, batch: Vec<Inbound>, _: Option<Cursor>) -> Result<(), InboxBroken> {
        let left = self.broken.load(Ordering::SeqCst);
        if left > 0 {
            self.broken.store(left - 1, Ordering::SeqCst);
            return Err(InboxBroken("disk full".to_owned()));
        }
        self.told.send(batch).unwrap();
        Ok(())
    }

    async fn cursor(&self, _: &AccountId) -> Result<Option<(Cursor, Duration)>, InboxBroken> {
        Ok(None)
    }

    async fn notice(&self, _: &AccountId, key: &str, _: &str) {
        self.notices.lock().unwrap().push(key.to_owned());
    }

    fn pulse(&self, _: &AccountId, _: Pulse) {}
}

fn memory(broken: usize) -> (Memory, mpsc::UnboundedReceiver<Vec<Inbound>>) {
    let (told, receiver) = mpsc::unbounded_channel();
    let notices = Mutex::default();
    (Memory { told, broken: AtomicUsize::new(broken), notices }, receiver)
}

/// Runs a story while the channel listens.
async fn while_listening<T>(
    channel: &Channel,
    inbox: &Memory,
    story: impl Future<Output = T>,
) -> T {
    let stop = CancellationToken::new();
    let receiver = channel.receiver.as_ref().unwrap();
    tokio::select! {
        end = receiver.listen(inbox, stop.clone()) => panic!("listening ended: {end:?}"),
        value = story => value,
    }
}

fn message(envelope: &str, ts: &str, text: &str) -> serde_json::Value {
    json!({
        "envelope_id": envelope, "type": "events_api",
        "payload": { "team_id": "T1", "event_id": envelope, "event": {
            "type": "message", "channel": "C2", "channel_type": "channel", "user": "U2",
            "ts": ts, "text": text,
        } },
    })
}

#[tokio::test]
async fn an_event_is_stored_and_then_acknowledged() {
    let mut server = Server::start([]).await;
    let channel = server.channel();
    let (inbox, mut rows) = memory(0);
    while_listening(&channel, &inbox, async {
        let mut ws = server.socket().await;
        ws.send(message("e1", "1763640000.000100", "<@U9> tea?")).await;
        let row = rows.recv().await.unwrap().remove(0);
        assert_eq!(row.key, "m:T1:C2:1763640000.000100");
        assert_eq!(row.conversation.key(), "slack:T1:C2:1763640000.000100");
        assert_eq!((row.speaker.name.as_str(), row.title.as_str()), ("Ada", "tea-room"));
        assert_eq!(ws.next().await, Some(json!({ "envelope_id": "e1" })));
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_stored_is_not_acknowledged() {
    let mut server = Server::start([]).await;
    let channel = server.channel();
    let (inbox, mut rows) = memory(1);
    while_listening(&channel, &inbox, async {
        let mut ws = server.socket().await;
        ws.send(message("e1", "1763640000.000100", "hi")).await;
        // Slack sends it again; the first acknowledgement is the second envelope's.
        while inbox.broken.load(Ordering::SeqCst) > 0 {
            tokio::task::yield_now().await;
        }
        ws.send(message("e2", "1763640000.000100", "hi")).await;
        assert_eq!(rows.recv().await.unwrap()[0].text, "hi");
        assert_eq!(ws.next().await, Some(json!({ "envelope_id": "e2" })));
    })
    .await;
}

#[tokio::test]
async fn half_a_character_costs_no_message() {
    let mut server = Server::start([]).await;
    let channel = server.channel();
    let (inbox, mut rows) = memory(0);
    while_listening(&channel, &inbox, async {
        let mut ws = server.socket().await;
        let sent = message("e1", "1763640000.000100", "tea CUT").to_string();
        ws.raw(&sent.replace("CUT", r"\ud83d")).await;
        assert_eq!(rows.recv().await.unwrap()[0].text, "tea \u{fffd}");
        assert_eq!(ws.next().await, Some(json!({ "envelope_id": "e1" })));
    })
    .await;
}

#[tokio::test]
async fn an_envelope_that_cannot_be_read_is_kept_and_acknowledged() {
    let mut server = Server::start([]).await;
    let channel = server.channel();
    let (inbox, mut rows) = memory(0);
    while_listening(&channel, &inbox, async {
        let mut ws = server.socket().await;
        let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
        for (id, rest) in [("D1", deep.as_str()), ("D2", "{ cut off")] {
            let start = format!(r#"{{"type":"events_api","envelope_id": "{id}","payload":"#);
            ws.raw(&format!("{start}{rest}}}")).await;
            let row = rows.recv().await.unwrap().remove(0);
            assert!(matches!(row.what, What::Unparsed { .. }), "{row:?}");
            assert_eq!(ws.next().await, Some(json!({ "envelope_id": id })));
        }
    })
    .await;
}

#[tokio::test]
async fn a_bad_frame_is_kept_and_closes_nothing() {
    let mut server = Server::start([]).await;
    let channel = server.channel();
    let (inbox, mut rows) = memory(0);
    while_listening(&channel, &inbox, async {
        let mut ws = server.socket().await;
        ws.raw(&format!("{{ not json {BOT_TOKEN}")).await;
        let row = rows.recv().await.unwrap().remove(0);
        let What::Unparsed { raw } = row.what else { panic!("{row:?}") };
        assert!(!raw.contains("hunter2"), "{raw}");
        ws.send(json!({ "envelope_id": "e1", "type": "events_api", "payload": 7 })).await;
        assert_eq!(ws.next().await, Some(json!({ "envelope_id": "e1" })));
    })
    .await;
}

#[tokio::test]
async fn a_renewed_socket_is_closed_before_the_next_is_opened() {
    let mut server = Server::start([]).await;
    let channel = server.channel();
    let (inbox, mut rows) = memory(0);
    while_listening(&channel, &inbox, async {
        let mut old = server.socket().await;
        old.send(json!({ "type": "disconnect", "reason": "warning" })).await;
        assert_eq!(old.next().await, None);
        assert!(!server.has_socket(), "two sockets where one is allowed");
        let mut new = server.socket().await;
        new.send(message("e1", "1763640000.000100", "hi")).await;
        assert_eq!(rows.recv().await.unwrap()[0].text, "hi");
    })
    .await;
}

#[tokio::test]
async fn another_programs_sockets_are_waited_for_and_spoken_of() {
    let mut server = Server::start([]).await;
    let channel = server.channel();
    let (inbox, mut rows) = memory(0);
    while_listening(&channel, &inbox, async {
        while inbox.notices.lock().unwrap().is_empty() {
            let mut ws = server.greeted(3).await;
            assert_eq!(ws.next().await, None, "closed again");
        }
        let mut ws = server.socket().await;
        ws.send(message("e1", "1763640000.000100", "hi")).await;
        assert_eq!(rows.recv().await.unwrap()[0].text, "hi");
        assert_eq!(inbox.notices.lock().unwrap()[0], "slack-taken");
    })
    .await;
}

#[tokio::test]
async fn a_socket_that_says_nothing_is_given_up() {
    let mut server = Server::start([]).await;
    let channel = server.channel();
    let (inbox, _rows) = memory(0);
    while_listening(&channel, &inbox, async {
        // Nobody reads this end: no pong comes back.
        let _half_open = server.socket().await;
        let _next = server.socket().await;
    })
    .await;
}

#[tokio::test]
async fn opening_is_tried_again_until_the_token_is_refused() {
    let mut server = Server::start([
        ("apps.connections.open", Reply::Text(503, "busy")),
        ("apps.connections.open", Reply::Limited(0)),
        ("apps.connections.open", Reply::Cut),
        ("apps.connections.open", Reply::refusal("invalid_auth")),
    ])
    .await;
    let channel = server.channel();
    let (inbox, _rows) = memory(0);
    let receiver = channel.receiver.as_ref().unwrap();
    let end = receiver.listen(&inbox, CancellationToken::new()).await;
    let ListenEnd::Refused(words) = end else { panic!("{end:?}") };
    assert!(words.contains("slack.app_token") && !words.contains(APP_TOKEN), "{words}");
    let seen = server.next("apps.connections.open").await;
    assert!(seen.head.contains(&format!("Bearer {APP_TOKEN}")), "{}", seen.head);
}

#[tokio::test]
async fn a_mention_is_stored_while_auth_test_is_unanswered() {
    let mut server = Server::start([
        ("auth.test", Reply::Limited(60)),
        ("auth.test", Reply::Cut),
        ("auth.test", Reply::Text(503, "busy")),
    ])
    .await;
    let channel = server.channel();
    let (inbox, mut rows) = memory(0);
    while_listening(&channel, &inbox, async {
        let mut ws = server.socket().await;
        let mut said = message("e1", "1763640000.000100", "<@U9> tea?");
        said["payload"]["authorizations"] = json!([{ "team_id": "T1", "user_id": "U9" }]);
        let asked = tokio::time::Instant::now();
        ws.send(said).await;
        let row = rows.recv().await.unwrap().remove(0);
        assert_eq!((row.addressed, row.text.as_str()), (AddressReason::Mention, "tea?"));
        assert!(asked.elapsed() < Duration::from_secs(2), "nobody waits for auth.test");
    })
    .await;
}

#[tokio::test]
async fn a_refused_renewal_takes_nothing_from_a_socket_that_hears() {
    let mut server = Server::start([]).await;
    let channel = with_sockets(server.address, 2);
    let (inbox, mut rows) = memory(0);
    while_listening(&channel, &inbox, async {
        let mut first = server.socket().await;
        let mut second = server.greeted(2).await;
        for _ in 0..6 {
            server.add("apps.connections.open", Reply::refusal("invalid_auth"));
        }
        second.send(json!({ "type": "disconnect", "reason": "warning" })).await;
        assert_eq!(second.next().await, None);
        for _ in 0..8 {
            server.next("apps.connections.open").await;
        }
        first.send(message("e1", "1763640000.000100", "hi")).await;
        assert_eq!(rows.recv().await.unwrap()[0].text, "hi");
        let mut third = server.greeted(2).await;
        third.send(message("e2", "1763640000.000200", "ho")).await;
        assert_eq!(rows.recv().await.unwrap()[0].text, "ho");
    })
    .await;
}

#[tokio::test]
async fn whom_a_text_names_by_id_is_named() {
    let mut server = Server::start([
        ("users.info", Reply::ok(json!({ "user": { "profile": { "display_name": "Ada" } } }))),
        (
            "usergroups.list",
            Reply::ok(json!({
                "usergroups": [{ "id": "S1", "handle": "tea-team" }],
            })),
        ),
    ])
    .await;
    let channel = server.channel();
    let (inbox, mut rows) = memory(0);
    while_listening(&channel, &inbox, async {
        let mut ws = server.socket().await;
        let text = "<@U9> <@U2> in <#C7|>, <!subteam^S1> and <!here>: tea?";
        ws.send(message("e1", "1763640000.000100", text)).await;
        let row = rows.recv().await.unwrap().remove(0);
        assert_eq!(row.text, "@Ada in #tea-room, @tea-team and @here: tea?");
        let mut changed = message("e2", "1763640009.000100", "");
        changed["payload"]["event"] = json!({
            "type": "message", "subtype": "message_changed", "channel": "C2",
            "ts": "1763640009.000100", "message": { "ts": "1763640000.000100", "user": "U2",
                "text": "<@U9> cake?" },
        });
        ws.send(changed).await;
        let row = rows.recv().await.unwrap().remove(0);
        assert_eq!((row.what, row.speaker.name.as_str()), (What::Edit, "Ada"));
    })
    .await;
}

async fn before(server: &Server, thread: &str, before: i64) -> Result<Earlier, String> {
    let channel = server.channel();
    let key = format!("slack:T1:C2:{thread}");
    let conversation = ConversationId::new(channel.account.clone(), key);
    channel.receiver.as_ref().unwrap().backfill(&conversation, before, 3).await
}

fn page(seconds: std::ops::Range<i64>, next: &str) -> Reply {
    let said =
        |s| json!({ "ts": format!("{s}.000100"), "user": "U2", "text": format!("line {s}") });
    let messages: Vec<_> = seconds.map(said).collect();
    Reply::ok(json!({ "messages": messages, "response_metadata": { "next_cursor": next } }))
}

fn texts(earlier: &Earlier) -> Vec<&str> {
    earlier.lines.iter().map(|line| line.text.as_str()).collect()
}

#[tokio::test]
async fn a_thread_is_read_again_after_a_failure_and_what_is_there_is_kept() {
    let server = Server::start([
        ("conversations.replies", Reply::Text(500, "oh")),
        ("conversations.replies", page(1000..1003, "n1")),
        ("conversations.replies", Reply::Limited(0)),
        ("conversations.replies", page(1003..1006, "")),
    ])
    .await;
    let whole = before(&server, "1000.000100", 1_006_000_000).await.unwrap();
    assert_eq!(texts(&whole), ["line 1000", "line 1004", "line 1005"]);
    assert_eq!(whole.missing, None);
    server.add("conversations.replies", page(1000..1003, "n1"));
    server.add("conversations.replies", Reply::Limited(60));
    let part = before(&server, "1000.000100", 1_006_000_000).await.unwrap();
    assert_eq!(texts(&part), ["line 1000", "line 1001", "line 1002"]);
    assert!(part.missing.unwrap().contains("ratelimited"));
}

#[tokio::test]
async fn an_app_that_gets_little_at_a_time_reads_a_threads_end_first() {
    let mut server = Server::start([
        ("conversations.replies", page(1000..1015, "n1")),
        ("conversations.replies", page(4990..4995, "")),
    ])
    .await;
    let channel = server.channel();
    let conversation = ConversationId::new(channel.account.clone(), "slack:T1:C2:1000.000100");
    let receiver = channel.receiver.as_ref().unwrap();
    let lines = receiver.backfill(&conversation, 5_000_000_000, 3).await.unwrap();
    assert_eq!(texts(&lines), ["line 1000", "line 4993", "line 4994"]);
    assert_eq!(lines.missing, None);
    assert!(!server.next("conversations.replies").await.head.contains("oldest"));
    let second = server.next("conversations.replies").await.head;
    assert!(second.contains("oldest=4880.000000") && !second.contains("cursor"), "{second}");
    // Known by now: one page a minute is the newest one.
    server.add("conversations.replies", page(5990..5992, ""));
    server.add("conversations.replies", Reply::Limited(60));
    let lines = receiver.backfill(&conversation, 6_000_000_000, 9).await.unwrap();
    assert_eq!(texts(&lines), ["line 5990", "line 5991"]);
    assert!(lines.missing.unwrap().contains("ratelimited"));
    assert!(server.next("conversations.replies").await.head.contains("oldest=5880.000000"));
}

#[tokio::test]
async fn at_a_channels_root_its_newest_lines_are_what_was_said_before() {
    let mut server = Server::start([("conversations.history", page(1000..1003, "more"))]).await;
    let lines = before(&server, "1003.000000", 1_003_000_000).await.unwrap();
    assert_eq!(texts(&lines), ["line 1000", "line 1001", "line 1002"]);
    assert_eq!(lines.lines[0].conversation.key(), "slack:T1:C2:1003.000000");
    assert!(lines.lines[0].key.ends_with("@1003.000000"), "it takes nobody's row");
    let seen = server.next("conversations.history").await;
    assert!(seen.head.contains("latest=1003.000000"), "{}", seen.head);
    let scope = json!({ "ok": false, "error": "missing_scope", "needed": "channels:history" });
    server.add("conversations.history", Reply::Json(200, scope));
    let refused = before(&server, "1003.000000", 1_003_000_000).await.unwrap_err();
    assert!(refused.contains("channels:history"), "{refused}");
}

fn attachment(url: &str) -> Attachment {
    Attachment {
        handle: json!({ "file": "F1", "url": url }).to_string(),
        kind: AttachmentKind::Document,
        name: "notes.txt".to_owned(),
        mime: Some("text/plain".to_owned()),
        size: None,
        duration: None,
    }
}

async fn fetch(server: &Server, url: &str) -> Result<Vec<u8>, String> {
    let channel = channel(server.address, Redactor::default());
    let mut sink = Vec::new();
    let receiver = channel.receiver.as_ref().unwrap();
    receiver.fetch(&attachment(url), 10, &mut sink).await.map(|_| sink)
}

#[tokio::test]
async fn a_file_is_fetched_with_the_token_from_slacks_hosts_only() {
    let mut server = Server::start([
        ("notes.txt", Reply::Text(200, "ten bytes!")),
        ("away.txt", Reply::Redirect("http://evil.example/x".to_owned())),
        ("long.txt", Reply::Text(200, "eleven byte")),
    ])
    .await;
    let base = format!("http://{}/files", server.address);
    assert_eq!(fetch(&server, &format!("{base}/notes.txt")).await.unwrap(), b"ten bytes!");
    let seen = server.next("notes.txt").await;
    assert!(seen.head.to_lowercase().contains(&format!("authorization: bearer {BOT_TOKEN}")));
    let away = fetch(&server, &format!("{base}/away.txt")).await.unwrap_err();
    assert!(away.starts_with("the file is on evil.example, which is not Slack's"), "{away}");
    let elsewhere = fetch(&server, "https://files.slack.com.evil.example/x").await.unwrap_err();
    assert!(elsewhere.contains("not Slack's"), "{elsewhere}");
    server.add("hop.txt", Reply::Redirect(format!("{base}/notes.txt")));
    server.add("notes.txt", Reply::Text(200, "ten bytes!"));
    assert_eq!(fetch(&server, &format!("{base}/hop.txt")).await.unwrap(), b"ten bytes!");
    let behind = server.next("notes.txt").await;
    assert!(!behind.head.to_lowercase().contains("authorization"), "a redirect carries no token");
    let real = fetch(&server, "https://files.slack.com/x").await.unwrap_err();
    assert!(real.contains("not Slack's"), "the base URL is another server's: {real}");
    server.add("notes.txt", Reply::Text(500, "<html>sorry</html>"));
    server.add("notes.txt", Reply::Text(200, "ten bytes!"));
    let again = fetch(&server, &format!("{base}/notes.txt")).await;
    assert_eq!(again.unwrap(), b"ten bytes!", "its server's trouble passes");
    let long = fetch(&server, &format!("{base}/long.txt")).await.unwrap_err();
    assert!(long.contains("too big"), "{long}");
}
