//! The story that every family goes through: a greeting, two calls of which one asks, a picture, words while it works,
//! `/stop`, a death between answer and call. No request of it breaks a rule.

use std::io::Cursor;

use image::{ImageFormat, RgbImage};
use selkie::domain::crash::CrashPoint;
use selkie_playground::telegram::{ADA, FileDraft, FileKind, GRACE, GROUP, PRIVATE};
use selkie_playground::{Family, ScriptedCall, Turn};
use serde_json::{Value, json};

use super::{ROWS, Row};
use crate::approvals::Team;
use crate::support::rows::settled;

/// Longer than any test waits.
const FOR_EVER: u64 = 600_000;

fn call(name: &str, arguments: Value) -> ScriptedCall {
    ScriptedCall { name: name.to_owned(), arguments: arguments.to_string() }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_family_has_to_refuse_anything() {
    for row in ROWS {
        told(&row).await;
    }
}

async fn told(row: &Row) {
    let name = row.family.name();
    let mut team = Team::with(json!({ "while_busy": "steer" })).await;
    team.world.asks(row.family, &serde_json::from_str(row.profile).expect("JSON"));
    let daemon = team.world.daemon();
    team.set_folder().await;
    assert!(team.world.ask("hi").await.contains("hi"), "{name}");
    asks_for_approval(&team).await;
    counts_thoughts(&team, row.family);
    sees_a_picture(&team, row.family).await;
    hears_more_while_it_works(&team).await;
    is_stopped(&team).await;
    assert_eq!(team.world.broken_rules(), Vec::<String>::new(), "{name}");
    drop(daemon);
    dies_before_a_call(&mut team).await;
    assert_eq!(team.world.broken_rules(), Vec::<String>::new(), "{name}, after a death");
    assert_eq!(team.world.playground.model().turns_left(), 0, "{name}");
    println!("{name}: {} requests, none refused", team.world.playground.model().calls());
}

/// Two calls of one answer, of which the second asks; the task is parked, and goes on with both answers.
async fn asks_for_approval(team: &Team) {
    let plan = json!({ "path": "plan.txt", "content": "tide" });
    let calls = vec![call("todo_read", json!({})), call("write_file", plan)];
    team.world.playground.model().script(vec![
        Turn::call("think", json!({ "thought": "hm" })),
        Turn::Calls { text: "Let me write it down.".to_owned(), calls },
        Turn::text("the plan stands"),
        Turn::text("gladly"),
    ]);
    team.world.telegram().say(GROUP, GRACE, "@selkie_demo_bot write the plan");
    let request = team.asked().await;
    team.tap(&request, "Approve").await;
    team.told("the plan stands").await;
    assert_eq!(team.states(), ["consumed"]);
    assert_eq!(team.world.ask_in(GROUP, GRACE, "@selkie_demo_bot thank you").await, "gladly");
}

/// The trace says how many of the tokens were thoughts, where the provider counts them.
fn counts_thoughts(team: &Team, family: Family) {
    let told = |name: &[&str]| team.world.home.run(&[&["trace"], name].concat()).1;
    let tasks: Value = serde_json::from_str(&told(&["--json"])).expect("JSON");
    let story = told(&[&tasks[0]["id"].to_string()]);
    assert_eq!(story.contains("of them thoughts"), family == Family::OpenAi, "{story}");
}

/// A photo reaches the model, or words that say why not.
async fn sees_a_picture(team: &Team, family: Family) {
    let mut bytes = Cursor::new(Vec::new());
    RgbImage::new(3, 2).write_to(&mut bytes, ImageFormat::Png).expect("a picture");
    let draft = FileDraft::new(FileKind::Photo, "p.png", bytes.into_inner());
    let draft = FileDraft { caption: "what is it?".into(), ..draft };
    team.world.playground.model().script(vec![Turn::text("a small one")]);
    let message = team.world.telegram().upload(ADA, ADA, draft);
    assert_eq!(team.world.answer(ADA, message).await, "a small one");
    let last = team.world.last_prompt();
    let is_there = last.contains("data:image/") || last.contains("\"media_type\":\"image/");
    let is_missed = last.contains("window is too small for it");
    assert_eq!((is_there, is_missed), (family != Family::Local, family == Family::Local), "{last}");
}

/// What is said while a task runs stands in its next request.
async fn hears_more_while_it_works(team: &Team) {
    let model = team.world.playground.model();
    let asked = model.calls();
    model.script(vec![
        Turn::call("todo_read", json!({})),
        Turn::call("think", json!({ "thought": "hm" })).delayed(1_500),
        Turn::call("todo_read", json!({})),
        Turn::text("two lumps, then"),
    ]);
    team.world.telegram().say(PRIVATE, ADA, "tea, one lump");
    team.world.asked(asked + 2).await;
    team.world.telegram().say(PRIVATE, ADA, "no, two lumps");
    team.world.hears(PRIVATE, "two lumps, then").await;
    assert!(team.world.last_prompt().contains("no, two lumps"));
}

/// `/stop` ends a task that has called, and the next one goes on.
async fn is_stopped(team: &Team) {
    let model = team.world.playground.model();
    let asked = model.calls();
    model.script(vec![
        Turn::call("todo_read", json!({})),
        Turn::text("too late").delayed(FOR_EVER),
        Turn::text("here I am"),
    ]);
    team.world.telegram().say(PRIVATE, ADA, "a long story, please");
    team.world.asked(asked + 2).await;
    team.world.telegram().say(PRIVATE, ADA, "/stop");
    team.world.hears(PRIVATE, "topped").await;
    team.world.telegram().say(PRIVATE, ADA, "are you there?");
    team.world.hears(PRIVATE, "here I am").await;
}

/// A SIGKILL when the answer is stored and its calls have not begun: the next life makes them and asks on.
async fn dies_before_a_call(team: &mut Team) {
    team.world.playground.model().script(vec![
        Turn::call("todo_read", json!({})),
        Turn::call("think", json!({ "thought": "again" })),
        Turn::text("still here"),
    ]);
    let point = format!("{}:2", CrashPoint::AfterCallsStored.name());
    team.world.home.set("debug", json!({ "crash_at": point }));
    let dying = team.world.daemon();
    team.world.telegram().say(PRIVATE, ADA, "and now?");
    team.world.within("a death", dying.gone()).await;
    team.world.home.set("debug", json!({}));
    let _next = team.world.daemon();
    team.world.hears(PRIVATE, "still here").await;
    settled(&team.world, 1).await;
}
