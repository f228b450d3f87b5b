//! What a client is, and what each answer proves.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

fn client() -> Client {
    let redactor = Redactor::default();
    redactor.learn("hunter2hunter2");
    let tls = crate::tls::client_config(rustls::RootCertStore::empty).unwrap();
    let user_agent = "selkie/test".to_owned();
    let opener = Opener { platform: "the platform", tls, redactor, user_agent };
    opener.open(ClientBuilder::no_proxy).unwrap()
}

/// Asks a server that answers with these bytes and closes; returns what it was asked, too.
async fn asked(answer: &str) -> (reqwest::Result<Response>, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/bot1:secret/x", listener.local_addr().unwrap());
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8(head).unwrap()
    };
    tokio::join!(client().get(url.parse().unwrap()).send(), serve)
}

async fn read_of(answer: &str, most: usize) -> Result<Vec<u8>, String> {
    read(asked(answer).await.0.unwrap(), most).await
}

#[tokio::test]
async fn an_answer_is_read_up_to_its_bound_however_it_is_framed() {
    for frame in [
        "HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n12345678",
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n12345678",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n1234\r\n4\r\n5678\r\n0\r\n\r\n",
    ] {
        assert_eq!(read_of(frame, 8).await.as_deref(), Ok(&b"12345678"[..]), "{frame}");
        let long = read_of(frame, 7).await.unwrap_err();
        assert_eq!(long, "the answer is longer than 7 bytes");
    }
}

#[tokio::test]
async fn a_cut_answer_is_none_and_its_words_hold_no_address() {
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 9223372036854775807\r\n\r\n{\"ok\":true";
    let why = read_of(cut, 64).await.unwrap_err();
    assert!(why.starts_with("the answer was cut: "), "{why}");
    assert!(!why.contains("secret"), "{why}");
}

#[tokio::test]
async fn a_refused_connection_proves_that_nothing_left_and_silence_does_not() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/bot1:secret/x", listener.local_addr().unwrap());
    drop(listener);
    let error = client().get(url.parse().unwrap()).send().await.unwrap_err();
    assert!(never_left(&error), "{error:?}");
    assert!(!words(error).contains("secret"));
    let error = asked("").await.0.unwrap_err();
    assert!(!never_left(&error), "{error:?}");
    assert!(!words(error).contains("secret"));
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_nothing_is_asked_to_be_packed() {
    let moved = "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
    let (answer, head) = asked(moved).await;
    assert_eq!(answer.unwrap().status(), 302);
    assert!(head.contains("user-agent: selkie/test"), "{head}");
    assert!(!head.to_lowercase().contains("accept-encoding"), "{head}");
}

#[test]
fn a_page_is_told_by_its_first_words() {
    assert_eq!(beginning(b"<html>\n  <b>no\xff</b>"), "<html> <b>no\u{fffd}</b>");
    assert_eq!(beginning(&[b'x'; 500]).len(), 120);
}

/// Calls a server that answers with these bytes; a platform whose answers have `ok` or `error`.
async fn called(answer: &str, progress: Option<Progress>) -> Result<serde_json::Value, Fault> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/bot1:hunter2hunter2/x", listener.local_addr().unwrap());
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
    };
    let client = client();
    let request = client.get(url.parse().unwrap());
    let request = Request { what: "say", request, limit: Duration::from_secs(10), progress };
    let call = client.call(request, |reply| {
        let text = |body: &serde_json::Value, key: &str| body[key].as_str().map(str::to_owned);
        match reply.object() {
            Some(body) if body["ok"] == true => PlatformReply::Done(body),
            Some(body) if body["error"] == "unsure" => {
                PlatformReply::Unsure("hunter2hunter2 broke".into())
            }
            Some(body) if body["error"].is_string() => PlatformReply::Refused(Refusal {
                code: text(&body, "error").unwrap(),
                words: text(&body, "why").unwrap_or_default(),
                ..reply.refusal()
            }),
            _ => PlatformReply::Foreign,
        }
    });
    tokio::join!(call, serve).0
}

fn answer(status: &str, more: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{more}\r\n{body}", body.len())
}

#[tokio::test]
async fn each_answer_proves_what_it_says_and_no_more() {
    let done = called(&answer("200 OK", "", r#"{"ok":true}"#), None).await;
    assert_eq!(done.unwrap(), json!({ "ok": true }));
    let unclear = [
        (answer("200 OK", "", r#"{"error":"unsure"}"#), "say: [redacted] broke"),
        (
            answer("502 Bad", "", "<html> hunter2hunter2"),
            "say: HTTP 502 that is not an answer from the platform: <html> [redacted]",
        ),
        ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}".to_owned(), "say: the answer was cut"),
    ];
    for (answer, wanted) in unclear {
        match called(&answer, None).await {
            Err(Fault::Unclear(why)) => assert!(why.starts_with(wanted), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_refusal_is_the_platforms_own_without_secrets_and_a_limit_is_anybodys() {
    let body = r#"{"error":"no","why":"not hunter2hunter2","more":["hunter2hunter2"]}"#;
    let refused = called(&answer("403 No", "retry-after: 7\r\n", body), None).await.unwrap_err();
    assert_eq!(refused.to_string(), "the platform says 403: not [redacted]");
    let Fault::Refused(refusal) = refused else { panic!("{refused:?}") };
    let seven = Some(Duration::from_secs(7));
    assert_eq!((refusal.code.as_str(), refusal.retry_after), ("no", seven));
    assert_eq!(refusal.body["more"], json!(["[redacted]"]));
    let limited = called(&answer("429 Slow", "retry-after: 7\r\n", "<html>"), None).await;
    let Err(Fault::Refused(refusal)) = limited else { panic!("{limited:?}") };
    assert_eq!((refusal.status, refusal.retry_after), (429, seven));
}

#[tokio::test]
async fn a_body_that_did_not_leave_whole_proves_that_nothing_was_done() {
    let progress = Progress::of(3);
    progress.hand_over(2);
    let cut = called("", Some(progress.clone())).await.unwrap_err();
    assert!(matches!(&cut, Fault::NotSent(why) if why.ends_with("before the file had left")));
    progress.hand_over(1);
    let cut = called("", Some(progress)).await.unwrap_err();
    assert!(matches!(&cut, Fault::Unclear(_)), "{cut:?}");
}
