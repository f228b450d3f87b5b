//! What each kind of answer and of failure comes to, over a real connection.

use std::io::Write;

use selkie_channel_core::{Body, Channel, ConversationId, PlaceId, Redactor};
use serde_json::json;
use tokio::net::TcpListener;

use super::*;
use crate::testkit::{Reply, Server, TOKEN, channel};

fn parts(channel: &Channel, body: Body) -> Vec<Part> {
    let conversation = ConversationId::new(channel.account.clone(), "tg:-100");
    let outbound = Outbound::new(conversation, body);
    channel.sender.render(&outbound.quoting(Some(MessageRef::new("41"))))
}

fn text(channel: &Channel) -> Part {
    let markdown = "**hi** <there>".to_owned();
    parts(channel, Body::Text { markdown }).remove(0)
}

fn reaction(channel: &Channel) -> Part {
    let body = Body::Reaction { message: MessageRef::new("41"), emoji: "👍".into(), big: false };
    parts(channel, body).remove(0)
}

async fn deliver(reply: Reply) -> Delivery {
    let server = Server::start([("sendMessage", reply)]).await;
    let channel = server.channel();
    channel.sender.deliver(&text(&channel)).await
}

fn message(id: i64) -> Reply {
    Reply::ok(json!({ "message_id": id, "chat": { "id": -100 } }))
}

#[tokio::test]
async fn a_sent_message_has_its_id() {
    let mut server = Server::start([("sendMessage", message(77))]).await;
    let channel = server.channel();
    let delivery = channel.sender.deliver(&text(&channel)).await;
    let receipt =
        Receipt { message: Some(MessageRef::new("77")), note: None, ..Receipt::default() };
    assert_eq!(delivery, Delivery::Sent(receipt));
    let seen = server.next("sendMessage").await;
    assert_eq!(seen.path, format!("/tg/bot{TOKEN}/sendMessage"));
    assert_eq!(seen.json()["text"], "<b>hi</b> &lt;there&gt;");
    assert_eq!(channel.sender.lookup(&text(&channel)).await, Lookup::Unknown);
}

#[tokio::test]
async fn a_yes_that_names_no_message_is_a_doubt() {
    for result in
        [json!(true), json!({}), json!({ "message_id": -4 }), json!({ "message_id": "77" })]
    {
        let delivery = deliver(Reply::ok(result.clone())).await;
        assert!(matches!(delivery, Delivery::Unclear { .. }), "{result}: {delivery:?}");
    }
    let Delivery::Sent(later) = deliver(message(0)).await else { panic!("it is sent later") };
    assert_eq!(later.message, None, "0 is no id");
    assert!(later.note.unwrap().contains("later"));
    // What sets a state is answered by a bare yes.
    let states = [
        ("setMessageReaction", Reply::ok(json!(true))),
        ("editMessageText", Reply::ok(json!(true))),
    ];
    let server = Server::start(states).await;
    let channel = server.channel();
    for (part, at) in [(reaction(&channel), None), (over(&channel), Some("50"))] {
        let Delivery::Sent(receipt) = channel.sender.deliver(&part).await else {
            panic!("{part:?}")
        };
        assert_eq!(receipt.message, at.map(MessageRef::new));
    }
}

#[tokio::test]
async fn telegrams_own_refusals_prove_that_nothing_was_sent() {
    let refused = |reason: &str, closed| Delivery::Refused { reason: reason.to_owned(), closed };
    let blocked = "Forbidden: bot was blocked by the user";
    assert_eq!(deliver(Reply::refusal(403, blocked)).await, refused(blocked, true));
    let lost = "Bad Request: chat not found";
    let helped = format!("{lost} (they have to write to the bot first, or add it to their group)");
    assert_eq!(deliver(Reply::refusal(400, lost)).await, refused(&helped, true));
    let other = "Bad Request: something new";
    assert_eq!(deliver(Reply::refusal(400, other)).await, refused(other, false));
    let token = deliver(Reply::refusal(401, "Unauthorized")).await;
    assert!(matches!(token, Delivery::Retry { account: true, .. }), "{token:?}");
}

