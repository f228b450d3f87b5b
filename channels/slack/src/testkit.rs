//! A scripted Slack for tests: HTTP and sockets on one port, raw, so that it can cut a connection at any
//! point.

use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use secrecy::SecretString;
use selkie_channel_core::http::Opener;
use selkie_channel_core::settings::{Token, Url};
use selkie_channel_core::{BuildContext, Channel, Redactor, tls};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async};
use tokio_util::task::TaskTracker;

use crate::api::ClientFactory;
use crate::socket::Patience;
use selkie_channel_core::Pauses;

pub const BOT_TOKEN: &str = "xoxb-1234567890-9876543210-hunter2hunter2";
pub const APP_TOKEN: &str = "xapp-1-A1-hunter3hunter3";

/// What the server does with a request.
#[derive(Clone, Debug)]
pub enum Reply {
    Json(u16, Value),
    Text(u16, &'static str),
    Limited(u64),
    Redirect(String),
    /// Sends these bytes and closes.
    Raw(String),
    /// Closes without a word after the request was read.
    Cut,
}

impl Reply {
    pub fn ok(mut more: Value) -> Self {
        more["ok"] = json!(true);
        Self::Json(200, more)
    }

    pub fn refusal(code: &str) -> Self {
        Self::Json(200, json!({ "ok": false, "error": code }))
    }
}

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: String,
    pub head: String,
    pub body: String,
}

impl Seen {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// One socket, the server's end.
pub struct Ws(WebSocketStream<TcpStream>);

impl Ws {
    pub async fn send(&mut self, frame: Value) {
        self.0.send(Message::text(frame.to_string())).await.unwrap();
    }

    pub async fn raw(&mut self, text: &str) {
        self.0.send(Message::text(text.to_owned())).await.unwrap();
    }

    /// Waits for the next text; `None` when the client closed.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            match self.0.next().await? {
                Ok(Message::Text(text)) => return serde_json::from_str(text.as_str()).ok(),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }
}

type Script = Arc<Mutex<VecDeque<(&'static str, Reply)>>>;

/// Answers each method by the script's next line for it, else as a quiet workspace would.
pub struct Server {
    pub address: SocketAddr,
    script: Script,
    seen: mpsc::UnboundedReceiver<Seen>,
    sockets: mpsc::UnboundedReceiver<Ws>,
    _tasks: TaskTracker,
}

impl Server {
    pub async fn start(script: impl IntoIterator<Item = (&'static str, Reply)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let script: Script = Arc::new(Mutex::new(script.into_iter().collect()));
        let (seen_tx, seen) = mpsc::unbounded_channel();
        let (ws_tx, sockets) = mpsc::unbounded_channel();
        let tasks = TaskTracker::new();
        let (shared, tracker) = (Arc::clone(&script), tasks.clone());
        tasks.spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let serving =
                    serve(stream, address, Arc::clone(&shared), seen_tx.clone(), ws_tx.clone());
                tracker.spawn(serving);
            }
        });
        Self { address, script, seen, sockets, _tasks: tasks }
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

    /// Waits for the next socket and says hello.
    pub async fn socket(&mut self) -> Ws {
        self.greeted(1).await
    }

    /// Waits for the next socket and says hello: so many are open.
    pub async fn greeted(&mut self, sockets: u64) -> Ws {
        let mut ws = self.sockets.recv().await.unwrap();
        ws.send(json!({ "type": "hello", "num_connections": sockets })).await;
        ws
    }

    /// Whether a request came that nobody looked at.
    pub fn was_asked(&self) -> bool {
        !self.seen.is_empty()
    }

    /// Lists the methods that were asked for and that nobody looked at.
    pub fn asked(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.seen.try_recv().ok()).map(|seen| seen.method).collect()
    }

    /// Whether another socket is waiting.
    pub fn has_socket(&mut self) -> bool {
        !self.sockets.is_empty()
    }

    pub fn channel(&self) -> Channel {
        channel(self.address, Redactor::default())
    }
}

pub fn channel(address: SocketAddr, redactor: Redactor) -> Channel {
    make(address, redactor, 1)
}

pub fn with_sockets(address: SocketAddr, sockets: u8) -> Channel {
    make(address, Redactor::default(), sockets)
}

