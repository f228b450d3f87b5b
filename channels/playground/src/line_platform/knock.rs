//! One signed POST over a connection of its own: how LINE calls a webhook.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::demo::SECRET;

/// Signs a body as LINE does.
pub(super) fn sign(body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    STANDARD.encode(hmac::sign(&key, body))
}

/// Makes a request; gives the status.
pub(super) async fn request(
    method: &str,
    url: &str,
    body: &[u8],
    signature: Option<&str>,
) -> io::Result<u16> {
    let rest = url.strip_prefix("http://").unwrap_or(url);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(host).await?;
    let signed = signature.map(|s| format!("x-line-signature: {s}\r\n")).unwrap_or_default();
    let head = format!(
        "{method} /{path} HTTP/1.1\r\nhost: {host}\r\nuser-agent: LineBotWebhook/2.0\r\n\
         content-type: application/json; charset=utf-8\r\n{signed}content-length: {}\r\n\
         connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    // A server that refuses early closes while the body is still leaving: its answer counts.
    let left = stream.write_all(body).await;
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer).await;
    let text = String::from_utf8_lossy(&answer);
    let status = text.split(' ').nth(1).and_then(|s| s.parse().ok());
    match status {
        Some(status) => Ok(status),
        None => {
            left?;
            read?;
            Err(io::Error::new(io::ErrorKind::InvalidData, "no HTTP answer"))
        }
    }
}