#[tokio::test]
async fn a_limit_says_how_long_and_a_move_where_to() {
    let limit = json!({ "ok": false, "error_code": 429, "description": "Too Many Requests: retry after 7", "parameters": { "retry_after": 7 } });
    let why = "Too Many Requests: retry after 7".to_owned();
    let wait = Delivery::Retry { after: Duration::from_secs(7), why, account: false };
    assert_eq!(deliver(Reply::Json(429, limit)).await, wait);
    let front = deliver(Reply::Text(429, "<html>slow down</html>".to_owned())).await;
    assert!(matches!(front, Delivery::Retry { account: false, .. }), "{front:?}");
    let moved = json!({ "ok": false, "error_code": 400, "description": "Bad Request: group chat was upgraded to a supergroup chat", "parameters": { "migrate_to_chat_id": -200 } });
    let Delivery::Moved { to } = deliver(Reply::Json(400, moved)).await else { panic!() };
    assert_eq!(to, PlaceId::new(AccountId::new("tg:8123456"), "tg:-200"));
}

#[tokio::test]
async fn what_was_meant_for_a_topic_that_is_gone_goes_to_the_chat_with_a_word() {
    let gone = || ("sendMessage", Reply::refusal(400, "Bad Request: message thread not found"));
    let no_html = Reply::refusal(400, "Bad Request: can't parse entities: x");
    for script in [
        vec![gone(), ("sendMessage", message(81))],
        vec![gone(), ("sendMessage", no_html.clone()), ("sendMessage", message(81))],
        vec![("sendMessage", no_html), gone(), ("sendMessage", message(81))],
    ] {
        let tries = script.len();
        let mut server = Server::start(script).await;
        let channel = server.channel();
        let conversation = ConversationId::new(channel.account.clone(), "tg:-100:7");
        let body = Body::Text { markdown: "**hi**".to_owned() };
        let part = channel.sender.render(&Outbound::new(conversation.clone(), body)).remove(0);
        let Delivery::Sent(receipt) = channel.sender.deliver(&part).await else { panic!() };
        assert_eq!(receipt.message, Some(MessageRef::new("81")));
        let mut last = Value::Null;
        for _ in 0..tries {
            last = server.next("sendMessage").await.json();
        }
        assert_eq!(last.get("message_thread_id"), None);
        let text = last["text"].as_str().unwrap();
        assert!(text.trim_start_matches("<i>").starts_with("(topic deleted)"), "{text}");
        assert!(text.contains("hi"), "{text}");
    }
}

#[tokio::test]
async fn nobody_types_in_the_chat_for_a_topic_that_is_gone() {
    let gone = Reply::refusal(400, "Bad Request: message thread not found");
    let server = Server::start([("sendChatAction", gone)]).await;
    let channel = server.channel();
    let conversation = ConversationId::new(channel.account.clone(), "tg:-100:7");
    let part = channel.sender.render(&Outbound::new(conversation, Body::Typing)).remove(0);
    let delivery = channel.sender.deliver(&part).await;
    assert!(matches!(delivery, Delivery::Refused { .. }), "{delivery:?}");
}

#[tokio::test]
async fn a_part_follows_its_conversation_to_a_new_id() {
    let mut server = Server::start([("sendMessage", message(80))]).await;
    let channel = server.channel();
    let mut part = text(&channel);
    part.conversation = ConversationId::new(channel.account.clone(), "tg:-200");
    assert!(matches!(channel.sender.deliver(&part).await, Delivery::Sent(_)));
    assert_eq!(server.next("sendMessage").await.json()["chat_id"], -200);
}

