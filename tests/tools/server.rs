//! A server that answers as it is told, byte for byte, and remembers what it was asked.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// The server; it ends with the test's process.
pub struct Server {
    pub address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers by what stands in the request's first line; `None` hangs up without a word.
    pub fn new(answer: impl Fn(&str) -> Option<Vec<u8>> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut request = vec![0; 16 * 1024];
                let read = stream.read(&mut request).unwrap_or(0);
                let request = String::from_utf8_lossy(&request[..read]).into_owned();
                heard.lock().unwrap().push(request.clone());
                if let Some(bytes) = answer(request.lines().next().unwrap_or_default()) {
                    stream.write_all(&bytes).ok();
                }
            }
        });
        Self { address, asked }
    }

    /// Every request so far.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// A whole answer.
pub fn answer(status: &str, kind: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A page of results in the form of DuckDuckGo's.
pub fn results() -> Vec<u8> {
    let hit = |n: u8| {
        format!(
            "<div class='result'><a class='result__a' href='//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2F{n}'>\
             Title {n}</a><a class='result__snippet'>Words {n}</a></div>"
        )
    };
    answer("200 OK", "text/html", format!("<div id='links'>{}{}{}</div>", hit(1), hit(2), hit(3)))
}
