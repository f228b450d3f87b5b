//! Real servers on this machine, opened by `allow_private`; everything else of the guard at work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Query;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{any, get};
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::client::GuardedClient;
use super::{UrlFetch, WebFetch, WebSearch, url_fetch, web_search};
use crate::args::accept;
use crate::isolate::{InProcess, Isolate};
use crate::ports::Small;
use crate::scope::{ApprovedBasis, Scope};
use crate::testkit::Folders;
use crate::{Handler, ToolError};
use selkie_domain::taint::Taint;
use selkie_guard::network;

fn isolate() -> Arc<dyn Isolate> {
    Arc::new(InProcess)
}

/// An end to waiting, not a timing.
const TIMEOUT: Duration = Duration::from_secs(180);

#[expect(clippy::disallowed_methods, reason = "a client for tests, as the daemon begins its own")]
fn client(open: &[&str]) -> Arc<GuardedClient> {
    let rules = network::Settings { allow_private: open.iter().map(|s| (*s).to_owned()).collect() };
    let tls = selkie_channel_core::tls::client_config(rustls::RootCertStore::empty).unwrap();
    let begin = move || {
        let config = rustls::ClientConfig::clone(&tls);
        Ok(reqwest::Client::builder().tls_backend_preconfigured(config).user_agent("selkie/test"))
    };
    Arc::new(GuardedClient::new(rules, Box::new(begin)))
}

/// Serves a router on 127.0.0.1; ends with the test's runtime.
async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio_util::task::TaskTracker::new().spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

async fn call(tool: &dyn Handler, scope: &Scope, args: Value) -> String {
    let args = match accept(&tool.spec().parameters, &args) {
        Ok(accepted) => accepted.args,
        Err(faults) => return faults,
    };
    let called = timeout(TIMEOUT, tool.call(scope, args)).await.expect("it ends");
    called.map_or_else(|e| e.to_string(), |o| o.text)
}

