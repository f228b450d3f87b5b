//! Telegram says "slower", "somebody else polls", "not this token": the daemon lives and says so once.

use selkie_playground::telegram::{ADA, Outcome, PRIVATE, TOKEN};
use selkie_playground::{Fault, FaultKind};
use serde_json::json;

use crate::support::once::{marks, said};
use crate::support::rows::{number, settled};
use crate::support::world::World;

const PENALTY: &str = "SELECT until FROM penalty";

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_waits_as_long_as_telegram_asks_over_a_restart_too() {
    let world = World::start().await;
    let first = world.daemon();
    world.telegram().fault(Fault::next("sendMessage", FaultKind::TooMany { retry_after: 3 }));
    world.telegram().say(ADA, ADA, "a patient one");
    let waits =
        |log: &str| log.contains("will be tried again") && log.contains("receipt is stored");
    world.within("a penalty", world.home.logged(0, waits)).await;
    first.kill();
    let until = number(&world.home, PENALTY).expect("a stored penalty");
    let _second = world.daemon();
    // Another answer to the same chat is held back as well, and the first one goes first.
    world.telegram().say(ADA, ADA, "another one");
    settled(&world, 2).await;
    let calls = world.telegram().calls();
    let sent = calls.iter().filter(|c| c.method == "sendmessage" && c.outcome == Outcome::Done);
    let times: Vec<i64> = sent.map(|c| c.at.timestamp_millis()).collect();
    assert_eq!(times.len(), 2, "{calls:?}");
    assert!(times[0] >= until, "sent before the penalty was over");
    assert_eq!(marks(&said(&world, PRIVATE), &[vec!["a patient one"], vec!["another one"]]), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_poller_ends_nothing_and_the_owner_is_told_once() {
    let world = World::start().await;
    let _daemon = world.daemon();
    world.telegram().fault(Fault::next("getUpdates", FaultKind::Conflict).times(3));
    world.ask("one").await;
    let reconnected = |log: &str| log.matches("opened new connections to Telegram").count() >= 2;
    world.within("new connections", world.home.logged(0, reconnected)).await;
    world.ask("two").await;
    settled(&world, 2).await;
    let told = said(&world, PRIVATE);
    let notices = told.iter().filter(|text| text.contains("Another program polls Telegram"));
    assert_eq!(notices.count(), 1, "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_token_alone_ends_the_daemon_and_says_so() {
    let mut world = World::offline().await;
    let wrong = TOKEN.replace("PLAYGROUND", "playground");
    let section = json!({ "bot_token": wrong, "base_url": world.playground.telegram_base_url() });
    world.home.set("telegram", section);
    let daemon = world.daemon();
    let status = world.within("the end", daemon.gone()).await;
    assert_eq!(status.code(), Some(1), "{}", world.home.log());
    let log = world.home.log();
    assert!(log.contains("no channel works, and none has since the start: telegram: "), "{log}");
    assert!(!log.contains(&wrong), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_taken_away_ends_nothing_else_and_is_tried_again() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    world.ask("still well").await;
    world.telegram().fault(Fault::next("getUpdates", FaultKind::Unauthorized).times(1_000));
    // Ends the poll that waits: the next one meets the refusal.
    world.ask("one more").await;
    refused(&world, 1).await;
}

/// The channel is deaf with one clear message; the console's answer says so, the terminal is answered.
async fn refused(world: &World, times: usize) {
    const OFF: &str = "this channel cannot listen";
    world.within("the refusal", world.home.logged(0, |log| log.contains(OFF))).await;
    let (code, answer, error) = world.home.run(&["ask", "are you there?"]);
    assert_eq!(code, 0, "{error}");
    assert!(answer.contains("“are you there?”"), "{answer}");
    let log = world.home.log();
    assert_eq!(log.matches(OFF).count(), times, "{log}");
    assert_eq!(log.matches("Ask @BotFather for the right token").count(), times, "{log}");
}
