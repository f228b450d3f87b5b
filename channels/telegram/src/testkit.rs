//! A scripted HTTP server for tests: raw, so that it can cut a connection at any point.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use selkie_channel_core::{BuildContext, Channel, Redactor, tls};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use selkie_channel_core::Pauses;

pub const TOKEN: &str = "8123456:AAHsecretsecretsecretsecretsecretse";

/// What the server does with a request.
#[derive(Clone, Debug)]
pub enum Reply {
    Json(u16, Value),
    Text(u16, String),
    /// Closes without a word after the request was read.
    CutBefore,
    /// Sends half of an answer.
    CutHalf,
    /// Sends these words of an answer that has so many bytes.
    CutAt(&'static str, usize),
    /// Reads the beginning of the request and closes.
    CutRequest,
}

impl Reply {
    pub fn ok(result: Value) -> Self {
        Self::Json(200, json!({ "ok": true, "result": result }))
    }

    pub fn refusal(code: u16, text: &str) -> Self {
        Self::Json(code, json!({ "ok": false, "error_code": code, "description": text }))
    }
}

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: String,
    pub path: String,
    pub body: String,
    /// Which connection it came over.
    pub connection: usize,
}

impl Seen {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

type Script = Arc<Mutex<VecDeque<(&'static str, Reply)>>>;

/// Answers each method by the script's next line for it; without one it hangs, `getMe` excepted.
pub struct Server {
    pub address: SocketAddr,
    script: Script,
    seen: mpsc::UnboundedReceiver<Seen>,
    _tasks: TaskTracker,
}

impl Server {
    pub async fn start(script: impl IntoIterator<Item = (&'static str, Reply)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let script: Script = Arc::new(Mutex::new(script.into_iter().collect()));
        let (tx, seen) = mpsc::unbounded_channel();
        let tasks = TaskTracker::new();
        let (shared, tracker) = (Arc::clone(&script), tasks.clone());
        tasks.spawn(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                tracker.spawn(serve(stream, connection, Arc::clone(&shared), tx.clone()));
            }
        });
        Self { address, script, seen, _tasks: tasks }
    }

    pub fn add(&self, method: &'static str, reply: Reply) {
        self.script.lock().unwrap().push_back((method, reply));
    }

    /// Waits for the next request of a method.
    pub async fn next(&mut self, method: &str) -> Seen {
        loop {
            let seen = self.seen.recv().await.unwrap();
            if seen.method == method {
                return seen;
            }
        }
    }

    pub fn channel(&self) -> Channel {
        channel(self.address, Redactor::default())
    }
}

pub fn channel(address: SocketAddr, redactor: Redactor) -> Channel {
    let section = json!({
        "bot_token": TOKEN, "base_url": format!("http://{address}/tg"), "pace": "lifted",
    });
    let pauses = Pauses { first: Duration::from_millis(1), most: Duration::from_millis(4) };
    crate::assemble(section, context(redactor), pauses).unwrap().unwrap()
}

pub fn context(redactor: Redactor) -> BuildContext {
    BuildContext {
        tls: tls::client_config(rustls::RootCertStore::empty).unwrap(),
        redactor,
        user_agent: "selkie/test".to_owned(),
        cache_dir: "/nonexistent".into(),
        state_dir: "/nonexistent".into(),
        now: Arc::new(|| chrono::DateTime::UNIX_EPOCH),
    }
}

async fn serve(
    mut stream: TcpStream,
    connection: usize,
    script: Script,
    tx: mpsc::UnboundedSender<Seen>,
) {
    let mut buffer = Vec::new();
    while let Some(seen) = request(&mut stream, &mut buffer, connection, &script).await {
        let reply = take(&script, &seen.method);
        let _ = tx.send(seen.clone());
        let (status, body) = match reply {
            Some(Reply::Json(status, body)) => (status, body.to_string()),
            Some(Reply::Text(status, body)) => (status, body),
            Some(Reply::CutHalf) => {
                let half = b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{\"ok\":true,";
                let _ = stream.write_all(half).await;
                return;
            }
            Some(Reply::CutAt(words, length)) => {
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{words}");
                let _ = stream.write_all(head.as_bytes()).await;
                return;
            }
            Some(Reply::CutBefore | Reply::CutRequest) => return,
            None if seen.method == "getMe" => (
                200,
                json!({ "ok": true, "result": { "id": 8_123_456, "username": "selkie_bot" } })
                    .to_string(),
            ),
            None => return std::future::pending().await,
        };
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-length: {}\r\ndate: Fri, 20 Nov 2026 12:00:00 GMT\r\n\r\n",
            body.len()
        );
        if stream.write_all([head.as_bytes(), body.as_bytes()].concat().as_slice()).await.is_err() {
            return;
        }
    }
}

fn take(script: &Script, method: &str) -> Option<Reply> {
    let mut script = script.lock().unwrap();
    let at = script.iter().position(|(name, _)| *name == method)?;
    script.remove(at).map(|(_, reply)| reply)
}

async fn request(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
    connection: usize,
    script: &Script,
) -> Option<Seen> {
    let head_end = loop {
        if let Some(at) = buffer.windows(4).position(|w| w == b"\r\n\r\n") {
            break at + 4;
        }
        read_more(stream, buffer).await?;
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    let path = head.split(' ').nth(1).unwrap().to_owned();
    let method = path.rsplit('/').next().unwrap().to_owned();
    let cuts = matches!(script.lock().unwrap().front(), Some((name, Reply::CutRequest)) if *name == method);
    if cuts {
        take(script, &method);
        return None;
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
    });
    let end = head_end + length.unwrap_or(0);
    while buffer.len() < end {
        read_more(stream, buffer).await?;
    }
    let body = String::from_utf8_lossy(&buffer[head_end..end]).into_owned();
    buffer.drain(..end);
    Some(Seen { method, path, body, connection })
}

async fn read_more(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<()> {
    let mut chunk = [0; 16 * 1024];
    match stream.read(&mut chunk).await {
        Ok(0) | Err(_) => None,
        Ok(read) => {
            buffer.extend_from_slice(&chunk[..read]);
            Some(())
        }
    }
}