#[tokio::test]
async fn what_proves_nothing_is_unclear() {
    for reply in [
        Reply::Text(502, "<html>Bad Gateway</html>".to_owned()),
        Reply::refusal(500, "Internal Server Error"),
        Reply::Text(200, "<html>login</html>".to_owned()),
        Reply::Text(404, "<html>nothing here</html>".to_owned()),
        Reply::CutBefore,
        Reply::CutHalf,
    ] {
        let delivery = deliver(reply.clone()).await;
        assert!(matches!(delivery, Delivery::Unclear { .. }), "{reply:?}: {delivery:?}");
    }
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_to_its_end() {
    let filler = "x".repeat(selkie_channel_core::http::MAX_ANSWER);
    let delivery = deliver(Reply::ok(json!({ "message_id": 77, "text": filler }))).await;
    let Delivery::Unclear { why, .. } = delivery else { panic!("{delivery:?}") };
    assert!(why.contains("the answer is longer than 16777216 bytes"), "{why}");
}

#[tokio::test]
async fn a_state_is_simply_set_again() {
    let script =
        [("setMessageReaction", Reply::CutBefore), ("setMessageReaction", Reply::ok(json!(true)))];
    let server = Server::start(script).await;
    let channel = server.channel();
    let first = channel.sender.deliver(&reaction(&channel)).await;
    assert!(matches!(first, Delivery::Retry { account: false, .. }), "{first:?}");
    let second = channel.sender.deliver(&reaction(&channel)).await;
    assert_eq!(second, Delivery::Sent(Receipt::default()));
    server.add("setMessageReaction", Reply::refusal(400, "Bad Request: message is not modified"));
    let third = channel.sender.deliver(&reaction(&channel)).await;
    assert!(matches!(third, Delivery::Sent(_)), "{third:?}");
}

#[tokio::test]
async fn what_a_message_says_is_simply_set_again_and_one_that_is_gone_harms_nothing() {
    let server = Server::start([]).await;
    let channel = server.channel();
    let (message, markdown) = (MessageRef::new("41"), "**done**".to_owned());
    let revision =
        Body::Revision { message: message.clone(), markdown: markdown.clone(), question: None };
    let withdrawal = Body::Withdrawal { message };
    let tap = Body::TapAnswer { handle: "q1".to_owned(), text: "too late".to_owned() };
    let say = async |body: &Body, method, reply| {
        server.add(method, reply);
        channel.sender.deliver(&parts(&channel, body.clone()).remove(0)).await
    };
    let bad = |words: &str| Reply::refusal(400, &format!("Bad Request: {words}"));
    let is_sent = |delivery| matches!(delivery, Delivery::Sent(_));
    let is_refused = |delivery| matches!(delivery, Delivery::Refused { closed: false, .. });
    assert!(is_sent(say(&revision, "editMessageText", bad("message is not modified: x")).await));
    assert!(is_refused(say(&revision, "editMessageText", bad("message to edit not found")).await));
    assert!(is_refused(say(&revision, "editMessageText", bad("message can't be edited")).await));
    let unclear = say(&revision, "editMessageText", Reply::CutBefore).await;
    assert!(matches!(unclear, Delivery::Retry { account: false, .. }), "{unclear:?}");
    assert!(is_sent(say(&withdrawal, "deleteMessage", bad("message to delete not found")).await));
    assert!(is_refused(say(&withdrawal, "deleteMessage", bad("message can't be deleted")).await));
    assert!(is_sent(say(&tap, "answerCallbackQuery", Reply::ok(json!(true))).await));
    let late = bad("query is too old and response timeout expired or query ID is invalid");
    assert!(is_refused(say(&tap, "answerCallbackQuery", late).await));
}

#[tokio::test]
async fn a_refused_connection_proves_that_nothing_was_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let channel = channel(address, Redactor::default());
    let delivery = channel.sender.deliver(&text(&channel)).await;
    assert!(matches!(delivery, Delivery::Retry { account: true, .. }), "{delivery:?}");
}

