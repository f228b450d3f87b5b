//! After all kinds of traffic and trouble, no secret is anywhere but in the config.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use selkie_playground::slack;
use selkie_playground::telegram::{ADA, FileDraft, FileKind, MessageView, PRIVATE, TOKEN};
use selkie_playground::{Fault, FaultKind, Turn};
use serde_json::json;

use crate::support::once::said;
use crate::support::rows::settled;
use crate::support::secrecy;
use crate::support::world::World;

const KEY: &str = "sk-playground-key-1234567890";

/// What must be nowhere: both secrets, and the token's secret half by itself.
fn needles() -> [&'static str; 3] {
    [TOKEN, TOKEN.split_once(':').expect("a token").1, KEY]
}

fn demand(what: &str, bytes: &[u8]) {
    secrecy::demand(&needles(), what, bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_anywhere_but_in_the_config() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("a port");
    let mut world = World::with(json!({ "logging": { "level": "trace" } })).await;
    world.home.set("console", json!({ "listen": free.to_string() }));
    let daemon = world.daemon();
    let messages = traffic(&world).await;
    settled(&world, messages).await;
    for path in
        ["status", "conversations", "tasks", "tasks/1", "tasks/2", "tasks/3/shape", "trace/1"]
    {
        let answer = get(&free.to_string(), &format!("/v1/{path}"));
        assert!(
            answer.starts_with(b"HTTP/1.1 200"),
            "{path}: {}",
            String::from_utf8_lossy(&answer)
        );
        demand(path, &answer);
    }
    for words in [
        &["config", "show"][..],
        &["config", "show", "--json"],
        &["trace", "2"],
        &["trace", "2", "--json"],
    ] {
        let (code, out, error) = world.home.run(words);
        assert_eq!(code, 0, "{words:?}: {error}");
        demand(&words.join(" "), format!("{out}{error}").as_bytes());
    }
    secrecy::files(&needles(), &world.home.state());
    assert!(daemon.stop().await.success());
    secrecy::files(&needles(), &world.home.state());
    secrecy::files(&needles(), &world.home.cache());
    demand("the log", world.home.log().as_bytes());
    let asked = world.playground.model().requests();
    asked.iter().for_each(|request| demand("a request", request.body.to_string().as_bytes()));
    demand("what was said", said(&world, PRIVATE).join("\n").as_bytes());
}

/// A secret that is taken apart in what a model writes is whole in nothing that is shown.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_in_pieces_is_put_together_by_nobody() {
    let mut world = World::start().await;
    world.add_slack();
    let _daemon = world.daemon();
    let (telegram, model) = (world.telegram(), world.playground.model());
    let written = [
        "sk-**play**ground-key-1234567890",
        "sk-play[ground](https://x.example)-key-1234567890",
        "sk-playground&#45;key-123456&#x37;890",
        "sk-play\u{200b}ground-key\u{2060}-1234567890",
        "sk\\-playground\\-key\\-1234567890",
        "sk-playground`-key-`1234567890",
        "https://x.example/?k=sk%2Dplayground%2Dkey-1234567890",
        "[key](https://x.example/?k=sk%2Dplayground-key-1234567890)",
    ];
    for (n, pieces) in written.iter().enumerate() {
        model.script(vec![Turn::text(format!("{n}: {pieces}, and so on"))]);
        let said = world.ask("quote it").await;
        assert!(said.contains("and so on") && said.starts_with(&n.to_string()), "{said}");
    }
    let ask = json!({ "question": "sk-play**ground**-key-1234567890?", "options": ["sk-play**ground**-key-1234567890", "no"] });
    // A call with a secret in it is not made.
    model.script(vec![Turn::call("ask_user", &ask), Turn::text("never mind")]);
    telegram.say(PRIVATE, ADA, "ask me");
    let answered = |m: &MessageView| m.from.is_bot && m.text.contains("never mind");
    world.within("an answer", telegram.wait_for(PRIVATE, answered)).await;
    telegram.calls().iter().for_each(|call| assert_hidden(&call.params.to_string()));
    model.script(vec![Turn::text("here: sk-play**ground**-key-1234567890, and so on")]);
    let asked = world.slack().say(slack::DM, slack::ADA, "quote it");
    let said = world.within("an answer", world.slack().wait_for_answer(slack::DM, &asked)).await;
    assert!(said.text.contains("here: [redacted], and so on"), "{}", said.text);
}

/// What is left of a call when everything is gone that is not seen in it.
fn assert_hidden(params: &str) {
    let mut plain = String::new();
    let mut is_tag = false;
    for c in params.replace("%2D", "-").replace("&#45;", "-").chars() {
        match c {
            '<' => is_tag = true,
            '>' => is_tag = false,
            c if !is_tag && c.is_ascii_alphanumeric() => plain.push(c),
            _ => {}
        }
    }
    assert!(!plain.contains("playgroundkey") && !plain.contains("key1234567890"), "{params}");
    assert!(!params.contains("ground-key"), "{params}");
}

/// Everything that can carry a secret somewhere; returns how many messages were said.
async fn traffic(world: &World) -> i64 {
    let (telegram, model) = (world.telegram(), world.playground.model());
    let mut count = 0;
    let mut say = |text: &str| {
        telegram.say(ADA, ADA, text);
        count += 1;
    };
    // The platform and the provider repeat what they were sent; so do a person and a model.
    let leak = format!("no route for /bot{TOKEN}/sendMessage with {KEY}");
    telegram.fault(Fault::next(
        "sendMessage",
        FaultKind::Refuse { code: 400, description: leak.clone() },
    ));
    say("refused");
    for kind in [
        FaultKind::CutBefore,
        FaultKind::CutAfter,
        FaultKind::Html { status: 502 },
        FaultKind::Garbage,
    ] {
        for method in ["getUpdates", "sendMessage", "getFile"] {
            telegram.fault(Fault::next(method, kind.clone()));
        }
        say("cut");
        telegram.upload(PRIVATE, ADA, FileDraft::new(FileKind::Document, "a.txt", "words"));
        say("cut again");
    }
    model.script_for(
        "and the key",
        vec![Turn::refuse(401, &format!("Incorrect API key provided: {KEY}"))],
    );
    say("and the key?");
    model.script_for("bad request", vec![Turn::refuse(400, &leak), Turn::refuse(400, &leak)]);
    say("bad request");
    model.script_for("an error", vec![Turn::OkError { message: leak.clone() }]);
    say("an error");
    let config = world.home.config_file().display().to_string();
    let read = json!({ "path": config });
    model.script_for("read it", vec![Turn::call("read_file", &read), Turn::text("read")]);
    say("read it");
    let write = json!({ "path": "leak.txt", "content": leak });
    let turns = vec![Turn::call("write_file", &write), Turn::text("written")];
    model.script_for("write it", turns);
    say("write it");
    model.script_for("quote it", vec![Turn::text(format!("It says {leak}"))]);
    say("quote it");
    say(&format!("my token is {TOKEN} and my key is {KEY}"));
    say("/status");
    count + 4
}

fn get(address: &str, path: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("the console");
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")
        .expect("a question");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    answer
}
