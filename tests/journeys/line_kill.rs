//! A real SIGKILL on LINE's edges: an answer behind a button is fetched once, whatever was being done, and
//! nothing is pushed.

use std::collections::HashSet;
use std::os::unix::process::ExitStatusExt;
use std::pin::pin;

use futures_util::StreamExt as _;
use futures_util::stream;
use selkie::domain::crash::CrashPoint;
use selkie_playground::Turn;
use selkie_playground::line_platform::{ADA, LineMessage, LinePlatform};
use serde_json::json;

use crate::support::line;
use crate::support::world::World;

const QUESTION: &str = "what is it all about?";
const ANSWER: &str = "forty-two, after some thought";
const LATE_MS: u64 = 1500;
const SIDE_BY_SIDE: usize = 5;

/// Edges by their passes: the question and its button come first, the tap and the answer after.
const CASES: &[(CrashPoint, u32)] = &[
    (CrashPoint::BeforeAccept, 2),
    (CrashPoint::AfterAccept, 1),
    (CrashPoint::AfterAccept, 2),
    (CrashPoint::AfterClaim, 1),
    (CrashPoint::AfterModel, 1),
    (CrashPoint::BeforeFinish, 1),
    (CrashPoint::AfterFinish, 1),
    (CrashPoint::AfterSending, 1),
    (CrashPoint::AfterDeliver, 1),
    (CrashPoint::AfterReceipt, 1),
    (CrashPoint::BeforeCommand, 1),
    (CrashPoint::AfterCommand, 1),
    (CrashPoint::AfterSending, 2),
    (CrashPoint::AfterDeliver, 2),
    (CrashPoint::AfterReceipt, 2),
];

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_behind_a_button_is_fetched_once() {
    stream::iter(CASES)
        .for_each_concurrent(SIDE_BY_SIDE, |(point, nth)| async move {
            println!("{} at pass {nth}", point.name());
            one(*point, *nth).await;
        })
        .await;
}

async fn one(point: CrashPoint, nth: u32) {
    let mut world = World::start().await;
    line::add(&mut world, json!({ "reply_deadline": "100ms" }));
    let turns = vec![Turn::text(ANSWER).delayed(LATE_MS); 3];
    world.playground.model().script_for(QUESTION, turns);
    world.home.set("debug", json!({ "crash_at": format!("{}:{nth}", point.name()) }));
    let dying = world.daemon();
    let mut gone = pin!(dying.gone());
    world.playground.line().say(ADA, ADA, QUESTION);
    let mut second = None;
    let mut tapped = HashSet::new();
    loop {
        let next = world.playground.line().wait_until(|line| news(line, &tapped));
        let found = match &second {
            Some(_) => world.within("a button or the answer", next).await,
            None => tokio::select! {
                biased;
                status = &mut gone => {
                    assert_eq!(status.signal(), Some(9), "{}: {status}", point.name());
                    world.home.set("debug", json!({}));
                    second = Some(world.daemon());
                    // What a tap was told may be lost with the process: a person taps again.
                    tapped.clear();
                    continue;
                }
                found = next => found,
            },
        };
        let Some(button) = found.buttons.first() else { break };
        world.playground.line().tap(ADA, ADA, &found.id, &button.label).expect("a card stays");
        tapped.insert(found.id);
    }
    if second.is_none() {
        // It dies on the answer's own edges.
        let status = world.within("the end of the process", gone).await;
        assert_eq!(status.signal(), Some(9), "{}: {status}", point.name());
        world.home.set("debug", json!({}));
        second = Some(world.daemon());
    }
    check(&world, point).await;
    drop(second);
}

/// The answer, or a button that was not tapped.
fn news(line: &LinePlatform, tapped: &HashSet<String>) -> Option<LineMessage> {
    let said: Vec<_> = line.messages(ADA).into_iter().filter(|m| m.from.is_none()).collect();
    let answer = said.iter().find(|m| m.text.contains(ANSWER));
    let button = || said.iter().rev().find(|m| !m.buttons.is_empty() && !tapped.contains(&m.id));
    answer.or_else(button).cloned()
}

async fn check(world: &World, point: CrashPoint) {
    let platform = world.playground.line();
    // What is said now comes after everything that was left behind.
    let last = platform.say(ADA, ADA, "/id");
    world.within("the last word", platform.wait_for_answer(ADA, &last)).await;
    let said = platform.messages(ADA);
    let answers = said.iter().filter(|m| m.from.is_none() && m.text.contains(ANSWER)).count();
    assert_eq!(answers, 1, "{}: {said:#?}", point.name());
    assert!(platform.calls_of("push").is_empty(), "{}: pushed", point.name());
}