#[tokio::test]
async fn a_refused_form_goes_out_plain_and_a_lost_quote_is_left_out() {
    let mut server = Server::start([
        ("sendMessage", Reply::refusal(400, "Bad Request: can't parse entities: odd tag")),
        ("sendMessage", Reply::refusal(400, "Bad Request: message to be replied not found")),
        ("sendMessage", message(78)),
    ])
    .await;
    let channel = server.channel();
    let delivery = channel.sender.deliver(&text(&channel)).await;
    let Delivery::Sent(receipt) = delivery else { panic!("{delivery:?}") };
    assert_eq!(receipt.message, Some(MessageRef::new("78")));
    assert!(receipt.note.is_some());
    let first = server.next("sendMessage").await.json();
    assert_eq!(first["parse_mode"], "HTML");
    let second = server.next("sendMessage").await.json();
    assert_eq!((second.get("parse_mode"), &second["text"]), (None, &json!("hi <there>")));
    let third = server.next("sendMessage").await.json();
    assert_eq!(third.get("reply_parameters"), None);
}

/// A server before 10.1 knows no such method, and sees an edit without a text.
#[tokio::test]
async fn a_table_is_a_rich_message_where_the_server_knows_them() {
    let table = "| a | b |\n|---|---|\n| 1 | 2 |";
    let markdown = || Body::Text { markdown: table.to_owned() };
    let mut server = Server::start([
        ("sendRichMessage", message(78)),
        ("sendRichMessage", Reply::refusal(404, "Not Found")),
        ("sendMessage", message(79)),
        ("editMessageText", Reply::refusal(400, "Bad Request: message text is empty")),
        ("editMessageText", message(50)),
    ])
    .await;
    let channel = server.channel();
    let part = parts(&channel, markdown()).remove(0);
    for id in ["78", "79"] {
        let delivery = channel.sender.deliver(&part).await;
        let Delivery::Sent(receipt) = delivery else { panic!("{delivery:?}") };
        assert_eq!(receipt.message, Some(MessageRef::new(id)));
    }
    let rich = server.next("sendRichMessage").await.json();
    assert!(rich["rich_message"]["html"].as_str().unwrap().starts_with("<table"), "{rich}");
    assert!(rich.get("text").is_none() && rich.get("reply_parameters").is_some(), "{rich}");
    let classic = server.next("sendMessage").await.json();
    assert_eq!(classic["text"], "<pre>a | b\n--+--\n1 | 2</pre>");
    let said = Outbound::new(part.conversation.clone(), markdown());
    let over = channel.sender.render(&said.over(Some(MessageRef::new("50")))).remove(0);
    assert!(matches!(channel.sender.deliver(&over).await, Delivery::Sent(_)));
    let edit = server.next("editMessageText").await.json();
    assert!(edit.get("text").is_none() && edit.get("rich_message").is_some(), "{edit}");
    assert!(server.next("editMessageText").await.json().get("text").is_some());
}

#[tokio::test]
async fn a_file_is_streamed_and_a_missing_one_refused() {
    let mut server = Server::start([("sendDocument", message(79))]).await;
    let channel = server.channel();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"contents of the file").unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    let body = |path| Body::File { path, name: "a.txt".into(), caption: Some("*look*".into()) };
    let delivery = channel.sender.deliver(&parts(&channel, body(path))[0]).await;
    assert!(matches!(&delivery, Delivery::Sent(r) if r.message == Some(MessageRef::new("79"))));
    let seen = server.next("sendDocument").await.body;
    for wanted in [
        "contents of the file",
        "filename=\"a.txt\"",
        "<i>look</i>",
        "name=\"chat_id\"\r\n\r\n-100",
        "{\"message_id\":41",
    ] {
        assert!(seen.contains(wanted), "{wanted} in {seen}");
    }
    let gone = channel.sender.deliver(&parts(&channel, body("/nonexistent/a".into()))[0]).await;
    let Delivery::Refused { reason, closed: false } = gone else { panic!("{gone:?}") };
    assert!(reason.starts_with("the file a.txt cannot be read"), "{reason}");
}