async fn echo(method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> String {
    let of = |name: &str| headers.get(name).map_or("-", |v| v.to_str().unwrap()).to_owned();
    let (kind, agent, accept) = (of("content-type"), of("user-agent"), of("accept"));
    let body = String::from_utf8_lossy(&body);
    format!("{method} {uri} type={kind} agent={agent} accept={accept} body={body}")
}

async fn on(Query(query): Query<std::collections::HashMap<String, String>>) -> Redirect {
    Redirect::temporary(&query["to"])
}

async fn see(Query(query): Query<std::collections::HashMap<String, String>>) -> Redirect {
    Redirect::to(&query["to"])
}

async fn packed_bomb() -> Response {
    // 64 MiB of zeros, packed by hand: stored gzip would be as long, so the shell packs it.
    let packed = std::process::Command::new("sh")
        .args(["-c", "head -c 67108864 /dev/zero | gzip -9"])
        .output()
        .unwrap();
    ([("content-encoding", "gzip"), ("content-type", "text/plain")], packed.stdout).into_response()
}

const TEA: &[u8] = include_bytes!("../../../fuzz/seeds/office/tea.pdf");
const SALES: &[u8] = include_bytes!("../../../fuzz/seeds/office/sales.xlsx");
const SECRET: &[u8] = include_bytes!("../../../fuzz/seeds/office/secret.pdf");
const KANJI: &[u8] = include_bytes!("../../../fuzz/seeds/office/shift-jis.csv");

fn router() -> Router {
    let endless = || async {
        let piece = Bytes::from(vec![b'x'; 4096]);
        let stream =
            futures_util::stream::repeat_with(move || Ok::<_, std::io::Error>(piece.clone()));
        Body::from_stream(stream)
    };
    Router::new()
        .route("/echo", any(echo))
        .route("/on", any(on))
        .route("/see", any(see))
        .route("/circle", get(|| async { Redirect::permanent("/circle") }))
        .route("/bomb", get(packed_bomb))
        .route("/endless", get(endless))
        .route("/never", get(|| async { std::future::pending::<String>().await }))
        .route("/lies", get(|| async { ([("content-type", "text/plain")], vec![0_u8, 1, 2]) }))
        .route("/tea.pdf", get(|| async { ([("content-type", "application/pdf")], TEA) }))
        .route("/sales", get(|| async { ([("content-type", "application/octet-stream")], SALES) }))
        .route("/secret.pdf", get(|| async { ([("content-type", "application/pdf")], SECRET) }))
        .route("/kanji", get(|| async { ([("content-type", "text/csv")], KANJI) }))
        .route("/gone", get(|| async { (StatusCode::NOT_FOUND, "not here") }))
        .route("/page", get(|| async { Html("<title>T</title><p>Hello <b>you</b></p>") }))
}

#[tokio::test]
async fn what_was_allowed_goes_to_the_server_that_was_shown_and_to_no_other() {
    let (folders, server, other) = (Folders::new(), serve(router()).await, serve(router()).await);
    let tool = UrlFetch::new(&url_fetch::Settings::default(), &client(&["127.0.0.1"]), &isolate());
    let free = folders.scope();
    let allowed = Scope { approved: Some(ApprovedBasis::default()), ..folders.scope() };
    let tainted = Scope { taint: Taint::Raw, ..folders.scope() };
    let post = |to: &str| json!({"url": format!("{server}/see?to={to}/echo"), "method": "POST", "body": "a"});
    assert!(call(&tool, &free, post(&other)).await.contains("GET /echo"));
    for scope in [allowed, tainted] {
        let said = call(&tool, &scope, post(&other)).await;
        let points = format!("The server points to {other}/echo: it was not followed");
        assert!(said.contains("method: POST\nstatus: 303") && said.contains(&points), "{said}");
        let said = call(&tool, &scope, post(&server)).await;
        assert!(said.contains("GET /echo"), "its own server is asked: {said}");
    }
}

#[tokio::test]
async fn url_fetch_asks_as_it_was_told() {
    let (folders, server) = (Folders::new(), serve(router()).await);
    let tool = UrlFetch::new(&url_fetch::Settings::default(), &client(&["127.0.0.1"]), &isolate());
    let mut said = Vec::new();
    for args in [
        json!({"url": "/echo?a=1"}),
        json!({"url": "/echo", "method": "POST", "body": {"a": 1}}),
        json!({"url": "/echo", "method": "PUT", "body": "words"}),
        json!({"url": "/echo", "method": "PATCH", "body": "[1]", "headers": {"Content-Type": "x/y"}}),
        json!({"url": "/echo", "method": "GET", "body": "words"}),
        json!({"url": "/echo", "headers": {"Authorization": "Bearer x"}}),
        json!({"url": "/echo", "headers": {"X-Custom": "x"}}),
        json!({"url": "/echo", "headers": {"Accept": "a\nb"}}),
        json!({"url": "/on?to=/echo", "headers": {"Accept": "text/x"}}),
        json!({"url": "/on?to=/echo", "method": "POST", "body": "kept"}),
        json!({"url": "/gone"}),
        json!({"url": "/lies"}),
        json!({"url": "/endless", "max_bytes": 10}),
        json!({"url": "/endless", "max_bytes": 10, "download_path": "x"}),
        json!({"url": "/echo", "method": "HEAD"}),
        json!({"url": "/circle"}),
    ] {
        let mut whole = args.clone();
        whole["url"] = format!("{server}{}", args["url"].as_str().unwrap()).into();
        said.push(format!("> {args}\n{}", call(&tool, &folders.scope(), whole).await));
    }
    insta::assert_snapshot!(said.join("\n").replace(&server, "http://here"), @r#"
    > {"url":"/echo?a=1"}
    url: http://here/echo?a=1
    method: GET
    status: 200
    content_type: text/plain
    truncated: false

    GET /echo?a=1 type=- agent=selkie/test accept=*/* body=
    > {"url":"/echo","method":"POST","body":{"a":1}}
    url: http://here/echo
    method: POST
    status: 200
    content_type: text/plain
    truncated: false

    POST /echo type=application/json agent=selkie/test accept=*/* body={"a":1}
    > {"url":"/echo","method":"PUT","body":"words"}
    url: http://here/echo
    method: PUT
    status: 200
    content_type: text/plain
    truncated: false

    PUT /echo type=text/plain; charset=utf-8 agent=selkie/test accept=*/* body=words
    > {"url":"/echo","method":"PATCH","body":"[1]","headers":{"Content-Type":"x/y"}}
    url: http://here/echo
    method: PATCH
    status: 200
    content_type: text/plain
    truncated: false

    PATCH /echo type=x/y agent=selkie/test accept=*/* body=[1]
    > {"url":"/echo","method":"GET","body":"words"}
    body needs a method: POST, PUT, PATCH or DELETE
    > {"url":"/echo","headers":{"Authorization":"Bearer x"}}
    header Authorization is not allowed: credentials and routing are not the model's to set
    > {"url":"/echo","headers":{"X-Custom":"x"}}
    header X-Custom is not allowed (takes accept, accept-language, content-type, if-modified-since, if-none-match, range, user-agent)
    > {"url":"/echo","headers":{"Accept":"a\nb"}}
    header Accept contains characters that no header has
    > {"url":"/on?to=/echo","headers":{"Accept":"text/x"}}
    url: http://here/echo
    method: GET
    status: 200
    content_type: text/plain
    truncated: false

    GET /echo type=- agent=selkie/test accept=text/x body=
    > {"url":"/on?to=/echo","method":"POST","body":"kept"}
    url: http://here/echo
    method: POST
    status: 200
    content_type: text/plain
    truncated: false

    POST /echo type=text/plain; charset=utf-8 agent=selkie/test accept=*/* body=kept
    > {"url":"/gone"}
    non-2xx status: 404
    url: http://here/gone
    method: GET
    status: 404
    content_type: text/plain
    truncated: false

    not here
    > {"url":"/lies"}
    url: http://here/lies
    method: GET
    status: 200
    content_type: text/plain
    truncated: false

    [3 bytes that are not text: fetch them with download_path]
    > {"url":"/endless","max_bytes":10}
    url: http://here/endless
    method: GET
    status: 200
    content_type: 
    truncated: true

    xxxxxxxxxx
    > {"url":"/endless","max_bytes":10,"download_path":"x"}
    download truncated (max_bytes=10): nothing was saved
    > {"url":"/echo","method":"HEAD"}
    invalid method: HEAD (takes GET, POST, PUT, PATCH, DELETE)
    > {"url":"/circle"}
    the server redirects more than 5 times, last to http://here/circle
    "#);
}

#[tokio::test]
async fn url_fetch_downloads_into_the_own_folder_alone() {
    let (folders, server) = (Folders::new(), serve(router()).await);
    let tool = UrlFetch::new(&url_fetch::Settings::default(), &client(&["127.0.0.1"]), &isolate());
    let fetch = |path: &str| json!({"url": format!("{server}/page"), "download_path": path});
    let told: Value =
        serde_json::from_str(&call(&tool, &folders.scope(), fetch("a/b.html")).await).unwrap();
    assert_eq!(told["path"], "file_cache_dir/a/b.html");
    assert_eq!((&told["bytes"], &told["status"]), (&json!(39), &json!(200)));
    assert!(folders.get("cache/bird/one/a/b.html").contains("Hello"));
    assert_eq!(
        call(&tool, &folders.scope(), fetch("file_state_dir/x")).await,
        "invalid download_path: file_state_dir/x (takes a path in this chat's own folder, such as \
         file_cache_dir/page.html)"
    );
    assert!(!folders.at("cache/bird/one/file_state_dir").exists());
    for outside in ["../two/x", "/etc/x"] {
        let said = call(&tool, &folders.scope(), fetch(outside)).await;
        assert!(
            !said.contains("\"saved\": true") || said.contains("file_cache_dir/"),
            "{outside}: {said}"
        );
    }
    assert!(!folders.at("cache/bird/two/x").exists() && !folders.at("state/x").exists());
}

#[tokio::test]
async fn nothing_inner_is_reached_as_literal_by_name_or_by_redirect() {
    let (folders, server) = (Folders::new(), serve(router()).await);
    let port = server.rsplit(':').next().unwrap();
    let closed = UrlFetch::new(&url_fetch::Settings::default(), &client(&[]), &isolate());
    let mut said = Vec::new();
    for url in [
        format!("{server}/echo"),
        format!("http://2130706433:{port}/echo"),
        format!("http://0x7f.1:{port}/echo"),
        format!("http://[::ffff:127.0.0.1]:{port}/echo"),
        format!("http://localhost:{port}/echo"),
        "file:///etc/passwd".to_owned(),
        "http://user:pass@example.com/".to_owned(),
        "nonsense".to_owned(),
    ] {
        said.push(call(&closed, &folders.scope(), json!({ "url": url })).await);
    }
    // One host is open; what it redirects to is judged anew.
    let half = UrlFetch::new(&url_fetch::Settings::default(), &client(&["127.0.0.1"]), &isolate());
    for target in [
        format!("http://localhost:{port}/echo"),
        format!("http://[::ffff:127.0.0.1]:{port}/echo"),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "gopher://x".to_owned(),
    ] {
        let url = format!("{server}/on?to={target}");
        said.push(call(&half, &folders.scope(), json!({ "url": url })).await);
    }
    // Another name of the same server, opened too: nothing of the caller's goes there.
    let both = UrlFetch::new(
        &url_fetch::Settings::default(),
        &client(&["127.0.0.1", "localhost"]),
        &isolate(),
    );
    let url = format!("{server}/on?to=http://localhost:{port}/echo");
    let args =
        json!({"url": url, "headers": {"If-None-Match": "x"}, "method": "POST", "body": "b"});
    said.push(call(&both, &folders.scope(), args).await);
    insta::assert_snapshot!(said.join("\n").replace("::1", "127.0.0.1"), @r"
    private ip/localhost is not allowed by guard: 127.0.0.1 is this machine
    private ip/localhost is not allowed by guard: 127.0.0.1 is this machine
    private ip/localhost is not allowed by guard: 127.0.0.1 is this machine
    private ip/localhost is not allowed by guard: ::ffff:7f00:1 is an IPv4 address in disguise
    private ip/localhost is not allowed by guard: localhost leads to 127.0.0.1, which is this machine
    only http and https are accepted, not file
    a url must not hold a name and password
    invalid url: nonsense (relative URL without a base); it takes http://… or https://…
    private ip/localhost is not allowed by guard: localhost leads to 127.0.0.1, which is this machine
    private ip/localhost is not allowed by guard: ::ffff:7f00:1 is an IPv4 address in disguise
    private ip/localhost is not allowed by guard: 169.254.169.254 is link-local (cloud metadata lives there)
    only http and https are accepted, not gopher
    the server redirects this request to another server: it was not sent there
    ");
}

#[tokio::test]
async fn bombs_and_silence_end() {
    let (folders, server) = (Folders::new(), serve(router()).await);
    let tool = UrlFetch::new(&url_fetch::Settings::default(), &client(&["127.0.0.1"]), &isolate());
    let bomb = call(&tool, &folders.scope(), json!({"url": format!("{server}/bomb")})).await;
    assert!(bomb.contains("truncated: true") && bomb.len() < 600_000, "{}", &bomb[..200]);
    let never = json!({"url": format!("{server}/never"), "timeout_seconds": 1});
    assert_eq!(call(&tool, &folders.scope(), never).await, "the server did not answer within 1 s");
}

/// Answers every request with these bytes and hangs up.
async fn says(bytes: &'static [u8]) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio_util::task::TaskTracker::new().spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 2048];
            // Whatever was asked, and however much of it came.
            let _ = stream.read(&mut request).await;
            stream.write_all(bytes).await.ok();
        }
    });
    format!("http://{address}/f")
}

#[tokio::test]
async fn a_download_that_breaks_off_leaves_nothing_and_what_was_there_stays() {
    let folders = Folders::new();
    folders.put("cache/bird/one/f", "old");
    let tool = UrlFetch::new(&url_fetch::Settings::default(), &client(&["127.0.0.1"]), &isolate());
    let fetch =
        |url: String, most: u64| json!({"url": url, "download_path": "f", "max_bytes": most});
    let mut said = Vec::new();
    for (answer, most) in [
        (&b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort"[..], 1000),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwhole and more", 4),
        (b"HTTP/1.1 404 Gone\r\ncontent-length: 4\r\n\r\nnone", 1000),
        (b"nonsense\r\n\r\n", 1000),
    ] {
        let text = call(&tool, &folders.scope(), fetch(says(answer).await, most)).await;
        said.push(text.lines().next().unwrap_or_default().to_owned());
        assert_eq!(folders.get("cache/bird/one/f"), "old");
    }
    insta::assert_snapshot!(said.join("\n"), @r##"
the request failed: end of file before message length reached
download truncated (max_bytes=4): nothing was saved
non-2xx status: 404
the request failed: invalid HTTP version parsed
"##);
    let left = std::fs::read_dir(folders.at("cache/bird/one")).unwrap().count();
    assert_eq!(left, 1, "no half file is left behind");
    let lies = says(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nnewer").await;
    call(&tool, &folders.scope(), fetch(lies, 1000)).await;
    assert_eq!(folders.get("cache/bird/one/f"), "new", "a body ends where it was said to end");
}

/// Repeats what it is asked.
struct Parrot;

#[async_trait]
impl Small for Parrot {
    async fn ask(
        &self,
        instruction: &str,
        text: &str,
        _: Duration,
        _: &selkie_domain::usage::Meter,
    ) -> Result<String, ToolError> {
        Ok(format!("[{}…] {text}", &instruction[..11]))
    }
}

#[tokio::test]
async fn web_fetch_reads_extracts_and_remembers() {
    let folders = Folders::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&asked);
    let page = move || async move {
        counting.fetch_add(1, Ordering::SeqCst);
        Html("<title>T</title><p>Hello <b>you</b></p>")
    };
    let server = serve(router().route("/counted", get(page))).await;
    let small: Arc<dyn Small> = Arc::new(Parrot);
    let tool = WebFetch::new(&client(&["127.0.0.1"]), &small, &isolate());
    let mut said = Vec::new();
    for args in [
        json!({"url": "/counted"}),
        json!({"url": "/counted", "format": "text"}),
        json!({"url": "/counted", "format": "html"}),
        json!({"url": "/counted", "prompt": "Who is greeted?"}),
        json!({"url": "/echo"}),
        json!({"url": "/gone"}),
        json!({"url": "/lies"}),
        json!({"url": "/page", "format": "pdf"}),
    ] {
        let mut whole = args.clone();
        whole["url"] = format!("{server}{}", args["url"].as_str().unwrap()).into();
        said.push(format!("> {args}\n{}", call(&tool, &folders.scope(), whole).await));
    }
    assert_eq!(asked.load(Ordering::SeqCst), 3, "one request for each format, none for the prompt");
    insta::assert_snapshot!(said.join("\n").replace(&server, "http://here"), @r#"
    > {"url":"/counted"}
    # T

    Hello **you**
    > {"url":"/counted","format":"text"}
    T

    Hello you
    > {"url":"/counted","format":"html"}
    <h1>T</h1>
    <div id="readability-page-1" class="page"><p>Hello <b>you</b></p></div>
    > {"url":"/counted","prompt":"Who is greeted?"}
    [You extract…] What is wanted: Who is greeted?

    The page http://here/counted:
    <page>
    # T

    Hello **you**
    </page>
    > {"url":"/echo"}
    GET /echo type=- agent=selkie/test accept=text/html,application/xhtml+xml,text/*;q=0.9,*/*;q=0.5 body=
    > {"url":"/gone"}
    http://here/gone answered: non-2xx status: 404
    > {"url":"/lies"}
    http://here/lies is not a page: text/plain, 3 bytes; save it with url_fetch and download_path
    > {"url":"/page","format":"pdf"}
    invalid format: pdf (takes markdown, text, html)
    "#);
}

const RESULTS: &str = r#"<div id="links">
  <div class="result result--ad"><a class="result__a" href="https://duckduckgo.com/y.js?ad=1">Ad</a></div>
  <div class="result"><h2><a class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fa%3Fb%3D1&amp;rut=x">First <b>tea</b></a></h2>
    <a class="result__snippet">All about
      <b>tea</b>.</a></div>
  <div class="result"><a class="result__a" href="https://example.org/">Second</a></div></div>"#;

async fn search(
    page: &'static str,
    status: StatusCode,
    settings: web_search::Settings,
) -> (String, usize) {
    let folders = Folders::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&asked);
    let answer = move || {
        counting.fetch_add(1, Ordering::SeqCst);
        async move { (status, Html(page)) }
    };
    let server = serve(Router::new().fallback(get(answer))).await;
    let mut settings = settings;
    settings.duckduckgo.base_url = format!("{server}/html/");
    settings.brave.base_url.clone_from(&server);
    let tool = WebSearch::new(&settings, &client(&["127.0.0.1"]), &isolate());
    let said = call(&tool, &folders.scope(), json!({"q": "green tea", "max_results": "5"})).await;
    if !said.contains("status=") && !said.contains("captcha") {
        let again =
            call(&tool, &folders.scope(), json!({"q": "green tea", "max_results": 5})).await;
        assert_eq!(again, said);
    }
    (said, asked.load(Ordering::SeqCst))
}

#[tokio::test]
async fn web_search_reads_results_and_tells_a_captcha_from_none() {
    let plain = web_search::Settings::default;
    let with_key = || web_search::Settings {
        brave: web_search::Brave {
            api_key: Some(SecretString::from("BSA-1")),
            ..web_search::Brave::default()
        },
        ..plain()
    };
    let keyless =
        || web_search::Settings { provider: web_search::SearchProvider::Brave, ..plain() };
    let brave = r#"{"web": {"results": [{"title": "A &amp; <strong>B</strong>", "url": "https://a.example",
        "description": "<strong>x</strong> y"}]}}"#;
    let none = r#"<div id="links"><div class="result result--no-result">No results.</div></div>"#;
    let captcha = r#"<form id="challenge-form"><div class="anomaly-modal__modal"></div></form>"#;
    let ok = StatusCode::OK;
    let mut said = Vec::new();
    for (page, status, settings) in [
        (RESULTS, ok, plain()),
        (none, ok, plain()),
        (captcha, StatusCode::ACCEPTED, plain()),
        ("<p>hello</p>", ok, plain()),
        ("forbidden", StatusCode::FORBIDDEN, plain()),
        ("busy", StatusCode::SERVICE_UNAVAILABLE, plain()),
        (brave, ok, with_key()),
        (r#"{"web": {}}"#, ok, with_key()),
        ("", ok, keyless()),
    ] {
        let (text, requests) = search(page, status, settings).await;
        said.push(format!("{requests} requests: {text}"));
    }
    insta::assert_snapshot!(said.join("\n"), @r#"
    1 requests: Search results for "green tea":

    1. First tea
       URL: https://example.com/a?b=1
       All about tea.

    2. Second
       URL: https://example.org/

    [Found 2 results]
    1 requests: No results found.
    1 requests: DuckDuckGo asks for a captcha instead of answering: try later, or set a Brave key (tools.web_search.brave.api_key)
    2 requests: DuckDuckGo answered with a page without a result list
    1 requests: web_search non-2xx status=403 body=forbidden
    4 requests: web_search non-2xx status=503 body=busy
    1 requests: Search results for "green tea":

    1. A & B
       URL: https://a.example
       x y

    [Found 1 results]
    1 requests: No results found.
    0 requests: Brave needs a key: set tools.web_search.brave.api_key (or BRAVE_SEARCH_API_KEY)
    "#);
}

#[tokio::test]
async fn brave_gets_the_key_and_nobody_else() {
    let folders = Folders::new();
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let note = Arc::clone(&seen);
    let answer = move |uri: Uri, headers: HeaderMap| async move {
        let token = headers.get("x-subscription-token").map(|v| v.to_str().unwrap().to_owned());
        note.lock().unwrap().push((uri.to_string(), token));
        "{}"
    };
    let server = serve(Router::new().fallback(get(answer))).await;
    let mut settings = web_search::Settings::default();
    settings.brave.base_url = server;
    settings.brave.api_key = Some(SecretString::from("BSA-1"));
    let tool = WebSearch::new(&settings, &client(&["127.0.0.1"]), &isolate());
    assert_eq!(
        call(&tool, &folders.scope(), json!({"q": "ä b", "max_results": 99})).await,
        "No results found."
    );
    let wanted = ("/res/v1/web/search?q=%C3%A4+b&count=20".to_owned(), Some("BSA-1".to_owned()));
    assert_eq!(*seen.lock().unwrap(), [wanted]);
    let shown = serde_json::to_string(&settings).unwrap() + &format!("{settings:?}");
    assert!(!shown.contains("BSA-1"), "{shown}");
}

#[tokio::test]
async fn documents_of_the_web_are_read_as_those_on_the_disk() {
    let (folders, server) = (Folders::new(), serve(router()).await);
    let small: Arc<dyn Small> = Arc::new(Parrot);
    let reader = WebFetch::new(&client(&["127.0.0.1"]), &small, &isolate());
    let settings = url_fetch::Settings::default();
    let fetcher = UrlFetch::new(&settings, &client(&["127.0.0.1"]), &isolate());
    let scope = folders.scope();
    for (path, words) in [
        (
            "/tea.pdf",
            "PDF, 3 pages, \"Tea for two\"\n\n[page 1 of 3]\n## Chapter 1\n\nThe harvest of Darjeeling",
        ),
        ("/sales", "[part 1 of 2: sheet \"Sales\", rows 1-3]\n1 | Product | Sold | On\n"),
        ("/secret.pdf", "it is a PDF that is encrypted, and was not read"),
        ("/kanji", "ほうじ茶,3,香ばしい"),
    ] {
        let args = json!({"url": format!("{server}{path}")});
        let page = call(&reader, &scope, args.clone()).await;
        assert!(page.contains(words), "web_fetch {path}: {page}");
        let answer = call(&fetcher, &scope, args).await;
        assert!(answer.contains(words), "url_fetch {path}: {answer}");
    }
}
