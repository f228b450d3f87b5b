//! Credentials that requests carry: used as the config says, and seen by nobody, whatever a server echoes.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, GRACE, GROUP, MessageView, PRIVATE};
use serde_json::{Value, json};

use crate::support::once::said;
use crate::support::secrecy;
use crate::support::world::World;

const TOKEN: &str = "zX9-quiet-otter-4471-mm";
const PAIR: &str = "ada:Tr0ub4dor-and-3-more";
const PASSWORD: &str = "Tr0ub4dor-and-3-more";
/// The pair in base64.
const ENCODED: &str = "YWRhOlRyMHViNGRvci1hbmQtMy1tb3Jl";
const NEEDLES: [&str; 4] = [TOKEN, PAIR, PASSWORD, ENCODED];

/// A server that answers with what it was asked, and with every form of the credentials in it; below `/v1/away` it sends
/// to another address.
struct EchoServer {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl EchoServer {
    fn start(away: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let mut stream = stream;
                let mut bytes = vec![0; 16 * 1024];
                let read = stream.read(&mut bytes).unwrap_or(0);
                let request = String::from_utf8_lossy(&bytes[..read]).into_owned();
                let is_away = request.contains("/v1/away ");
                let body = match request.contains(ENCODED) {
                    true => format!("{request}\nthat is {PAIR}, the password {PASSWORD}"),
                    false => request.clone(),
                };
                heard.lock().unwrap_or_else(PoisonError::into_inner).push(request);
                let head = match is_away {
                    true => format!("302 Found\r\nlocation: {away}"),
                    false => "200 OK\r\ncontent-type: text/plain".to_owned(),
                };
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                );
                stream.write_all(answer.as_bytes()).ok();
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

struct Stage {
    world: World,
    server: EchoServer,
    other: EchoServer,
}

async fn stage(more: Value) -> Stage {
    let other = EchoServer::start(String::new());
    let server = EchoServer::start(format!("{}/v1/elsewhere", other.url));
    let allow = json!([{ "prefix": format!("{}/v1/", server.url), "redirects": true }]);
    let mut secrets = json!({ "auth_profiles": {
        "token": { "credential_file": "token.txt", "allow": allow },
        "pair": { "credential_command": ["cat"], "bind": "basic", "allow": allow },
    } });
    for (key, value) in more.as_object().into_iter().flatten() {
        secrets[key] = value.clone();
    }
    let open = json!({ "network": { "allow_private": ["127.0.0.1"] } });
    let mut world = World::with(json!({ "guard": open, "logging": { "level": "trace" } })).await;
    let folder = world.home.folder();
    fs::write(folder.join("token.txt"), format!("{TOKEN}\n")).expect("a file");
    let pair = folder.join("pair.txt");
    fs::write(&pair, format!("{PAIR}\n")).expect("a file");
    secrets["auth_profiles"]["pair"]["credential_command"] = json!(["cat", pair.to_string_lossy()]);
    world.home.set("secrets", secrets);
    Stage { world, server, other }
}

impl Stage {
    /// Has the model make a call, and returns what it then reads.
    async fn call(&self, tool: &str, args: Value) -> String {
        self.world.ask("/reset").await;
        self.world.playground.model().script(vec![Turn::call(tool, args), Turn::text("asked")]);
        let said = self.world.ask("look").await;
        assert!(said.ends_with("asked"), "{said}");
        self.world.last_prompt()
    }