#[tokio::test]
async fn a_file_that_did_not_leave_whole_was_not_sent() {
    let server = Server::start([("sendDocument", Reply::CutRequest)]).await;
    let channel = server.channel();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    // Larger than the buffers between the two ends of a loopback connection.
    file.write_all(&vec![7; 19 * 1024 * 1024]).unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    let part =
        parts(&channel, Body::File { path, name: "big.bin".into(), caption: None }).remove(0);
    let delivery = channel.sender.deliver(&part).await;
    assert!(matches!(delivery, Delivery::Retry { .. }), "{delivery:?}");
    let photo = Body::Photo { path: file.path().to_str().unwrap().to_owned(), caption: None };
    let delivery = channel.sender.deliver(&parts(&channel, photo)[0]).await;
    let Delivery::Refused { reason, .. } = delivery else { panic!("{delivery:?}") };
    assert!(reason.contains("telegram_send_file"), "{reason}");
}

#[tokio::test]
async fn no_surfaced_word_holds_the_token() {
    let secret = TOKEN.split_once(':').unwrap().1;
    let echo = |code| Reply::Text(code, format!("no route /bot{TOKEN}/x"));
    let mut words = Vec::new();
    for reply in
        [echo(502), echo(404), Reply::refusal(400, TOKEN), Reply::CutBefore, Reply::CutHalf]
    {
        words.push(format!("{:?}", deliver(reply).await));
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let channel = channel(address, Redactor::default());
    words.push(format!("{:?}", channel.sender.deliver(&text(&channel)).await));
    words.push(format!("{:?}", text(&channel)));
    for word in words {
        assert!(!word.contains(secret), "{word}");
    }
}

fn over(channel: &Channel) -> Part {
    let conversation = ConversationId::new(channel.account.clone(), "tg:-100:7");
    let said = Outbound::text(conversation, "**hi** <there>").over(Some(MessageRef::new("50")));
    channel.sender.render(&said.quoting(Some(MessageRef::new("41")))).remove(0)
}

#[tokio::test]
async fn what_takes_a_message_over_changes_it() {
    let mut server = Server::start([("editMessageText", message(50))]).await;
    let channel = server.channel();
    let part = over(&channel);
    assert!(part.repeatable, "it sets a state");
    let delivery = channel.sender.deliver(&part).await;
    let receipt =
        Receipt { message: Some(MessageRef::new("50")), note: None, ..Receipt::default() };
    assert_eq!(delivery, Delivery::Sent(receipt.clone()));
    let call = server.next("editMessageText").await.json();
    assert_eq!(
        (call["message_id"].as_i64(), call["text"].as_str()),
        (Some(50), Some("<b>hi</b> &lt;there&gt;"))
    );
    assert!(call.get("reply_parameters").is_none() && call.get("message_thread_id").is_none());
    let again = channel.sender.deliver(&part).await;
    assert_eq!(again, Delivery::Sent(receipt.clone()), "without a call: no reply waits");
    // It says so already: its message is known all the same.
    let same = "Bad Request: message is not modified: specified new message content is the same";
    let server = Server::start([("editMessageText", Reply::refusal(400, same))]).await;
    let channel = server.channel();
    assert_eq!(channel.sender.deliver(&over(&channel)).await, Delivery::Sent(receipt));
}

#[tokio::test]
async fn what_takes_over_a_message_that_is_gone_is_sent_as_a_new_one() {
    for words in ["Bad Request: message to edit not found", "Bad Request: message can't be edited"]
    {
        let server = Server::start([("editMessageText", Reply::refusal(400, words))]).await;
        let channel = server.channel();
        let delivery = channel.sender.deliver(&over(&channel)).await;
        let Delivery::Instead { part, .. } = delivery else { panic!("{delivery:?}") };
        assert!(!part.repeatable, "it makes a message each time");
        let whole = Outbound::text(part.conversation.clone(), "**hi** <there>");
        let whole = channel.sender.render(&whole.quoting(Some(MessageRef::new("41")))).remove(0);
        assert_eq!(*part, whole, "as if it had never been there");
    }
}
