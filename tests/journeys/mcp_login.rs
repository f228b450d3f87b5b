//! A server that wants somebody to sign in: a person does, and from then on its tools work, also past a token's end.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode, Uri};
use serde_json::{Value, json};

use crate::support::secrecy;
use crate::support::world::World;

const STOCK: &str = r#"call shop__stock {"item": "teapots"}"#;

/// The server and its authorization server: which tokens count, and how many were given.
#[derive(Default)]
struct Shop {
    counts: Mutex<BTreeSet<String>>,
    given: Mutex<u32>,
    heard: Mutex<Vec<String>>,
}

impl Shop {
    async fn open() -> (Arc<Self>, String) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let at = listener.local_addr().expect("an address").to_string();
        let shop = Arc::<Self>::default();
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shop));
        tokio_util::task::TaskTracker::new()
            .spawn(async move { axum::serve(listener, router).await });
        (shop, at)
    }

    /// Every token ends now.
    fn revoke(&self) {
        self.counts.lock().expect("a lock").clear();
    }

    fn token(&self, body: &str) -> Value {
        let mut given = self.given.lock().expect("a lock");
        let is_due = match *given {
            0 => {
                body.contains("grant_type=authorization_code")
                    && body.contains("code=tHe-c0de-9f8E7d")
            }
            before => body.contains(&format!("refresh_token=rEfresh-5k1J2h-{before}")),
        };
        assert!(is_due, "{given}: {body}");
        *given += 1;
        let access = format!("aCcess-7q3W8e-{given}");
        self.counts.lock().expect("a lock").insert(access.clone());
        json!({
            "access_token": access, "token_type": "Bearer", "expires_in": 3600,
            "refresh_token": format!("rEfresh-5k1J2h-{given}"),
        })
    }

    fn tool(&self, asked: &Value, token: &str) -> Response<Body> {
        if !self.counts.lock().expect("a lock").contains(token) {
            let answer = Response::builder().status(401);
            return answer
                .header("www-authenticate", "Bearer scope=\"stock\"")
                .body(Body::empty())
                .expect("it");
        }
        let result = match asked["method"].as_str() {
            Some("server/discover") => {
                json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } })
            }
            Some("tools/list") => json!({ "tools": [{
                "name": "stock", "description": "Says how many are left.",
                "inputSchema": { "type": "object", "properties": { "item": { "type": "string" } } },
            }] }),
            _ => json!({ "content": [{ "type": "text", "text": format!("12 left, by {token}") }] }),
        };
        said(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }))
    }
}

fn said(value: &Value) -> Response<Body> {
    let answer = Response::builder().header("content-type", "application/json");
    answer.body(Body::from(value.to_string())).expect("an answer")
}

async fn answer(
    State(shop): State<Arc<Shop>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let header = |name: &str| headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let base = format!("http://{}", header("host"));
    let body = String::from_utf8_lossy(&body).into_owned();
    shop.heard.lock().expect("a lock").push(format!("{uri} {body}"));
    match uri.path() {
        "/mcp" => {
            let token = header("authorization").trim_start_matches("Bearer ").to_owned();
            shop.tool(&serde_json::from_str(&body).unwrap_or_default(), &token)
        }
        "/.well-known/oauth-protected-resource" => {
            said(&json!({ "resource": base, "authorization_servers": [base] }))
        }
        "/.well-known/openid-configuration" => said(&json!({
            "issuer": base, "authorization_endpoint": format!("{base}/authorize"),
            "token_endpoint": format!("{base}/token"), "registration_endpoint": format!("{base}/register"),
            "code_challenge_methods_supported": ["S256"],
        })),
        "/register" => said(&json!({ "client_id": "c-1", "client_secret": "cLient-s3cret-4v5B" })),
        "/token" => said(&shop.token(&body)),
        "/authorize" => {
            let asked = uri.query().unwrap_or_default();
            let word = |key: &str| {
                let pair = asked.split('&').find_map(|pair| pair.strip_prefix(key));
                pair.unwrap_or_else(|| panic!("no {key} in {asked}")).to_owned()
            };
            assert_eq!(word("scope="), "stock");
            let to = word("redirect_uri=").replace("%3A", ":").replace("%2F", "/");
            let to = format!("{to}?code=tHe-c0de-9f8E7d&state={}", word("state="));
            let answer = Response::builder().status(StatusCode::FOUND).header("location", to);
            answer.body(Body::empty()).expect("an answer")
        }
        _ => Response::builder().status(404).body(Body::empty()).expect("an answer"),
    }
}

