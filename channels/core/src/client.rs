//! The HTTP client of a channel: what all of them are, what its errors prove, and how an answer is read whose
//! length nobody promised.

use std::error::Error;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response};
use rustls::ClientConfig;

/// What a platform's answer to a call may hold at most, bytes. The longest list a platform hands out at once
/// is far below.
pub const MOST_ANSWER: usize = 16 * 1024 * 1024;

/// How long connecting may take, the handshake included.
const CONNECT: Duration = Duration::from_secs(10);
/// Shorter than any server's keep-alive, so that a call seldom goes into a connection that is closing.
const IDLE: Duration = Duration::from_secs(20);
const IDLE_PER_HOST: usize = 64;
/// Of a body that is no answer, characters that are told.
const TOLD: usize = 120;

/// Begins a client with connections of its own. Where an answer leads on is for the caller to judge: a
/// redirect would carry a token away. Files arrive as they lie: nothing is unpacked on the way.
#[expect(clippy::disallowed_methods, reason = "the one home of the channels' HTTP clients")]
pub fn builder(tls: &ClientConfig, user_agent: &str) -> ClientBuilder {
    Client::builder()
        .tls_backend_preconfigured(tls.clone())
        .http1_only()
        .no_gzip()
        .user_agent(user_agent)
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(CONNECT)
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(IDLE_PER_HOST)
}

/// Whether this error proves that the request never left: a builder error is made here, a connect error is
/// a failure of DNS, TCP or TLS.
pub fn never_left(error: &reqwest::Error) -> bool {
    error.is_connect() || error.is_builder()
}

/// Says a client's error in words, without the URL, which may hold a token.
pub fn words(error: reqwest::Error) -> String {
    chain(&error.without_url())
}

/// Says an error and its causes, which is where a client says what really happened.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        next = cause.source();
    }
    text
}

/// Reads an answer to its end, `most` bytes of it.
///
/// # Errors
/// In words, without the URL: the answer broke off, or is longer. What it would have said is unknown.
pub async fn read(mut response: Response, most: usize) -> Result<Vec<u8>, String> {
    let promised = response.content_length().and_then(|length| usize::try_from(length).ok());
    let mut body = Vec::with_capacity(promised.unwrap_or_default().min(64 * 1024));
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > most => {
                return Err(format!("the answer is longer than {most} bytes"));
            }
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body),
            Err(error) => return Err(format!("the answer was cut: {}", words(error))),
        }
    }
}

/// Returns the first words of a body, on one line.
pub fn beginning(body: &[u8]) -> String {
    let words = String::from_utf8_lossy(body);
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(TOLD).collect()
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    fn client() -> Client {
        let tls = crate::tls::client_config(rustls::RootCertStore::empty).unwrap();
        builder(&tls, "selkie/test").no_proxy().build().unwrap()
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
        tokio::join!(client().get(url).send(), serve)
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
        let error = client().get(url).send().await.unwrap_err();
        assert!(never_left(&error), "{error:?}");
        assert!(!words(error).contains("secret"));
        let error = asked("").await.0.unwrap_err();
        assert!(!never_left(&error), "{error:?}");
        assert!(!words(error).contains("secret"));
    }

    #[tokio::test]
    async fn a_redirect_is_an_answer_and_nothing_is_asked_to_be_packed() {
        let moved =
            "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
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
}
