//! Questions with buttons: the run waits over a restart, one person answers once, every tap is answered.

use selkie_playground::Spot;
use selkie_playground::telegram::{ADA, GRACE, GROUP, MessageView, PRIVATE};
use serde_json::json;

use crate::support::once::said;
use crate::support::rows::{number, settled, texts};
use crate::support::world::World;

const QUESTION: &str = "ask me: tea or coffee?";
/// The stand-in asks what stands behind `ask me:`.
const ASKED: &str = "tea or coffee?";

async fn shown(
    world: &World,
    spot: impl Into<Spot>,
    fits: impl Fn(&MessageView) -> bool,
) -> MessageView {
    world.within("a message", world.telegram().wait_for(spot, fits)).await
}

/// Asks to be asked, and returns the question's message.
async fn asked(world: &World, spot: Spot, by: i64, text: &str) -> MessageView {
    world.telegram().say(spot, by, text);
    shown(world, spot, |m| m.from.is_bot && m.keyboard.is_some()).await
}

/// Taps a button and returns what the person reads.
async fn tap(world: &World, (chat, by): (i64, i64), message: i64, label: &str) -> String {
    let query = world.telegram().tap(chat, by, message, label).expect("a button with this label");
    world.within("an answer to the tap", world.telegram().tap_answer(&query)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tap_answers_and_the_buttons_give_way_to_the_outcome() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    let question = asked(&world, PRIVATE, ADA, QUESTION).await;
    assert_eq!(question.text, ASKED);
    assert_eq!(tap(&world, (ADA, ADA), question.id, "coffee").await, "");
    shown(&world, PRIVATE, |m| m.text == "You answered: coffee").await;
    let closed = shown(&world, PRIVATE, |m| m.id == question.id && m.edited).await;
    assert_eq!(closed.text, "tea or coffee?\n\n✔ coffee");
    assert_eq!(closed.keyboard, None);
    // An old keyboard may still be on a phone.
    let data = question.keyboard.expect("buttons")[0][0]["callback_data"].clone();
    let late = world.telegram().press(ADA, ADA, question.id, data.as_str().expect("data"));
    let read = world.within("an answer", world.telegram().tap_answer(&late)).await;
    assert_eq!(read, "Already answered: coffee");
    let unknown = world.telegram().press(ADA, ADA, question.id, "something old");
    let read = world.within("an answer", world.telegram().tap_answer(&unknown)).await;
    assert_eq!(read, "This button no longer works.");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_group_only_who_was_asked_answers() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    let question = asked(&world, GROUP, GRACE, "/ask ask me: tea or coffee?").await;
    let foreign = tap(&world, (GROUP.chat, ADA), question.id, "tea").await;
    assert_eq!(foreign, "This question is for Grace Hopper.");
    assert_eq!(tap(&world, (GROUP.chat, GRACE), question.id, "tea").await, "");
    shown(&world, GROUP, |m| m.text == "You answered: tea").await;
    let closed = shown(&world, GROUP, |m| m.id == question.id && m.edited).await;
    assert_eq!(closed.text, "tea or coffee?\n\n✔ tea (Grace Hopper)");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_outlives_the_process() {
    let world = World::offline().await;
    let daemon = world.daemon();
    let question = asked(&world, PRIVATE, ADA, "note: before, then ask me: tea or coffee?").await;
    settled(&world, 1).await;
    daemon.kill();
    // The tap comes while nobody listens.
    let query = world.telegram().tap(ADA, ADA, question.id, "tea").expect("a button");
    let _second = world.daemon();
    assert_eq!(world.within("an answer", world.telegram().tap_answer(&query)).await, "");
    shown(&world, PRIVATE, |m| m.text == "Noted: before (1).\nYou answered: tea").await;
    assert_eq!(said(&world, PRIVATE).len(), 2, "the question and the answer, each once");
    let attempts = "SELECT max(attempts) FROM task";
    assert_eq!(number(&world.home, attempts), Some(1), "a wait is no attempt");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_answers_in_time_and_the_model_is_told() {
    let world = World::with(json!({
        "llm": { "provider": "offline" }, "tools": { "ask_user": { "timeout": "1s" } },
    }))
    .await;
    let _daemon = world.daemon();
    let question = asked(&world, PRIVATE, ADA, QUESTION).await;
    shown(&world, PRIVATE, |m| m.text == "No answer within 1s.").await;
    let closed = shown(&world, PRIVATE, |m| m.id == question.id && m.edited).await;
    assert_eq!(closed.text, "tea or coffee?\n\n⌛ No answer within 1s");
    let data = question.keyboard.expect("buttons")[0][0]["callback_data"].clone();
    let late = world.telegram().press(ADA, ADA, question.id, data.as_str().expect("data"));
    let read = world.within("an answer", world.telegram().tap_answer(&late)).await;
    assert_eq!(read, "This question has expired.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_withdraws_the_question() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    let question = asked(&world, PRIVATE, ADA, QUESTION).await;
    world.telegram().say(PRIVATE, ADA, "/stop");
    let closed = shown(&world, PRIVATE, |m| m.id == question.id && m.edited).await;
    assert_eq!(closed.text, "tea or coffee?\n\n✖ Withdrawn");
    settled(&world, 2).await;
    assert_eq!(texts(&world.home, "SELECT state FROM task"), ["stopped"]);
    assert_eq!(texts(&world.home, "SELECT state FROM question"), ["withdrawn"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn words_answer_and_talk_goes_on_beside_a_question() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    asked(&world, PRIVATE, ADA, QUESTION).await;
    // No choice and no free text: a task of its own, while the question stays open.
    world.ask("note: milk").await;
    assert_eq!(number(&world.home, "SELECT count(*) FROM question WHERE state = 'open'"), Some(1));
    world.telegram().say(PRIVATE, ADA, "Tea");
    shown(&world, PRIVATE, |m| m.text == "You answered: tea").await;
    world.telegram().say(PRIVATE, ADA, "ask me: what is your name?");
    shown(&world, PRIVATE, |m| m.text == "what is your name?").await;
    world.telegram().say(PRIVATE, ADA, "Lovelace");
    shown(&world, PRIVATE, |m| m.text == "You answered: Lovelace").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_are_chosen_and_done_ends_it() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    let call = r#"call ask_user {"question": "Which?", "options": ["tea", "milk", "sugar"], "multi_select": true}"#;
    let question = asked(&world, PRIVATE, ADA, call).await;
    assert_eq!(tap(&world, (ADA, ADA), question.id, "Done").await, "Choose at least one first.");
    for label in ["☐ tea", "☐ sugar"] {
        assert_eq!(tap(&world, (ADA, ADA), question.id, label).await, "");
        let marked = label.replace('☐', "☑");
        let has =
            |m: &MessageView| m.keyboard.as_ref().is_some_and(|k| k.to_string().contains(&marked));
        shown(&world, PRIVATE, |m| m.id == question.id && has(m)).await;
    }
    tap(&world, (ADA, ADA), question.id, "Done").await;
    shown(&world, PRIVATE, |m| m.text == "ask_user answered:\ntea, sugar").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_approved_before_anything_is_changed() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    world.telegram().say(PRIVATE, ADA, "propose: 1. write the log");
    let plan = shown(&world, PRIVATE, |m| m.keyboard.is_some()).await;
    assert_eq!(
        plan.text,
        "1. write the log\n\nShall I carry out this plan?\n\nApprove it, or say what should be different."
    );
    world.telegram().say(PRIVATE, ADA, "in red, please");
    let told = "Not approved: plan mode stays on. The person says: in red, please";
    shown(&world, PRIVATE, |m| m.text == told).await;
    let refused = world.ask("write log.txt: x").await;
    assert!(refused.contains("hidden in plan mode"), "{refused}");
    assert!(world.ask("/plan").await.contains("Plan mode is on"));
    world.telegram().say(PRIVATE, ADA, r#"call plan_exit {"plan_summary": "in red"}"#);
    let again =
        shown(&world, PRIVATE, |m| m.text.starts_with("in red\n") && m.keyboard.is_some()).await;
    tap(&world, (ADA, ADA), again.id, "Approve").await;
    shown(&world, PRIVATE, |m| m.text.contains("The plan is approved")).await;
    assert_eq!(world.ask("write log.txt: x").await, "Written: log.txt.");
    world.ask("call plan_enter {}").await;
    assert!(world.ask("/plan off").await.contains("Plan mode is off"));
    assert_eq!(number(&world.home, "SELECT sum(plan) FROM conversation"), Some(0));
}
