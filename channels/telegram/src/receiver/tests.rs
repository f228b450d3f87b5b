//! The durable long poll and the fetching of files, over a real connection.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use selkie_channel_core::{
    AttachmentKind, Channel, Cursor, Inbound, InboxBroken, Pulse, Redactor, What,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::*;
use crate::testkit::{Reply, Server, TOKEN};

/// What the daemon would be told.
#[derive(Debug)]
enum Told {
    Batch(Vec<Inbound>, Option<Cursor>),
    Notice(String, String),
}

/// Stores in memory; refuses the first `broken` batches.
struct Memory {
    told: mpsc::UnboundedSender<Told>,
    cursor: Mutex<Option<(String, Duration)>>,
    broken: AtomicUsize,
    heard: AtomicUsize,
}

#[async_trait]
impl Inbox for Memory {
    async fn accept(&self, batch: Vec<Inbound>, cursor: Option<Cursor>) -> Result<(), InboxBroken> {
        let left = self.broken.load(Ordering::SeqCst);
        if left > 0 {
            self.broken.store(left - 1, Ordering::SeqCst);
            return Err(InboxBroken("disk full".to_owned()));
        }
        self.told.send(Told::Batch(batch, cursor)).unwrap();
        Ok(())
    }

    async fn cursor(&self, account: &AccountId) -> Result<Option<(Cursor, Duration)>, InboxBroken> {
        let stored = self.cursor.lock().unwrap().clone();
        Ok(stored.map(|(value, age)| (Cursor { account: account.clone(), value }, age)))
    }

    async fn notice(&self, _account: &AccountId, key: &str, text: &str) {
        self.told.send(Told::Notice(key.to_owned(), text.to_owned())).unwrap();
    }