fn make(address: SocketAddr, redactor: Redactor, sockets: u8) -> Channel {
    let section = json!({
        "bot_token": BOT_TOKEN, "app_token": APP_TOKEN, "pace": "lifted", "max_sockets": sockets,
        "base_url": format!("http://{address}/api"),
    });
    let pauses = Pauses { first: Duration::from_millis(1), most: Duration::from_millis(4) };
    let patience = Patience {
        hello: Duration::from_millis(300),
        ping: Duration::from_millis(20),
        silence: Duration::from_millis(200),
    };
    crate::assemble(section, context(redactor), pauses, patience).unwrap().unwrap()
}

fn token(text: &str) -> Token {
    Token::read(Some(&SecretString::from(text)), String::new, String::new).unwrap()
}

pub fn line(address: SocketAddr) -> ClientFactory {
    let context = context(Redactor::default());
    ClientFactory {
        bot_token: token(BOT_TOKEN),
        app_token: token(APP_TOKEN),
        base: Url::read(&format!("http://{address}/api"), "").unwrap(),
        file_hosts: BTreeSet::new(),
        http: Opener::new("the Web API", &context),
    }
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
    address: SocketAddr,
    script: Script,
    seen_tx: mpsc::UnboundedSender<Seen>,
    ws_tx: mpsc::UnboundedSender<Ws>,
) {
    let mut first = [0; 8];
    let read = stream.peek(&mut first).await.unwrap_or(0);
    if first[..read].starts_with(b"GET /ws") {
        if let Ok(ws) = accept_async(stream).await {
            let _ = ws_tx.send(Ws(ws));
        }
        return;
    }
    let mut buffer = Vec::new();
    while let Some(seen) = request(&mut stream, &mut buffer).await {
        let reply = take(&script, &seen.method).unwrap_or_else(|| usual(&seen.method, address));
        let _ = seen_tx.send(seen);
        let (status, body, more) = match reply {
            Reply::Json(status, body) => (status, body.to_string(), json_type()),
            Reply::Text(status, body) => {
                (status, body.to_owned(), "content-type: text/plain".into())
            }
            Reply::Limited(after) => (
                429,
                "{\"ok\":false,\"error\":\"ratelimited\"}".into(),
                format!("{}\r\nretry-after: {after}", json_type()),
            ),
            Reply::Redirect(to) => (302, String::new(), format!("location: {to}")),
            Reply::Raw(bytes) => {
                let _ = stream.write_all(bytes.as_bytes()).await;
                return;
            }
            Reply::Cut => return,
        };
        let length = body.len();
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{more}\r\n\r\n");
        if stream.write_all([head.as_bytes(), body.as_bytes()].concat().as_slice()).await.is_err() {
            return;
        }
    }
}

fn json_type() -> String {
    "content-type: application/json; charset=utf-8".to_owned()
}

fn usual(method: &str, address: SocketAddr) -> Reply {
    match method {
        "auth.test" => Reply::ok(json!({ "team_id": "T1", "user_id": "U9", "bot_id": "B9" })),
        "emoji.list" => Reply::ok(json!({
            "emoji": { "selkie": "https://x/s.png" },
            "categories": [{ "name": "a", "emoji_names": ["eyes", "tea"] }],
        })),
        "apps.connections.open" => {
            Reply::ok(json!({ "url": format!("ws://{address}/ws?ticket=1") }))
        }
        "users.info" => Reply::ok(json!({ "user": { "profile": { "display_name": "Ada" } } })),
        "conversations.info" => Reply::ok(json!({ "channel": { "name": "tea-room" } })),
        _ => Reply::refusal("unknown_method"),
    }
}

fn take(script: &Script, method: &str) -> Option<Reply> {
    let mut script = script.lock().unwrap();
    let at = script.iter().position(|(name, _)| *name == method)?;
    script.remove(at).map(|(_, reply)| reply)
}

async fn request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Seen> {
    let head_end = loop {
        if let Some(at) = buffer.windows(4).position(|w| w == b"\r\n\r\n") {
            break at + 4;
        }
        read_more(stream, buffer).await?;
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    let path = head.split(' ').nth(1).unwrap().split('?').next().unwrap().to_owned();
    let method = path.rsplit('/').next().unwrap().to_owned();
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
    Some(Seen { method, head, body })
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
