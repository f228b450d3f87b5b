//! The door over real sockets, and the wall's rules.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Caps, Door, Wall};

/// A served door; it stops when it is dropped.
struct Served {
    address: std::net::SocketAddr,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

const TIGHT: Caps = Caps {
    connections: 3,
    share: 3,
    head: Duration::from_millis(300),
    body: Duration::from_millis(300),
    unread: Duration::from_millis(300),
    head_bytes: 8192,
};

async fn served(caps: Caps) -> Served {
    let endless = || async {
        let piece = vec![0_u8; 64 * 1024];
        let pieces =
            futures_util::stream::repeat_with(move || Ok::<_, std::io::Error>(piece.clone()));
        Body::from_stream(pieces)
    };
    let routes = Router::new()
        .route("/", get(|| async { "here" }))
        .route("/take", post(|body: String| async move { body }))
        .route("/endless", get(endless));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    tasks.spawn(Door { routes, caps }.serve(listener, stop.clone()));
    tasks.close();
    Served { address, stop, tasks }
}

impl Served {
    async fn open(&self, first: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(first.as_bytes()).await.unwrap();
        stream
    }

    async fn get(&self, path: &str) -> String {
        let asked = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        said(&mut self.open(&asked).await).await
    }
}

/// Everything until the end of the connection.
async fn said(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // One that is cut has said what it has said.
    stream.read_to_end(&mut bytes).await.ok();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn half_open_connections_make_room_for_a_whole_request() {
    let caps = Caps { head: Duration::from_secs(600), ..TIGHT };
    let served = served(caps).await;
    let mut held = Vec::new();
    for _ in 0..20 {
        held.push(served.open("GET / HTTP/1.1\r\nhost: loc").await);
    }
    assert!(served.get("/").await.ends_with("here"));
    // The oldest were hung up on; a request of theirs is answered no more.
    let mut oldest = held.remove(0);
    assert_eq!(said(&mut oldest).await, "");
}

#[tokio::test]
async fn bodies_that_do_not_come_make_room_for_a_whole_request() {
    let long = Duration::from_secs(600);
    let served = served(Caps { head: long, body: long, ..TIGHT }).await;
    let half = "POST /take HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9999\r\n\r\nabc";
    let mut held = Vec::new();
    for _ in 0..20 {
        held.push(served.open(half).await);
    }
    let whole = "POST /take HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\n\
                 connection: close\r\n\r\nabc";
    assert!(said(&mut served.open(whole).await).await.ends_with("abc"));
    assert_eq!(said(&mut held.remove(0)).await, "");
}

#[tokio::test]
async fn a_request_that_trickles_ends_in_time() {
    let served = served(TIGHT).await;
    for start in [
        "GET / HTTP/1.1\r\nx: ",
        "POST /take HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9999\r\n\r\n",
    ] {
        let (mut read, mut write) = served.open(start).await.into_split();
        // A byte now and then renews nothing.
        let trickle = async {
            while write.write_all(b"a").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let ended = async {
            let mut bytes = Vec::new();
            read.read_to_end(&mut bytes).await.ok();
        };
        let both = async {
            tokio::select! { () = trickle => {}, () = ended => {} }
        };
        assert!(tokio::time::timeout(Duration::from_secs(10), both).await.is_ok(), "{start}");
    }
}

#[tokio::test]
async fn an_answer_that_nobody_reads_ends() {
    let served = served(Caps { connections: 1, ..TIGHT }).await;
    let held = served.open("GET /endless HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    // The only seat is free again.
    let answer = tokio::time::timeout(Duration::from_secs(10), served.get("/")).await.unwrap();
    assert!(answer.ends_with("here"), "{answer}");
    drop(held);
}

#[tokio::test]
async fn an_idle_connection_ends_with_the_listener() {
    let served = served(Caps::LOCAL).await;
    let mut stream = served.open("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    served.stop.cancel();
    served.tasks.wait().await;
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let served = served(TIGHT).await;
    let long = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "a".repeat(100_000));
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    stream.write_all(long.as_bytes()).await.ok();
    let said = said(&mut stream).await;
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 431"), "{said}");
}

fn request(line: &str, headers: &[(&str, &str)]) -> Request {
    let (method, uri) = line.split_once(' ').unwrap();
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::empty()).unwrap()
}

fn wall() -> Wall {
    Wall::default().host("selkie.lan").origin("http://127.0.0.1:8080").no_forms()
}

#[test]
fn only_our_own_names_pass() {
    let asked = |host: &str| wall().refusal(&request("GET /", &[("host", host)]));
    for host in [
        "127.0.0.1:80",
        "127.0.0.1",
        "localhost:1",
        "LOCALHOST",
        "[::1]:80",
        "[::1]",
        "selkie.lan:80",
    ] {
        assert_eq!(asked(host), None, "{host}");
    }
    for host in [
        "evil.example",
        "evil.example:80",
        "localhost.evil.example",
        "127.0.0.1.evil.example:80",
        "10.0.0.1:80",
        "",
        ":80",
        "127.0.0.1@evil.example",
        "evil.selkie.lan",
    ] {
        assert_eq!(asked(host).map(|r| r.status), Some(StatusCode::FORBIDDEN), "{host}");
    }
    let none = request("GET /", &[]);
    let two = request("GET /", &[("host", "localhost"), ("host", "evil.example")]);
    let target = request("GET http://evil.example/", &[("host", "localhost")]);
    for refused in [none, two, target] {
        assert!(wall().refusal(&refused).is_some(), "{refused:?}");
    }
}

#[test]
fn no_foreign_page_is_obeyed() {
    let json = ("content-type", "application/json");
    let host = ("host", "127.0.0.1:7300");
    let refused = |more: &[(&str, &str)]| {
        let headers: Vec<_> = [host, json].into_iter().chain(more.iter().copied()).collect();
        wall().refusal(&request("POST /say", &headers)).is_some()
    };
    for ours in [
        &[][..],
        &[("origin", "http://127.0.0.1:7300")],
        &[("origin", "http://127.0.0.1:8080"), ("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "same-origin")],
        &[("sec-fetch-site", "none")],
    ] {
        assert!(!refused(ours), "{ours:?}");
    }
    for foreign in [
        &[("origin", "null")][..],
        &[("origin", "http://evil.example")],
        &[("origin", "http://127.0.0.1:73")],
        &[("origin", "http://127.0.0.1:7300.evil.example")],
        &[("origin", "http://127.0.0.1:7300"), ("origin", "http://evil.example")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ],
    ] {
        assert!(refused(foreign), "{foreign:?}");
    }
}

#[test]
fn a_link_may_be_followed_and_a_picture_of_us_is_none() {
    let get = |mode, dest| {
        let headers = [
            ("host", "localhost"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", mode),
            ("sec-fetch-dest", dest),
        ];
        wall().refusal(&request("GET /", &headers)).is_none()
    };
    assert!(get("navigate", "document"));
    assert!(!get("navigate", "iframe"));
    assert!(!get("no-cors", "image"));
}

#[test]
fn what_a_form_can_send_is_no_wish() {
    let posted = |headers: &[(&str, &str)]| {
        let headers: Vec<_> = [("host", "localhost")].iter().chain(headers).copied().collect();
        wall().refusal(&request("POST /upload", &headers)).map(|r| r.status.as_u16())
    };
    for kind in ["application/json", "application/json; charset=utf-8", "application/octet-stream"]
    {
        assert_eq!(posted(&[("content-type", kind)]), None, "{kind}");
    }
    for kind in [
        "text/plain",
        "Text/Plain; charset=utf-8",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        "text/plain, application/json",
        "application/json, text/plain",
        "nonsense",
        "",
    ] {
        assert_eq!(posted(&[("content-type", kind)]), Some(415), "{kind}");
    }
    assert_eq!(posted(&[]), Some(415));
}