/// Starts a login, and reads the address that it prints.
fn login(world: &World, more: &[&str]) -> (Child, String) {
    let mut command = world.home.command(&[&["mcp", "login", "shop"], more].concat());
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("selkie starts");
    let mut lines = BufReader::new(child.stdout.as_mut().expect("a pipe")).lines();
    let address = lines.find_map(|line| line.ok().filter(|line| line.starts_with("http://")));
    let address = address.unwrap_or_else(|| {
        let mut errors = String::new();
        child.stderr.as_mut().expect("a pipe").read_to_string(&mut errors).ok();
        panic!("no address: {errors}")
    });
    (child, address)
}

/// Goes there as a browser does, and says where it is sent, or what it is shown.
fn browse(address: &str) -> String {
    let rest = address.strip_prefix("http://").expect("an address");
    let (to, path) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(to).expect("somebody listens");
    write!(stream, "GET /{path} HTTP/1.0\r\nhost: {to}\r\n\r\n").expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
    let to = head.lines().find_map(|line| line.strip_prefix("location: "));
    to.unwrap_or(body).to_owned()
}

fn ended(child: Child) -> (i32, String) {
    let output = child.wait_with_output().expect("it ends");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&said).into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_signed_in_at_and_its_tools_work_past_a_tokens_end() {
    let (shop, at) = Shop::open().await;
    let mut world = World::offline().await;
    let server = json!({ "url": format!("http://{at}/mcp"), "class": "read" });
    world.home.set("mcp", json!({ "servers": { "shop": server } }));
    let (code, _, errors) = world.home.run(&["mcp", "trust", "shop"]);
    assert_eq!(code, 1);
    assert!(errors.contains("an owner can run `selkie mcp login shop`"), "{errors}");

    // A browser of this machine.
    let (child, address) = login(&world, &[]);
    let back = browse(&address);
    assert!(browse(&back).contains("the terminal says"));
    let (code, said) = ended(child);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("Next: selkie mcp trust shop"), "{said}");
    let (_, list, _) = world.home.run(&["mcp", "list"]);
    assert!(list.contains("selkie mcp trust shop, signed in"), "{list}");
    let (_, _, errors) = world.home.run(&["mcp", "trust", "shop"]);
    let hash = errors.rsplit("--yes ").next().and_then(|rest| rest.split_whitespace().next());
    let (code, _, errors) =
        world.home.run(&["mcp", "trust", "shop", "--yes", hash.expect("a hash")]);
    assert_eq!(code, 0, "{errors}");

    // The daemon and the command line use the same tokens, and renew them.
    let daemon = world.daemon();
    let asked = world.ask(STOCK).await;
    assert!(asked.contains("12 left, by [redacted]"), "{asked}");
    shop.revoke();
    world.ask("/reset").await;
    let asked = world.ask(STOCK).await;
    assert!(asked.contains("12 left, by [redacted]"), "{asked}");
    shop.revoke();
    let (code, called, errors) = world.home.run(&["mcp", "call", "shop", "stock"]);
    assert_eq!((code, called.as_str()), (0, "12 left, by [redacted]\n"), "{errors}");
    assert_eq!(*shop.given.lock().expect("a lock"), 3);
    world.ask("/reset").await;
    let asked = world.ask(STOCK).await;
    assert!(asked.contains("12 left"), "what another process has renewed is used: {asked}");
    assert_eq!(*shop.given.lock().expect("a lock"), 3);

    // No secret stands anywhere but in the one file.
    let log = world.home.log();
    daemon.stop().await;
    let secrets = ["aCcess-7q3W8e-", "rEfresh-5k1J2h-", "cLient-s3cret-4v5B", "tHe-c0de-9f8E7d"];
    secrecy::demand(&secrets, "the log", log.as_bytes());
    for secret in &secrets[..3] {
        let holding = secrecy::holding(secret, &world.home.state());
        assert!(
            matches!(&holding[..], [file] if file.ends_with("mcp/shop.token.json")),
            "{holding:?}"
        );
    }
    let (code, said, _) = world.home.run(&["mcp", "logout", "shop"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(secrecy::holding(secrets[0], &world.home.state()), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_on_another_machine_is_pasted() {
    let (_, at) = Shop::open().await;
    let mut world = World::offline().await;
    let server = json!({ "url": format!("http://{at}/mcp") });
    world.home.set("mcp", json!({ "servers": { "shop": server } }));
    let (mut child, address) = login(&world, &["--paste"]);
    let back = browse(&address);
    writeln!(child.stdin.take().expect("a pipe"), "{back}").expect("written");
    let (code, said) = ended(child);
    assert_eq!(code, 0, "{said}");
    let (_, called, errors) = world.home.run(&["mcp", "call", "shop", "stock"]);
    assert_eq!(called, "12 left, by [redacted]\n", "{errors}");
}
