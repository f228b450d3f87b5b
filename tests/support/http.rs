//! One GET as a browser or a stranger would send it, headers by hand.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// An end to waiting, not a timing.
const TIMEOUT: Duration = Duration::from_secs(180);

/// What came back.
pub struct Response {
    /// `200`, `403`.
    pub status: u16,
    /// The head in lower case.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Response {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }
}

/// Sends a request line and headers, and reads to the end.
pub fn send(to: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)]) -> Response {
    answer(open(to, method, path, headers))
}

fn answer(mut stream: BufReader<TcpStream>) -> Response {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).expect("a status");
    Response { status, head: head.to_lowercase(), body: body.to_owned() }
}

/// Asks for a page of this machine.
pub fn get(to: SocketAddr, path: &str) -> Response {
    send(to, "GET", path, &[("host", &to.to_string())])
}

/// Sends JSON to a page of this machine.
pub fn post(to: SocketAddr, path: &str, body: &Value) -> Response {
    let (host, body) = (to.to_string(), body.to_string());
    let length = body.len().to_string();
    let headers =
        [("host", &*host), ("content-type", "application/json"), ("content-length", &length)];
    let mut stream = open(to, "POST", path, &headers);
    stream.get_mut().write_all(body.as_bytes()).expect("sent");
    answer(stream)
}

/// A stream of server-sent events, opened once the head has come.
pub struct Events(BufReader<TcpStream>);

impl Events {
    /// Opens it.
    pub fn open(to: SocketAddr, path: &str) -> Self {
        let mut reader = open(to, "GET", path, &[("host", &to.to_string())]);
        let mut line = String::new();
        while reader.read_line(&mut line).expect("a head") > 2 {
            line.clear();
        }
        Self(reader)
    }

    /// Reads until an event fits, and returns all up to it.
    pub fn until(&mut self, mut fits: impl FnMut(&Value) -> bool) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.0.read_line(&mut line).expect("an event"), 0, "ended after {seen:?}");
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let event: Value = serde_json::from_str(data).expect("json");
            let done = fits(&event);
            seen.push(event);
            if done {
                return seen;
            }
        }
    }
}

fn open(
    to: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(to).expect("somebody listens");
    stream.set_read_timeout(Some(TIMEOUT)).expect("a limit");
    let headers: String = headers.iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect();
    // HTTP/1.0: the body ends with the connection, in one piece.
    write!(stream, "{method} {path} HTTP/1.0\r\n{headers}\r\n").expect("sent");
    BufReader::new(stream)
}