    fn pulse(&self, _account: &AccountId, pulse: Pulse) {
        if pulse == Pulse::Heard {
            self.heard.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn memory(
    cursor: Option<(&str, Duration)>,
    broken: usize,
) -> (Memory, mpsc::UnboundedReceiver<Told>) {
    let (told, receiver) = mpsc::unbounded_channel();
    let memory = Memory {
        told,
        cursor: Mutex::new(cursor.map(|(value, age)| (value.to_owned(), age))),
        broken: AtomicUsize::new(broken),
        heard: AtomicUsize::new(0),
    };
    (memory, receiver)
}

/// Listens while `story` runs, then stops. A story that never ends is the test runner's to report.
async fn listening<T>(channel: &Channel, inbox: &Memory, story: impl Future<Output = T>) -> T {
    let stop = CancellationToken::new();
    let receiver = channel.receiver.as_ref().unwrap();
    let ended = async {
        let out = story.await;
        stop.cancel();
        out
    };
    let (end, out) = tokio::join!(receiver.listen(inbox, stop.clone()), ended);
    assert_eq!(end, ListenEnd::Stopped);
    out
}

fn update(id: i64, text: &str) -> Value {
    json!({ "update_id": id, "message": {
        "message_id": id, "date": 1, "text": text,
        "from": { "id": 4711, "first_name": "Ann" }, "chat": { "id": -100, "type": "group" },
    } })
}

async fn batch(told: &mut mpsc::UnboundedReceiver<Told>) -> (Vec<Inbound>, Option<String>) {
    loop {
        if let Told::Batch(batch, cursor) = told.recv().await.unwrap() {
            return (batch, cursor.map(|cursor| cursor.value));
        }
    }
}

#[tokio::test]
async fn a_batch_is_stored_with_its_cursor_before_it_is_acknowledged() {
    let updates = json!([update(5, "a"), update(6, "hey @selkie_bot")]);
    let mut server = Server::start([("getUpdates", Reply::ok(updates))]).await;
    let (inbox, mut told) = memory(Some(("5", Duration::from_secs(9))), 0);
    let channel = server.channel();
    listening(&channel, &inbox, async {
        let first = server.next("getUpdates").await.json();
        assert_eq!(
            (&first["offset"], &first["timeout"], &first["limit"]),
            (&json!(5), &json!(0), &json!(100)),
            "the first is answered at once"
        );
        assert_eq!(first["allowed_updates"][0], "message");
        let (stored, cursor) = batch(&mut told).await;
        assert_eq!((stored.len(), cursor.as_deref()), (2, Some("7")));
        assert_eq!(stored[1].text, "hey");
        let second = server.next("getUpdates").await.json();
        assert_eq!((&second["offset"], &second["timeout"]), (&json!(7), &json!(50)));
    })
    .await;
    assert!(inbox.heard.load(Ordering::SeqCst) >= 1);
}

#[tokio::test]
async fn what_cannot_be_stored_is_not_acknowledged() {
    let updates = || Reply::ok(json!([update(5, "a")]));
    let script = [("getUpdates", updates()), ("getUpdates", updates())];
    let mut server = Server::start(script).await;
    let (inbox, mut told) = memory(None, 1);
    let channel = server.channel();
    listening(&channel, &inbox, async {
        for _ in 0..2 {
            assert_eq!(server.next("getUpdates").await.json().get("offset"), None);
        }
        assert_eq!(batch(&mut told).await.1.as_deref(), Some("6"));
        assert_eq!(server.next("getUpdates").await.json()["offset"], 6);
    })
    .await;
}

#[tokio::test]
async fn after_an_answer_that_is_too_long_fewer_updates_are_asked_for() {
    let long = Reply::CutAt("{\"ok\":true", 20 << 20);
    let script = [("getUpdates", long), ("getUpdates", Reply::ok(json!([update(5, "a")])))];
    let mut server = Server::start(script).await;
    let (inbox, mut told) = memory(None, 0);
    let channel = server.channel();
    listening(&channel, &inbox, async {
        for wanted in [100, 25] {
            assert_eq!(server.next("getUpdates").await.json()["limit"], wanted);
        }
        assert_eq!(batch(&mut told).await.1.as_deref(), Some("6"));
        assert_eq!(server.next("getUpdates").await.json()["limit"], 50, "and then more again");
    })
    .await;
}

#[tokio::test]
async fn an_update_without_a_number_hides_none_behind_it() {
    let odd = || json!({ "update_id": "none", "message": {} });
    let script = [
        ("getUpdates", Reply::CutAt("{\"ok\":true", 20 << 20)),
        ("getUpdates", Reply::ok(json!([odd()]))),
        ("getUpdates", Reply::ok(json!([odd(), update(5, "a"), update(6, "b")]))),
    ];
    let mut server = Server::start(script).await;
    let (inbox, mut told) = memory(None, 0);
    let channel = server.channel();
    listening(&channel, &inbox, async {
        for wanted in [100, 25, 50] {
            assert_eq!(server.next("getUpdates").await.json()["limit"], wanted);
        }
        let (odd, none) = batch(&mut told).await;
        assert!(matches!(odd[0].what, What::Unparsed { .. }) && none.is_none(), "{odd:?}");
        let (stored, cursor) = batch(&mut told).await;
        assert_eq!((stored.len(), cursor.as_deref()), (3, Some("7")));
        let next = server.next("getUpdates").await.json();
        assert_eq!((&next["offset"], &next["limit"]), (&json!(7), &json!(100)));
    })
    .await;
}

#[tokio::test]
async fn updates_that_are_given_again_and_again_are_not_asked_for_without_a_breath() {
    let again = || ("getUpdates", Reply::ok(json!([update(i64::MAX, "a")])));
    let mut server = Server::start((0..10).map(|_| again())).await;
    let (inbox, _told) = memory(None, 0);
    let channel = server.channel();
    let begun = tokio::time::Instant::now();
    listening(&channel, &inbox, async {
        for _ in 0..10 {
            server.next("getUpdates").await;
        }
    })
    .await;
    assert!(begun.elapsed() >= Duration::from_millis(500), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_cursor_of_a_quiet_week_is_not_sent() {
    let mut server =
        Server::start([("getUpdates", Reply::ok(json!([update(3, "new count")])))]).await;
    let (inbox, _told) = memory(Some(("900", Duration::from_secs(6 * 86_400))), 0);
    let channel = server.channel();
    listening(&channel, &inbox, async {
        assert_eq!(server.next("getUpdates").await.json().get("offset"), None);
        assert_eq!(server.next("getUpdates").await.json()["offset"], 4);
    })
    .await;
}

#[tokio::test]
async fn another_poller_costs_a_new_connection_and_one_notice() {
    let conflict = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
    let mut server = Server::start([("getUpdates", Reply::refusal(409, conflict))]).await;
    let (inbox, mut told) = memory(None, 0);
    let channel = server.channel();
    listening(&channel, &inbox, async {
        let first = server.next("getUpdates").await.connection;
        let Told::Notice(key, text) = told.recv().await.unwrap() else { panic!() };
        assert_eq!(key, "telegram-conflict");
        assert!(text.contains("token of its own"), "{text}");
        assert_ne!(server.next("getUpdates").await.connection, first);
    })
    .await;
}

#[tokio::test]
async fn a_webhook_is_removed() {
    let conflict = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
    let script =
        [("getUpdates", Reply::refusal(409, conflict)), ("deleteWebhook", Reply::ok(json!(true)))];
    let mut server = Server::start(script).await;
    let (inbox, mut told) = memory(None, 0);
    let channel = server.channel();
    listening(&channel, &inbox, async {
        server.next("deleteWebhook").await;
        server.next("getUpdates").await;
    })
    .await;
    let Told::Notice(key, _) = told.recv().await.unwrap() else { panic!() };
    assert_eq!(key, "telegram-webhook");
}

#[tokio::test]
async fn a_refused_token_ends_listening_with_one_clear_message() {
    let server = Server::start([("getUpdates", Reply::refusal(401, "Unauthorized"))]).await;
    let (inbox, _told) = memory(None, 0);
    let channel = server.channel();
    let end = channel.receiver.unwrap().listen(&inbox, CancellationToken::new()).await;
    let ListenEnd::Refused(text) = end else { panic!("{end:?}") };
    insta::assert_snapshot!(text, @r"Telegram refuses the bot's token (401 Unauthorized). Ask @BotFather for the right token, put it into telegram.bot_token_file or telegram.bot_token, check telegram.base_url, and start again.");
}

#[tokio::test]
async fn one_refusal_of_a_token_that_was_taken_ends_nothing() {
    let refusals = [
        Reply::refusal(401, "Unauthorized"),
        Reply::ok(json!([update(6, "b")])),
        Reply::refusal(404, "Not Found"),
        Reply::refusal(401, "Unauthorized"),
        Reply::ok(json!([update(7, "c")])),
    ];
    let script = [Reply::ok(json!([update(5, "a")]))].into_iter().chain(refusals);
    let server = Server::start(script.map(|reply| ("getUpdates", reply))).await;
    let (inbox, mut told) = memory(None, 0);
    let channel = server.channel();
    listening(&channel, &inbox, async {
        for text in ["a", "b", "c"] {
            assert_eq!(batch(&mut told).await.0[0].text, text);
        }
    })
    .await;
}

#[tokio::test]
async fn a_token_that_is_refused_again_and_again_ends_listening() {
    let good = ("getUpdates", Reply::ok(json!([])));
    let refused = ("getUpdates", Reply::refusal(401, "Unauthorized"));
    let server = Server::start([good, refused.clone(), refused.clone(), refused]).await;
    let (inbox, _told) = memory(None, 0);
    let channel = server.channel();
    let end = channel.receiver.unwrap().listen(&inbox, CancellationToken::new()).await;
    assert!(matches!(end, ListenEnd::Refused(_)), "{end:?}");
}

#[tokio::test]
async fn trouble_on_the_way_is_survived() {
    let script = [
        ("getUpdates", Reply::Text(502, "<html>Bad Gateway</html>".to_owned())),
        ("getUpdates", Reply::CutBefore),
        ("getUpdates", Reply::CutHalf),
        ("getUpdates", Reply::refusal(429, "Too Many Requests: retry after 0")),
        ("getUpdates", Reply::ok(json!({ "not": "a list" }))),
        (
            "getUpdates",
            Reply::ok(json!([update(5, "still here"), { "update_id": 6, "telepathy": {} }])),
        ),
    ];
    let server = Server::start(script).await;
    let (inbox, mut told) = memory(None, 0);
    let channel = server.channel();
    let (stored, cursor) = listening(&channel, &inbox, batch(&mut told)).await;
    assert_eq!(stored[0].text, "still here");
    assert!(matches!(stored[1].what, What::Unparsed { .. }));
    assert_eq!(cursor.as_deref(), Some("7"));
}

#[tokio::test]
async fn a_server_that_does_not_know_our_name_does_not_hold_up_the_batch() {
    let updates = Reply::ok(json!([update(5, "hey @selkie_bot")]));
    let mut server =
        Server::start([("getMe", Reply::refusal(400, "Bad Request")), ("getUpdates", updates)])
            .await;
    let (inbox, mut told) = memory(None, 0);
    let channel = server.channel();
    let (stored, _) = listening(&channel, &inbox, batch(&mut told)).await;
    assert_eq!(stored[0].text, "hey @selkie_bot");
    server.next("getMe").await;
}

#[tokio::test]
async fn taps_are_asked_for_and_stored_and_left_to_be_answered_above() {
    let under = json!({ "message_id": 9, "date": 0, "chat": { "id": 1, "type": "private" } });
    let query = json!({ "id": "q1", "from": { "id": 1 }, "message": under, "data": "q:k1:a" });
    let updates = json!([{ "update_id": 5, "callback_query": query }]);
    let mut server = Server::start([("getUpdates", Reply::ok(updates))]).await;
    let (inbox, mut told) = memory(None, 0);
    let channel = server.channel();
    let (stored, _) = listening(&channel, &inbox, batch(&mut told)).await;
    assert!(matches!(&stored[0].what, What::Tap { question, .. } if question == "k1"));
    let poll = server.next("getUpdates").await.json();
    assert!(poll["allowed_updates"].as_array().unwrap().contains(&json!("callback_query")));
}

fn attachment(size: Option<u64>) -> Attachment {
    Attachment {
        handle: json!({ "file_id": "f1" }).to_string(),
        kind: AttachmentKind::Document,
        name: "a.txt".to_owned(),
        mime: None,
        size,
        duration: None,
    }
}

async fn fetch(server: &Server, size: Option<u64>, most: u64) -> Result<String, String> {
    let receiver = server.channel().receiver.unwrap();
    let mut sink = Vec::new();
    let written = receiver.fetch(&attachment(size), most, &mut sink).await?;
    assert_eq!(written, sink.len() as u64);
    Ok(String::from_utf8(sink).unwrap())
}

#[tokio::test]
async fn a_file_is_fetched_from_beside_the_bot() {
    let path = Reply::ok(json!({ "file_id": "f1", "file_path": "documents/file 1.txt" }));
    let script = [("getFile", path), ("file%201.txt", Reply::Text(200, "bytes".to_owned()))];
    let mut server = Server::start(script).await;
    assert_eq!(fetch(&server, Some(5), 100).await.as_deref(), Ok("bytes"));
    let seen = server.next("file%201.txt").await;
    assert_eq!(seen.path, format!("/tg/file/bot{TOKEN}/documents/file%201.txt"));
}

#[tokio::test]
async fn a_file_that_cannot_be_had_is_explained_without_the_token() {
    let path = |path: &str| Reply::ok(json!({ "file_path": path }));
    let script = [
        ("getFile", Reply::refusal(400, "Bad Request: file is too big")),
        ("getFile", path("../../secret")),
        ("getFile", path("d/long")),
        ("long", Reply::Text(200, "more than four".to_owned())),
        ("getFile", path("d/closed")),
        ("closed", Reply::Text(403, "no".to_owned())),
        ("getFile", Reply::refusal(400, "Bad Request: invalid file_id")),
    ];
    let server = Server::start(script).await;
    let mut words = Vec::new();
    let sizes = [(Some(99_000_000), u64::MAX), (Some(5), 4), (None, 4), (None, 4), (None, 4)];
    for (size, most) in sizes.into_iter().chain([(None, 99), (None, 99)]) {
        words.push(fetch(&server, size, most).await.unwrap_err());
    }
    assert!(words.iter().all(|word| !word.contains("AAHsecret")), "{words:?}");
    insta::assert_snapshot!(words.join("\n"), @r"
    the file is too big (99000000 bytes): Telegram gives bots files up to 20 MB
    the file is too big (5 bytes): at most 4 bytes are fetched
    the file is too big: Telegram gives bots files up to 20 MB
    the Bot API server names no path under its file URL; run it without --local
    the file is too big: at most 4 bytes are fetched
    the file server answered HTTP 403
    Telegram does not provide the file: Bad Request: invalid file_id
    ");
}

#[tokio::test]
async fn a_hiccup_on_the_way_to_a_file_costs_nothing_but_time() {
    let path = |path: &str| Reply::ok(json!({ "file_path": path }));
    let limited = json!({ "ok": false, "error_code": 429, "description": "Too Many Requests: retry after 0",
        "parameters": { "retry_after": 0 } });
    let hiccups = [
        vec![("getFile", Reply::Json(429, limited))],
        vec![("getFile", Reply::Text(502, "<html>".to_owned()))],
        vec![("getFile", Reply::CutBefore)],
        vec![("getFile", path("d/f")), ("f", Reply::Text(500, "oops".to_owned()))],
        vec![("getFile", path("d/f")), ("f", Reply::Text(429, "slow down".to_owned()))],
        vec![("getFile", path("d/f")), ("f", Reply::CutBefore)],
        // Where it lay has expired: it lies elsewhere now.
        vec![("getFile", path("d/f")), ("f", Reply::Text(404, "Not Found".to_owned()))],
        vec![("getFile", path("d/f")), ("f", Reply::CutAt("all of ", 12))],
        vec![
            ("getFile", path("d/f")),
            ("f", Reply::CutAt("all", 12)),
            ("getFile", path("d/f")),
            ("f", Reply::CutAt("all of ", 12)),
        ],
    ];
    for hiccup in hiccups {
        let label = format!("{hiccup:?}");
        let good = [("getFile", path("d/g")), ("g", Reply::Text(200, "all of it OK".to_owned()))];
        let server = Server::start(hiccup.into_iter().chain(good)).await;
        assert_eq!(fetch(&server, None, 100).await.as_deref(), Ok("all of it OK"), "{label}");
    }
}

#[tokio::test]
async fn trouble_that_does_not_end_is_told_and_another_file_is_not_appended() {
    let path = || ("getFile", Reply::ok(json!({ "file_path": "d/f" })));
    let down = |_| [path(), ("f", Reply::Text(503, "down".to_owned()))];
    let server = Server::start((0..9).flat_map(down)).await;
    let why = fetch(&server, None, 100).await.unwrap_err();
    assert_eq!(why, "it was tried 6 times: the file server answered HTTP 503");
    for other in ["other bytes!!", "all"] {
        let cut = ("f", Reply::CutAt("all of ", 12));
        let other = ("f", Reply::Text(200, other.to_owned()));
        let server = Server::start([path(), cut, path(), other]).await;
        let why = fetch(&server, None, 100).await.unwrap_err();
        assert_eq!(why, "the file has changed while it was fetched");
    }
}

#[test]
fn a_channel_is_built_without_a_word_of_its_token() {
    let redactor = Redactor::default();
    let section = json!({ "bot_token": TOKEN, "allowed_chat_ids": ["*"] });
    let built = (crate::kit().build)(section, crate::testkit::context(redactor.clone()));
    let channel = built.unwrap().unwrap();
    assert_eq!((channel.name, channel.account.as_str()), ("telegram", "tg:8123456"));
    assert!(channel.allow.is_everyone());
    assert_eq!(channel.pace.per_group_minute.map(std::num::NonZeroU32::get), Some(20));
    assert_eq!(redactor.clean(&format!("x {TOKEN}")), "x [redacted]");
    assert!(
        (crate::kit().build)(Value::Null, crate::testkit::context(redactor)).unwrap().is_none()
    );
}
