//! A real HTTP server on loopback that answers with scripted bytes, cut where the script says.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::TaskTracker;

/// One answer.
#[derive(Clone)]
pub(crate) struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    /// Written one after the other, flushed each: the borders of pieces.
    pub pieces: Vec<Vec<u8>>,
    /// The connection closes before the body is complete.
    pub cut: bool,
}

impl Answer {
    pub fn json(status: u16, body: &str) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self { status, headers, pieces: vec![body.into()], cut: false }
    }

    /// A stream, in pieces of `size` bytes.
    pub fn stream(body: &str, size: usize) -> Self {
        let headers = vec![("content-type", "text/event-stream; charset=utf-8".to_owned())];
        let pieces = body.as_bytes().chunks(size).map(<[u8]>::to_vec).collect();
        Self { status: 200, headers, pieces, cut: false }
    }

    pub fn cut(self) -> Self {
        Self { cut: true, ..self }
    }

    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {} Scripted\r\n", self.status);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head + "transfer-encoding: chunked\r\n\r\n"
    }
}

/// What was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Request line and headers.
    pub head: String,
    pub body: Value,
}

/// The server; it ends with the test's runtime.
pub(crate) struct Server {
    pub endpoint: String,
    log: Arc<Log>,
}

#[derive(Default)]
struct Log {
    asked: Mutex<Vec<Asked>>,
    script: Mutex<VecDeque<Answer>>,
    connections: AtomicUsize,
}

impl Server {
    /// Answers each request with the next of `answers`, then closes connections without a word.
    pub async fn playing(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let endpoint = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let log = Arc::new(Log { script: Mutex::new(answers.into()), ..Log::default() });
        let (tasks, shared) = (TaskTracker::new(), Arc::clone(&log));
        tasks.clone().spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                tasks.spawn(serve(socket, Arc::clone(&shared)));
            }
        });
        Self { endpoint, log }
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.log.asked.lock().expect("lock").clone()
    }

    /// How often somebody has connected.
    pub fn connections(&self) -> usize {
        self.log.connections.load(Ordering::SeqCst)
    }
}

async fn serve(mut socket: TcpStream, log: Arc<Log>) {
    while let Some(request) = read(&mut socket).await {
        log.asked.lock().expect("lock").push(request);
        let answer = log.script.lock().expect("lock").pop_front();
        let Some(answer) = answer else { return };
        // A client that hangs up early is part of the tests.
        if write(&mut socket, &answer).await.is_err() || answer.cut {
            return;
        }
    }
}

async fn read(socket: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|l| {
                let (name, value) = l.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>())
            });
            let length = length.unwrap_or(Ok(0)).ok()?;
            if body.len() >= length {
                let json = if length == 0 { "null" } else { body };
                return Some(Asked {
                    head: head.to_owned(),
                    body: serde_json::from_str(json).expect("a JSON request"),
                });
            }
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

async fn write(socket: &mut TcpStream, answer: &Answer) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    socket.write_all(answer.head().as_bytes()).await?;
    for piece in answer.pieces.iter().filter(|p| !p.is_empty()) {
        socket.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
        socket.write_all(piece).await?;
        socket.write_all(b"\r\n").await?;
        socket.flush().await?;
        tokio::task::yield_now().await;
    }
    if !answer.cut {
        socket.write_all(b"0\r\n\r\n").await?;
    }
    socket.flush().await
}
