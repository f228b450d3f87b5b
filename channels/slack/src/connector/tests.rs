//! What each kind of answer proves, over a real connection.

use selkie_channel_core::http::MAX_ANSWER;
use serde_json::json;
use tokio::net::TcpListener;

use super::*;
use crate::testkit::{APP_TOKEN, BOT_TOKEN, Reply, Server, line};

async fn posted(reply: Reply) -> Result<Value, Fault> {
    let server = Server::start([("chat.update", reply)]).await;
    let api = line(server.address).open().unwrap();
    api.call("chat.update", &json!({ "channel": "C2", "text": "hi" })).await
}

fn raw(status: &str, more: &str, body: &str) -> Reply {
    let length = body.len();
    Reply::Raw(format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{more}\r\n{body}"))
}

fn unclear(answer: Result<Value, Fault>) -> String {
    match answer {
        Err(Fault::Unclear(why)) => why,
        other => panic!("{other:?}"),
    }
}

fn refused(answer: Result<Value, Fault>) -> Refusal {
    match answer {
        Err(Fault::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

const JSON: &str = "content-type: application/json; charset=utf-8\r\n";
const PAGE: &str = "content-type: text/html\r\n";

#[tokio::test]
async fn an_answer_of_slack_is_taken_whatever_is_wrong_with_its_type() {
    for kind in
        [JSON, "", "content-type: Application/JSON ; charset=utf-8\r\n", "content-type: x\r\n"]
    {
        let answer = posted(raw("200 OK", kind, r#"{"ok":true,"ts":"1.2","warnings":7}"#)).await;
        assert_eq!(answer.unwrap()["ts"], "1.2", "{kind}");
    }
}

#[tokio::test]
async fn half_a_character_costs_no_answer() {
    let answer = posted(raw("200 OK", JSON, r#"{"ok":true,"ts":"1.2","text":"\ud83d"}"#)).await;
    assert_eq!(answer.unwrap()["ts"], "1.2");
}

#[tokio::test]
async fn slacks_own_words_refuse_with_any_status_that_blames_the_call() {
    let words = r#"{"ok":false,"error":"missing_scope","needed":"chat:write"}"#;
    for status in ["200 OK", "400 Bad Request", "403 Forbidden"] {
        let refusal = refused(posted(raw(status, JSON, words)).await);
        assert_eq!(refusal.code, "missing_scope", "{status}");
        assert_eq!((&refusal.body["needed"], refusal.retry_after), (&json!("chat:write"), None));
    }
    for status in ["500 Oh", "503 Busy", "302 Found"] {
        let why = unclear(posted(raw(status, JSON, words)).await);
        assert_eq!(why, format!("chat.update: HTTP {}", &status[..3]));
    }
}

#[tokio::test]
async fn a_limit_is_one_whoever_says_it() {
    let limit = |wait: Option<u64>| ("ratelimited".to_owned(), wait.map(Duration::from_secs));
    let refused = |answer| {
        let Refusal { code, retry_after, .. } = refused(answer);
        (code, retry_after)
    };
    let wait = format!("{JSON}retry-after: 7\r\n");
    for body in [r#"{"ok":false,"error":"ratelimited"}"#, "", "<html>"] {
        let limited = posted(raw("429 Too Many Requests", &wait, body)).await;
        assert_eq!(refused(limited), limit(Some(7)), "{body:?}");
    }
    let page = format!("{PAGE}retry-after: soon\r\n");
    let limited = posted(raw("429 Too Many Requests", &page, "<html>slow down")).await;
    assert_eq!(refused(limited), limit(None));
}

#[tokio::test]
async fn what_is_no_answer_of_slack_proves_nothing() {
    for reply in [
        raw("200 OK", JSON, "{\"ok\":tr"),
        raw("200 OK", JSON, "[false,\"not_in_channel\"]"),
        raw("200 OK", JSON, "{\"ok\":false}"),
        raw("204 No Content", "", ""),
        raw("404 Not Found", PAGE, "<html>nothing here"),
        raw("404 Not Found", JSON, "{}"),
        raw("502 Bad Gateway", PAGE, "<html>"),
        Reply::Cut,
        Reply::Raw("HTTP/1.1 nonsense\r\n\r\n".to_owned()),
    ] {
        unclear(posted(reply).await);
    }
    let why = unclear(posted(raw("200 OK", PAGE, "<html>\n welcome")).await);
    assert_eq!(why, "chat.update: HTTP 200 that is not an answer from the Web API: <html> welcome");
}

#[tokio::test]
async fn a_body_that_is_cut_or_has_no_end_proves_nothing_with_any_status() {
    for status in ["200 OK", "403 Forbidden"] {
        let cut = format!("HTTP/1.1 {status}\r\ncontent-length: 900\r\n{JSON}\r\n{{\"ok\":true}}");
        let why = unclear(posted(Reply::Raw(cut)).await);
        assert!(why.starts_with("chat.update: the answer was cut"), "{why}");
        let filler = "x".repeat(MAX_ANSWER);
        let giant = json!({ "ok": true, "error": "not_in_channel", "filler": filler }).to_string();
        let why = unclear(posted(raw(status, JSON, &giant)).await);
        assert_eq!(why, "chat.update: the answer is longer than 16777216 bytes");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_got_nothing_and_no_words_hold_a_token() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let api = line(address).open().unwrap();
    let posted = api.call("chat.update", &json!({ "text": BOT_TOKEN })).await;
    let asked = api.ask("users.info", &[("user", BOT_TOKEN)]).await;
    let socket = api.socket_url().await;
    for fault in [posted.unwrap_err(), asked.unwrap_err(), socket.unwrap_err()] {
        let Fault::NotSent(why) = fault else { panic!("{fault:?}") };
        assert!(!why.contains(BOT_TOKEN) && !why.contains(APP_TOKEN), "{why}");
    }
}

#[tokio::test]
async fn a_call_says_who_calls_and_a_question_stands_in_the_address() {
    let mut server = Server::start([("chat.update", Reply::ok(json!({})))]).await;
    let api = line(server.address).open().unwrap();
    api.call("chat.update", &json!({ "text": "hi" })).await.unwrap();
    let seen = server.next("chat.update").await;
    assert!(seen.head.starts_with("POST /api/chat.update HTTP/1.1\r\n"), "{}", seen.head);
    for line in [
        "content-type: application/json; charset=utf-8",
        "user-agent: selkie/test",
        &format!("authorization: Bearer {BOT_TOKEN}"),
    ] {
        assert!(seen.head.contains(line), "{line} in {}", seen.head);
    }
    api.ask("users.info", &[("user", "U1"), ("name", "a b&c")]).await.unwrap();
    let seen = server.next("users.info").await;
    let first = "GET /api/users.info?user=U1&name=a+b%26c HTTP/1.1\r\n";
    assert!(seen.head.starts_with(first), "{}", seen.head);
    assert!(!seen.head.contains("content-type"), "{}", seen.head);
}
