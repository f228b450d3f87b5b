//! A real SIGKILL at every edge of the ledger, one message at a time: whatever was being done is done
//! once, and only the edges between the mark and the receipt leave a doubt.

use std::os::unix::process::ExitStatusExt;
use std::pin::pin;

use futures_util::StreamExt as _;
use futures_util::stream;
use selkie::domain::crash::CrashPoint;
use selkie_playground::Spot;
use selkie_playground::telegram::{ADA, GROUP, PRIVATE};
use serde_json::json;

use crate::support::once::{marks, said};
use crate::support::rows::{number, settled, texts};
use crate::support::world::World;

/// At which passes of a point the process dies: for tools 1 is the file's appending, 2 a file sent, 4 the
/// list's writing or the second reaction.
const PASSES: [u32; 3] = [1, 2, 4];
/// Worlds at once.
const SIDE_BY_SIDE: usize = 6;

/// What is said, and what must be seen: each line by the texts of which it holds one.
struct Line {
    to: Spot,
    says: &'static str,
    sees: &'static [&'static [&'static str]],
}

const fn line(to: Spot, says: &'static str, sees: &'static [&'static [&'static str]]) -> Line {
    Line { to, says, sees }
}

const APPEND: &str = r#"call write_file {"path": "log.txt", "content": "x", "mode": "append"}"#;
const REACT: &str = "react with 👍";

const SCRIPT: &[Line] = &[
    line(PRIVATE, "/start", &[&["Hello. Write to me"]]),
    line(PRIVATE, "hello there", &[&["“hello there”"]]),
    line(PRIVATE, APPEND, &[&["write_file answered", "outcome unknown"]]),
    line(PRIVATE, "send me notes.txt", &[&["[file notes.txt]"], &["Sent: notes.txt."]]),
    line(PRIVATE, REACT, &[&["Reacted with 👍."]]),
    line(GROUP, "/ask note: tea", &[&["Noted: tea (1)."]]),
    line(PRIVATE, "/reset", &[&["A fresh start"]]),
    line(PRIVATE, r#"call read_file {"path": "notes.txt"}"#, &[&["read_file answered"]]),
    line(
        PRIVATE,
        "send me notes.txt, then react with 🔥",
        &[&["[file notes.txt]"], &["Sent: notes.txt.\nReacted with 🔥."]],
    ),
    line(GROUP, "/id", &[&["This place"]]),
    line(PRIVATE, "/status", &[&["Nothing is running"]]),
    line(GROUP, "/ask tell me my list", &[&["tea"]]),
    line(GROUP, "selkie, a first time", &[&["“selkie, a first time”"]]),
    line(GROUP, "selkie, a second time", &[&["“selkie, a second time”"]]),
    line(GROUP, "selkie, a third time", &[&["“selkie, a third time”"]]),
    line(GROUP, "selkie, a fourth time", &[&["“selkie, a fourth time”"]]),
    line(PRIVATE, "last words", &[&["“last words”"]]),
];

#[tokio::test(flavor = "multi_thread")]
async fn what_was_being_done_is_done_once() {
    let cases = CrashPoint::ALL.iter().flat_map(|point| PASSES.map(|nth| (*point, nth)));
    stream::iter(cases)
        .for_each_concurrent(SIDE_BY_SIDE, |(point, nth)| async move {
            println!("{} at pass {nth}", point.name());
            one(point, nth).await;
        })
        .await;
}

async fn one(point: CrashPoint, nth: u32) {
    let mut world = World::offline().await;
    world.home.set("group_trigger_mode", json!("smart"));
    let daemon = world.daemon();
    world.ask("write notes.txt: tide").await;
    settled(&world, 1).await;
    daemon.kill();
    world.home.set("debug", json!({ "crash_at": format!("{}:{nth}", point.name()) }));
    let dying = world.daemon();
    let mut gone = pin!(dying.gone());
    let mut second = None;
    for (said, line) in (2..).zip(SCRIPT) {
        world.telegram().say(line.to, ADA, line.says);
        if second.is_none() {
            let status = tokio::select! {
                biased;
                status = &mut gone => status,
                () = settled(&world, said) => continue,
            };
            assert_eq!(status.signal(), Some(9), "{}: {status}", point.name());
            world.home.set("debug", json!({}));
            second = Some(world.daemon());
        }
        settled(&world, said).await;
    }
    assert!(second.is_some(), "{} was not passed {nth} times", point.name());
    check(&world, point);
}

fn check(world: &World, point: CrashPoint) {
    let doubts: usize = [PRIVATE, GROUP].map(|spot| order(world, spot)).iter().sum();
    let allowed = usize::from(point.may_leave_unclear());
    assert!(doubts <= allowed, "{}: {doubts} marked", point.name());
    let unclear = "SELECT count(*) FROM part WHERE state IN ('unclear', 'repeated')";
    assert!(number(&world.home, unclear) <= Some(allowed as i64), "{}", point.name());
    let unfinished = texts(&world.home, "SELECT why FROM task WHERE state <> 'done'");
    assert_eq!(unfinished, Vec::<String>::new(), "{}", point.name());
    let epoch = "SELECT epoch FROM conversation WHERE key = 'tg:4711'";
    assert_eq!(number(&world.home, epoch), Some(1), "{}: resets", point.name());
    for (text, emoji) in [(REACT, "👍"), ("send me notes.txt, then react with 🔥", "🔥")] {
        let messages = world.telegram().messages(PRIVATE);
        let message = messages.iter().find(|m| m.text == text).expect("the message");
        let seen: Vec<_> = message.reactions.iter().map(|r| r.emoji.as_str()).collect();
        assert_eq!(seen, [emoji], "{}", point.name());
    }
    appended(world, point);
}

/// Everything once and in order; returns how much is marked.
fn order(world: &World, spot: Spot) -> usize {
    let mut expected: Vec<Vec<&str>> = Vec::new();
    if spot == PRIVATE {
        expected.push(vec!["Written: notes.txt."]);
    }
    let lines = SCRIPT.iter().filter(|line| line.to == spot);
    expected.extend(lines.flat_map(|line| line.sees).map(|texts| texts.to_vec()));
    marks(&said(world, spot), &expected)
}

/// The file holds what the person was told: once, or once at most when nobody knows.
fn appended(world: &World, point: CrashPoint) {
    let told = said(world, PRIVATE).iter().any(|line| line.contains("write_file answered"));
    let found: Vec<String> = files(&world.home.cache(), "log.txt");
    match told {
        true => assert_eq!(found, ["x"], "{}", point.name()),
        false => assert!(found.is_empty() || found == ["x"], "{}: {found:?}", point.name()),
    }
}

fn files(folder: &std::path::Path, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
        if entry.is_dir() {
            found.extend(files(&entry, name));
        } else if entry.file_name().is_some_and(|n| n == name) {
            found.push(std::fs::read_to_string(entry).expect("a text"));
        }
    }
    found
}
