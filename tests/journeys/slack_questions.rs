//! Questions on Slack: buttons in the thread, foreign taps told in secret, the outcome in the buttons' place.

use selkie_playground::Slack;
use selkie_playground::slack::{ADA, BOT, CHANNEL, GRACE, SlackMessage};
use serde_json::json;

use crate::support::rows::{number, settled, texts};
use crate::support::world::World;

const QUESTION: &str = "ask me: tea or coffee?";

async fn world() -> World {
    let mut world = World::offline().await;
    world.add_slack();
    world
}

async fn shown(world: &World, fits: impl Fn(&SlackMessage) -> bool) -> SlackMessage {
    let look = |slack: &Slack| slack.messages(CHANNEL).into_iter().find(|m| m.is_bots() && fits(m));
    world.within("a message", world.slack().wait_until(look)).await
}

/// Grace mentions the bot in the channel; returns the thread's root and the message with buttons.
async fn asked(world: &World, text: &str) -> (String, SlackMessage) {
    let root = world.slack().say(CHANNEL, GRACE, &format!("<@{BOT}> {text}"));
    let question = shown(world, |m| !world.slack().buttons(CHANNEL, &m.ts).is_empty()).await;
    assert_eq!(question.thread.as_deref(), Some(root.as_str()), "in the thread it is about");
    (root, question)
}

fn labels(world: &World, message: &SlackMessage) -> Vec<String> {
    let buttons = world.slack().buttons(CHANNEL, &message.ts);
    buttons.into_iter().map(|button| button.label).collect()
}

/// Waits until a message reads so and has no buttons any more.
async fn closed(world: &World, message: &SlackMessage, text: &str) {
    let closed = shown(world, |m| m.ts == message.ts && m.edited.is_some()).await;
    assert_eq!(closed.text, text);
    assert!(labels(world, message).is_empty(), "the buttons are gone");
}

/// Waits for what one person alone is shown.
async fn whispered(world: &World, to: &str, text: &str) {
    let told = |slack: &Slack| slack.whispers(CHANNEL, to).into_iter().find(|w| w.text == text);
    world.within(text, world.slack().wait_until(told)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_asked_taps_and_the_buttons_give_way_to_the_outcome() {
    let world = world().await;
    let _daemon = world.daemon();
    let (root, question) = asked(&world, QUESTION).await;
    assert_eq!(labels(&world, &question), ["tea", "coffee"]);
    let buttons = world.slack().buttons(CHANNEL, &question.ts);
    assert!(world.slack().tap(CHANNEL, &question.ts, ADA, "tea"));
    whispered(&world, ADA, "This question is for Grace.").await;
    assert_eq!(labels(&world, &question), ["tea", "coffee"], "a foreign tap changes nothing");
    assert!(world.slack().tap(CHANNEL, &question.ts, GRACE, "coffee"));
    let answer = shown(&world, |m| m.text == "You answered: coffee").await;
    assert_eq!(answer.thread, Some(root));
    closed(&world, &question, "tea or coffee?\n\n✔ coffee (Grace)").await;
    assert_eq!(world.slack().counted("chat.update"), 1);
    // The buttons may still be on a screen.
    world.slack().tap_old(CHANNEL, &question.ts, GRACE, &buttons[0]);
    whispered(&world, GRACE, "Already answered: coffee").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_outlives_the_process() {
    let world = world().await;
    let daemon = world.daemon();
    let (_, question) = asked(&world, "note: before, then ask me: tea or coffee?").await;
    settled(&world, 1).await;
    daemon.kill();
    // The tap comes while nobody listens: Slack keeps it for the next socket.
    assert!(world.slack().tap(CHANNEL, &question.ts, GRACE, "tea"));
    let _second = world.daemon();
    shown(&world, |m| m.text == "Noted: before (1).\nYou answered: tea").await;
    closed(&world, &question, "tea or coffee?\n\n✔ tea (Grace)").await;
    let said = world.slack().messages(CHANNEL).iter().filter(|m| m.is_bots()).count();
    assert_eq!(said, 2, "the question and the answer, each once");
    let attempts = "SELECT max(attempts) FROM task";
    assert_eq!(number(&world.home, attempts), Some(1), "a wait is no attempt");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_withdraws_the_question_and_says_so() {
    let world = world().await;
    let _daemon = world.daemon();
    let (root, question) = asked(&world, QUESTION).await;
    let buttons = world.slack().buttons(CHANNEL, &question.ts);
    world.slack().reply(CHANNEL, GRACE, &root, &format!("<@{BOT}> /stop"));
    let told = shown(&world, |m| m.text.starts_with("Stopped.")).await;
    assert_eq!(told.thread, Some(root));
    closed(&world, &question, "tea or coffee?\n\n✖ Withdrawn").await;
    assert_eq!(texts(&world.home, "SELECT state FROM task"), ["stopped"]);
    assert_eq!(texts(&world.home, "SELECT state FROM question"), ["withdrawn"]);
    world.slack().tap_old(CHANNEL, &question.ts, GRACE, &buttons[0]);
    whispered(&world, GRACE, "This question was withdrawn.").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_approved_by_a_button_before_anything_is_changed() {
    let world = world().await;
    let _daemon = world.daemon();
    let (root, plan) = asked(&world, "propose: 1. write the log").await;
    assert_eq!(labels(&world, &plan), ["Approve", "Keep planning"]);
    assert!(plan.text.starts_with("1. write the log\n\nShall I carry out this plan?"), "{plan:?}");
    assert!(plan.text.contains("To answer in your own words, mention me."), "{plan:?}");
    // Talk in the thread is no answer; what is said to the bot is.
    world.slack().reply(CHANNEL, GRACE, &root, "lunch at one?");
    world.slack().reply(CHANNEL, GRACE, &root, &format!("<@{BOT}> in red, please"));
    let told = "Not approved: plan mode stays on. The person says: in red, please";
    shown(&world, |m| m.text == told).await;
    closed(
        &world,
        &plan,
        "1. write the log\n\nShall I carry out this plan?\n\n✔ in red, please (Grace)",
    )
    .await;
    let again = format!("<@{BOT}> call plan_exit {}", json!({ "plan_summary": "in red" }));
    world.slack().reply(CHANNEL, GRACE, &root, &again);
    let again = shown(&world, |m| m.text.starts_with("in red\n")).await;
    assert!(world.slack().tap(CHANNEL, &again.ts, GRACE, "Approve"));
    shown(&world, |m| m.text.contains("The plan is approved")).await;
    closed(&world, &again, "in red\n\nShall I carry out this plan?\n\n✔ Approve (Grace)").await;
    assert_eq!(number(&world.home, "SELECT sum(plan) FROM conversation"), Some(0));
}
