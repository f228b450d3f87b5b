//! `selkie ask` beside other work: two questions at once, and what waits for a daemon that is not there.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use selkie_playground::Turn;
use selkie_playground::telegram::ADA;

use serde_json::{Value, json};

use crate::support::rows::texts;
use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn two_who_ask_in_one_folder_read_each_their_own_answer() {
    let world = World::start().await;
    let _daemon = world.daemon();
    world.ask("is the daemon there?").await;
    let model = world.playground.model();
    model.script_for("first question", vec![Turn::text("first answer").delayed(700)]);
    let first = world.home.command(&["ask", "the first question"]).stdout(Stdio::piped()).spawn();
    world.asked(2).await;
    let (code, out, err) = world.home.run(&["ask", "and mine"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.ends_with("and mine\n") && !out.contains("first answer"), "{out}");
    let first = first.and_then(std::process::Child::wait_with_output).expect("selkie runs");
    assert_eq!(String::from_utf8_lossy(&first.stdout), "first answer\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn ask_without_a_daemon_leaves_the_chats_to_the_daemon() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.playground.model().script(vec![Turn::text("never").delayed(600_000)]);
    let message = world.telegram().say(ADA, ADA, "wait for me");
    world.asked(1).await;
    daemon.kill();
    let (code, out, err) = world.home.run(&["ask", "alone"]);
    assert!(code == 0 && out.ends_with("alone\n"), "{code}: {out}{err}");
    let _daemon = world.daemon();
    assert!(world.answer(ADA, message).await.ends_with("wait for me"));
    world.ask("the end").await;
    assert!(world.telegram().answer_counts(ADA).is_clean(), "{:?}", world.texts(ADA));
}

#[tokio::test(flavor = "multi_thread")]
async fn ask_without_a_daemon_sends_nothing_that_waits_for_a_chat() {
    let world = World::start().await;
    let daemon = world.daemon();
    let fault = selkie_playground::FaultKind::TooMany { retry_after: 2 };
    world.telegram().fault(selkie_playground::Fault::next("sendMessage", fault));
    let message = world.telegram().say(ADA, ADA, "not sent yet");
    world.asked(1).await;
    daemon.kill();
    let (code, out, err) = world.home.run(&["ask", "alone"]);
    assert!(code == 0 && out.ends_with("alone\n"), "{code}: {out}{err}");
    let _daemon = world.daemon();
    assert!(world.answer(ADA, message).await.ends_with("not sent yet"));
    assert!(world.telegram().answer_counts(ADA).is_clean(), "{:?}", world.texts(ADA));
}

/// Posts to the daemon's control socket.
fn post(world: &World, path: &str, body: &Value) -> UnixStream {
    let socket = world.home.state().join("selkie.sock");
    let mut stream = UnixStream::connect(socket).expect("the daemon listens");
    let body = body.to_string();
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: selkie\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .expect("it reads");
    stream
}

/// Asks as somebody at a terminal does, and reads until a question stands. Returns its key too.
async fn questioned(world: &World) -> (UnixStream, String, String) {
    let text = "ask me: tea or coffee?";
    let body = json!({ "text": text, "workspace": world.home.folder(), "terminal": true });
    let mut stream = post(world, "/v1/ask", &body);
    let reading = tokio::task::spawn_blocking(move || {
        let (mut heard, mut piece) = (String::new(), [0; 4096]);
        while !heard.contains("\"asked\":\"") {
            let read = stream.read(&mut piece).expect("it answers");
            assert!(read > 0, "it ended before it asked: {heard}");
            heard += &String::from_utf8_lossy(&piece[..read]);
        }
        let key = heard.split("\"asked\":\"").nth(1).and_then(|rest| rest.split('"').next());
        let key = key.expect("a key").to_owned();
        (stream, heard, key)
    });
    world.within("a question", reading).await.expect("a thread")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_asks_is_shown_once() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    world.ask("is the daemon there?").await;
    let (mut stream, mut heard, question) = questioned(&world).await;
    let reply = json!({ "text": "tea", "workspace": world.home.folder(), "terminal": true });
    let body = json!({ "answer": { "question": question, "reply": reply } });
    let mut answered = post(&world, "/v1/request", &body);
    let reading = tokio::task::spawn_blocking(move || {
        let mut reply = String::new();
        answered.read_to_string(&mut reply).expect("it answers");
        stream.read_to_string(&mut heard).expect("it ends");
        (reply, heard)
    });
    let (reply, heard) = world.within("the end", reading).await.expect("a thread");
    assert!(reply.contains("taken"), "{reply}");
    assert!(heard.contains("You answered: tea"), "{heard}");
    assert_eq!(heard.matches("\"happening\":\"called\"").count(), 1, "{heard}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_a_dead_terminal_holds_no_other_up() {
    let world = World::offline().await;
    let daemon = world.daemon();
    world.ask("is the daemon there?").await;
    let (stream, ..) = questioned(&world).await;
    daemon.kill();
    drop(stream);
    let (code, out, err) = world.home.run(&["ask", "hello"]);
    assert!(code == 0 && out.contains("hello"), "{code}: {out}{err}");
    assert_eq!(texts(&world.home, "SELECT state FROM question"), ["withdrawn"]);
    let (code, out, err) = world.home.run(&["ask", "/reset"]);
    assert!(code == 0 && out.starts_with("A fresh start"), "{code}: {out}{err}");
}