    async fn fetch(&self, path: &str, profile: &str) -> String {
        let url = format!("{}{path}", self.server.url);
        self.call("url_fetch", json!({ "url": url, "auth_profile": profile })).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_echoes_of_a_credential_is_nowhere() {
    let stage = stage(json!({})).await;
    let daemon = stage.world.daemon();
    let read = stage.fetch("/v1/token", "token").await;
    assert!(read.contains("authorization: [redacted]"), "{read}");
    let read = stage.fetch("/v1/pair", "pair").await;
    assert!(read.contains("that is [redacted], the password [redacted]"), "{read}");
    let asked = stage.server.asked();
    assert!(asked[0].contains(&format!("authorization: Bearer {TOKEN}\r\n")), "{}", asked[0]);
    assert!(asked[1].contains(&format!("authorization: Basic {ENCODED}\r\n")), "{}", asked[1]);
    let url = format!("{}/v1/pair", stage.server.url);
    let save = json!({ "url": url, "auth_profile": "pair", "download_path": "echo.txt" });
    let read = stage.call("url_fetch", save).await;
    assert!(read.contains("a secret of this machine stands in the answer"), "{read}");

    let world = &stage.world;
    for words in [
        &["config", "show"][..],
        &["config", "show", "--json"],
        &["tools", "why", "url_fetch"],
        &["trace", "2"],
        &["trace", "2", "--json"],
        &["doctor"],
    ] {
        let (_, out, error) = world.home.run(words);
        secrecy::demand(&NEEDLES, &words.join(" "), format!("{out}{error}").as_bytes());
    }
    let (_, doctor, _) = world.home.run(&["doctor"]);
    assert!(doctor.contains("the credential loads"), "{doctor}");
    assert!(daemon.stop().await.success());
    secrecy::files(&NEEDLES, &world.home.state());
    secrecy::files(&NEEDLES, &world.home.cache());
    secrecy::demand(&NEEDLES, "the log", world.home.log().as_bytes());
    for request in world.playground.model().requests() {
        secrecy::demand(&NEEDLES, "a request", request.body.to_string().as_bytes());
    }
    secrecy::demand(&NEEDLES, "what was said", said(world, PRIVATE).join("\n").as_bytes());
}

#[tokio::test(flavor = "multi_thread")]
async fn it_goes_nowhere_but_where_the_config_sends_it() {
    let stage = stage(json!({})).await;
    let _daemon = stage.world.daemon();
    let read = stage.fetch("/v1/away", "token").await;
    assert!(read.contains("/v1/elsewhere: it was not followed"), "{read}");
    let read = stage.fetch("/v1/../admin", "token").await;
    assert!(read.contains("auth_profile token is not for GET"), "{read}");
    let url = format!("{}/v1/a", stage.server.url);
    let post = json!({ "url": url, "auth_profile": "token", "method": "POST", "body": "x" });
    let read = stage.call("url_fetch", post).await;
    assert!(read.contains("auth_profile token is not for POST"), "{read}");
    assert_eq!(stage.server.asked().len(), 1, "only the first request was made");
    assert!(stage.other.asked().is_empty(), "{:?}", stage.other.asked());
    let read = stage.call("bash", json!({ "cmd": format!("curl -s {url}") })).await;
    assert!(read.contains("use url_fetch with auth_profile"), "{read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_others_words_are_in_play_every_use_asks() {
    let stage = stage(json!({})).await;
    let world = &stage.world;
    let _daemon = world.daemon();
    stage.fetch("/v1/first", "token").await;
    // What it has read is the server's: the next one asks, although it only reads.
    let url = format!("{}/v1/second", stage.server.url);
    let call = Turn::call("url_fetch", json!({ "url": url, "auth_profile": "token" }));
    world.playground.model().script(vec![call, Turn::text("asked")]);
    // Letter for letter what a person typed, which is free without a credential.
    world.telegram().say(PRIVATE, ADA, &format!("and {url}"));
    let buttons = |m: &MessageView| m.from.is_bot && m.keyboard.is_some();
    let request = world.within("a request", world.telegram().wait_for(PRIVATE, buttons)).await;
    assert!(request.text.contains("send a GET request to"), "{}", request.text);
    assert!(request.text.contains("with the credential token"), "{}", request.text);
    assert_eq!(stage.server.asked().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn others_do_not_know_of_it() {
    let stage = stage(json!({})).await;
    let world = &stage.world;
    let _daemon = world.daemon();
    let model = world.playground.model();
    world.ask_in(GROUP, GRACE, "@selkie_demo_bot look").await;
    let body = model.requests().pop().expect("a request").body.to_string();
    assert!(body.contains("url_fetch") && !body.contains("auth_profile"), "{body}");
    world.ask("look").await;
    let body = model.requests().pop().expect("a request").body.to_string();
    assert!(body.contains("auth_profile") && body.contains("/v1/"), "{body}");
    assert!(!body.contains(TOKEN));
}

#[tokio::test(flavor = "multi_thread")]
async fn with_require_skill_profiles_a_reviewed_skill_has_to_name_it() {
    let stage = stage(json!({ "require_skill_profiles": true })).await;
    let world = &stage.world;
    let folder = world.home.state().join("skills/shop");
    fs::create_dir_all(&folder).expect("a folder");
    let front =
        "---\nname: shop\ndescription: Asks the shop.\nauth_profiles: [token]\n---\nAsk it.\n";
    fs::write(folder.join("SKILL.md"), front).expect("a skill");
    let (_, _, shown) = world.home.run(&["skills", "review", "shop"]);
    let hash = shown.rsplit("--yes ").next().and_then(|rest| rest.split_whitespace().next());
    let (code, _, errors) =
        world.home.run(&["skills", "review", "shop", "--yes", hash.expect("a hash")]);
    assert_eq!(code, 0, "{errors}");
    let _daemon = world.daemon();
    let read = stage.fetch("/v1/a", "token").await;
    assert!(read.contains("only while a skill is in force here that names it"), "{read}");
    assert!(stage.server.asked().is_empty());
    world.ask("/reset").await;
    let url = format!("{}/v1/a", stage.server.url);
    world.playground.model().script(vec![
        Turn::call("load_skill", json!({ "name": "shop" })),
        Turn::call("url_fetch", json!({ "url": url, "auth_profile": "pair" })),
        Turn::call("url_fetch", json!({ "url": url, "auth_profile": "token" })),
        Turn::text("asked"),
    ]);
    world.ask("look").await;
    assert_eq!(stage.server.asked().len(), 1, "{:?}", stage.server.asked());
    assert!(stage.server.asked()[0].contains(TOKEN));
}
