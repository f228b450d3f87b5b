//! The config is read again while selkie runs: what changed is in force for what comes next, and nothing else notices.

use std::fs;

use rustix::process::Signal;
use selkie_playground::Turn;
use selkie_playground::slack::{self, CHANNEL};
use selkie_playground::telegram::{ADA, GRACE, GROUP, HERS, PRIVATE, TOKEN};
use serde_json::{Value, json};

use crate::support::daemon::Daemon;
use crate::support::once::{marks, said};
use crate::support::rows::settled;
use crate::support::world::World;

/// Another token of the same bot.
const ANOTHER: &str = "8123456:ROTATED-demo-token-of-35-letters-x";

/// Starts a daemon and waits until it can be asked.
pub async fn up(world: &World) -> Daemon {
    let from = world.home.log().len();
    let daemon = world.daemon();
    world.within("the start", world.home.logged(from, |log| log.contains("selkie is up"))).await;
    daemon
}

/// Has the config read again, and demands that it is taken.
pub fn reload(world: &World) -> String {
    let (code, out, err) = world.home.run(&["reload"]);
    assert_eq!(code, 0, "{out}{err}");
    out
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_rotated_and_the_other_channel_does_not_notice() {
    let mut world = World::with_slack().await;
    let file = world.home.folder().join("telegram.token");
    fs::write(&file, TOKEN).unwrap();
    let section = json!({
        "bot_token_file": "telegram.token",
        "base_url": world.playground.telegram_base_url(),
        "allowed_chat_ids": [GROUP.chat],
        "pace": "lifted",
    });
    world.home.set("telegram", section);
    let _daemon = up(&world).await;
    world.ask("good morning").await;
    world.slack().wait_until(|slack| (slack.sockets().1 > 0).then_some(())).await;
    let sockets = world.slack().sockets();
    world.telegram().set_token(ANOTHER);
    let message = world.telegram().say(ADA, ADA, "by which token?");
    fs::write(&file, ANOTHER).unwrap();
    let out = reload(&world);
    assert!(out.contains("In effect now: telegram.bot_token\n"), "{out}");
    assert!(out.contains("telegram (tg:") && out.contains(") was restarted\n"), "{out}");
    assert!(!out.contains("slack") && !out.contains(ANOTHER), "{out}");
    assert!(world.answer(ADA, message).await.ends_with("\nby which token?"));
    assert_eq!(world.slack().sockets(), sockets);
    assert!(!world.home.log().contains(ANOTHER) && !world.home.log().contains(TOKEN));
    assert_eq!(reload(&world), "Nothing has changed.\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_let_in_by_a_signal_is_answered_from_the_next_message_on() {
    let mut world = World::offline().await;
    let daemon = up(&world).await;
    let hint = world.ask_in(HERS, GRACE, "am I heard?").await;
    assert!(hint.contains("I only talk to people whom my owner knows"), "{hint}");
    world.home.set_key("telegram", "allowed_chat_ids", json!([GROUP.chat, GRACE]));
    daemon.signal(Signal::HUP);
    let reloaded = |log: &str| log.contains("the config was reloaded");
    world.within("the reload", world.home.logged(0, reloaded)).await;
    assert!(world.ask_in(HERS, GRACE, "and now?").await.contains("and now?"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_runs_ends_by_what_it_began_with_and_the_next_has_the_new_model() {
    let mut world = World::start().await;
    let _daemon = up(&world).await;
    world.playground.model().script(vec![Turn::text("slowly").delayed(1_000)]);
    let first = world.telegram().say(ADA, ADA, "take your time");
    world.asked(1).await;
    world.home.set_key("llm", "model", "another".into());
    assert!(reload(&world).contains("llm.model"), "the model is another");
    assert_eq!(world.answer(ADA, first).await, "slowly");
    world.ask("hello").await;
    let models: Vec<Value> =
        world.playground.model().requests().iter().map(|r| r.body["model"].clone()).collect();
    assert_eq!(models, ["playground", "another"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_is_added_and_taken_away_while_the_other_goes_on() {
    let mut world = World::start().await;
    let _daemon = up(&world).await;
    world.ask("good morning").await;
    world.add_slack();
    let out = reload(&world);
    assert!(out.contains("slack (slack:") && out.contains(") was added and listens\n"), "{out}");
    assert!(!out.contains("telegram"), "{out}");
    let asks =
        |text: &str| world.slack().say(CHANNEL, slack::ADA, &format!("<@{}> {text}", slack::BOT));
    let first = asks("are you there?");
    let answer = world.slack().wait_for_answer(CHANNEL, &first);
    assert!(world.within("an answer in Slack", answer).await.text.contains("are you there?"));
    // A task of it runs when it is taken away: its answer goes out before the channel does.
    world.playground.model().script(vec![Turn::text("still in time").delayed(1_500)]);
    let second = asks("wait for it");
    world.asked(3).await;
    world.home.remove("slack");
    let out = reload(&world);
    assert!(out.contains("will be gone when 1 task has ended"), "{out}");
    let answer = world.slack().wait_for_answer(CHANNEL, &second);
    assert_eq!(world.within("the last answer in Slack", answer).await.text, "still in time");
    let gone = |log: &str| log.contains("this channel was removed");
    world.within("its end", world.home.logged(0, gone)).await;
    world.ask("and you?").await;
    let channels = world.status()["channels"].clone();
    assert_eq!(channels.as_array().map(Vec::len), Some(1), "{channels}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_that_begins_anew_under_a_burst_loses_and_doubles_nothing() {
    const EACH: usize = 15;
    let mut world = World::start().await;
    let _daemon = up(&world).await;
    let mut lines = Vec::new();
    for round in 0..4 {
        for number in 0..EACH {
            let line = format!("line {round}.{number}.");
            world.telegram().say(ADA, ADA, &line);
            lines.push(line);
        }
        let list = json!([GROUP.chat, GRACE + round]);
        world.home.set_key("telegram", "allowed_chat_ids", list);
        let out = reload(&world);
        assert!(out.contains(") was restarted\n"), "{out}");
    }
    settled(&world, (4 * EACH) as i64).await;
    let expected: Vec<Vec<&str>> = lines.iter().map(|line| vec![line.as_str()]).collect();
    assert_eq!(marks(&said(&world, PRIVATE), &expected), 0);
}
