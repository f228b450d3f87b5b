//! LINE: an answer that comes after the deadline is fetched by a button, free of charge, once.

use selkie_playground::line_platform::{
    ADA, BOT_NAME, GRACE, GROUP, LineMessage, LinePlatform, Via,
};
use selkie_playground::{Fault, FaultKind, Turn};
use serde_json::json;

use crate::support::line::{self, Line};
use crate::support::rows::number;
use crate::support::world::World;

const LABEL: &str = "Get the answer";
const ANSWER: &str = "forty-two, after some thought";
/// Long enough for a deadline of 100 ms to pass and a tap to come too early.
const LATE_MS: u64 = 3000;

/// A world whose next answer comes long after the deadline.
async fn late() -> Line {
    let line = Line::with(json!({ "reply_deadline": "100ms" })).await;
    line.world.playground.model().script(vec![Turn::text(ANSWER).delayed(LATE_MS)]);
    line
}

/// Taps the newest button again and again until something else comes.
async fn fetch(line: &Line, chat: &str, user: &str, mut button: LineMessage) -> LineMessage {
    while !button.buttons.is_empty() {
        let words = line.platform().tap(chat, user, &button.id, LABEL).expect("a card stays");
        button = line.answer(chat, &words).await;
    }
    button
}

/// Waits until the answer is held.
async fn held(line: &Line) {
    let sql = "SELECT count(*) FROM part WHERE state = 'held'";
    let logged = line.world.home.logged(0, |_| number(&line.world.home, sql) == Some(1));
    line.world.within("a held answer", logged).await;
}

fn answers(line: &Line, chat: &str) -> usize {
    line.platform().messages(chat).iter().filter(|m| m.text.contains(ANSWER)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_answer_is_fetched_by_a_button_once_and_costs_nothing() {
    let line = late().await;
    let card = line.ask(ADA, "what is it all about?").await;
    assert_eq!((card.via, card.buttons[0].label.as_str()), (Via::Reply, LABEL));
    assert!(!card.buttons[0].quick, "it stays when more is said");
    let early = line.platform().tap(ADA, ADA, &card.id, LABEL).unwrap();
    let again = line.answer(ADA, &early).await;
    assert_eq!(again.buttons[0].label, LABEL, "not ready: a new button on the tap's own token");
    let got = fetch(&line, ADA, ADA, again).await;
    assert!(got.text.contains(ANSWER) && got.via == Via::Reply, "{got:?}");
    let late = line.platform().tap(ADA, ADA, &card.id, LABEL).unwrap();
    let told = line.answer(ADA, &late).await;
    assert_eq!(told.text, "You already have that answer: see above.");
    assert_eq!((answers(&line, ADA), line.platform().used()), (1, 0));
    assert!(line.platform().calls_of("push").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_group_anybody_there_may_fetch_it() {
    let line = late().await;
    let asked = line.platform().say(GROUP, ADA, &format!("{BOT_NAME} what is it all about?"));
    let card = line.answer(GROUP, &asked).await;
    let got = fetch(&line, GROUP, GRACE, card).await;
    assert!(got.text.contains(ANSWER), "{got:?}");
    assert_eq!((answers(&line, GROUP), line.platform().used()), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_button_that_was_not_taken_lets_the_answer_be_pushed() {
    let line = late().await;
    let asked = line.platform().say(ADA, ADA, "what is it all about?");
    line.platform().expire_tokens();
    let pushed = line.answer(ADA, &asked).await;
    assert!(pushed.text.contains(ANSWER) && pushed.via == Via::Push, "{pushed:?}");
    let pushes = line.platform().calls_of("push");
    assert!(pushes.len() == 1 && pushes[0].retry_key.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_button_that_may_have_arrived_is_never_followed_by_a_push() {
    let line = late().await;
    line.platform().fault(Fault::next("reply", FaultKind::CutAfter));
    let card = line.ask(ADA, "what is it all about?").await;
    held(&line).await;
    let got = fetch(&line, ADA, ADA, card).await;
    assert!(got.text.contains(ANSWER), "{got:?}");
    assert_eq!((answers(&line, ADA), line.platform().calls_of("push").len()), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_held_answer_outlives_a_restart() {
    let line = late().await;
    let card = line.ask(ADA, "what is it all about?").await;
    held(&line).await;
    let Line { world, daemon } = line;
    daemon.kill();
    let daemon = world.daemon();
    let line = Line { world, daemon };
    line.listening().await;
    let got = fetch(&line, ADA, ADA, card).await;
    assert!(got.text.contains(ANSWER) && got.via == Via::Reply, "{got:?}");
    assert_eq!(answers(&line, ADA), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_fetches_expires_in_sight() {
    let mut world = World::start().await;
    world.home.set("outbox", json!({ "unclear_after": "300ms", "answer_expires": "1s" }));
    line::add(&mut world, json!({ "reply_deadline": "100ms" }));
    world.playground.model().script(vec![Turn::text(ANSWER).delayed(LATE_MS)]);
    let daemon = world.daemon();
    let line = Line { world, daemon };
    line.listening().await;
    let card = line.ask(ADA, "what is it all about?").await;
    let expired = line.world.home.logged(0, |log| log.contains("nobody fetched it"));
    line.world.within("an expiry", expired).await;
    let late = line.platform().tap(ADA, ADA, &card.id, LABEL).unwrap();
    let told = line.answer(ADA, &late).await;
    assert_eq!(told.text, "That answer is no longer there. Please ask again.");
    assert!(line.platform().calls_of("push").is_empty());
    line.ask(ADA, "and now?").await;
    let asked = line.world.playground.model().requests().pop().expect("a request");
    assert!(asked.body.to_string().contains("not delivered"), "the model is told");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_takes_a_held_answer_away() {
    let line = late().await;
    let card = line.ask(ADA, "what is it all about?").await;
    held(&line).await;
    assert!(line.ask(ADA, "/stop").await.text.starts_with("Stopped"));
    let late = line.platform().tap(ADA, ADA, &card.id, LABEL).unwrap();
    let told = line.answer(ADA, &late).await;
    assert!(told.text.starts_with("That answer is no longer there"), "{told:?}");
    let unknown = |l: &LinePlatform| l.messages(ADA).iter().any(|m| m.text.contains(ANSWER));
    assert!(!unknown(line.platform()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_waits_for_another_has_a_button_of_its_own() {
    let line = Line::with(json!({ "reply_deadline": "100ms", "push": "never" })).await;
    let model = line.world.playground.model();
    model.script(vec![Turn::text("one").delayed(LATE_MS), Turn::text("two")]);
    line.platform().say(ADA, ADA, "first");
    let second = line.platform().say(ADA, ADA, "second");
    let card = line.answer(ADA, &second).await;
    assert_eq!(card.buttons[0].label, LABEL);
    let got = fetch(&line, ADA, ADA, card).await;
    assert_eq!((got.text.as_str(), got.via), ("two", Via::Reply));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tap_that_comes_too_early_is_answered_with_the_answer() {
    let line = Line::with(json!({ "reply_deadline": "5s" })).await;
    let model = line.world.playground.model();
    model.script(vec![Turn::text(ANSWER).delayed(8000)]);
    let card = line.ask(ADA, "what is it all about?").await;
    let tap = line.platform().tap(ADA, ADA, &card.id, LABEL).unwrap();
    let got = line.answer(ADA, &tap).await;
    assert!(got.text.contains(ANSWER) && got.buttons.is_empty(), "no other card: {got:?}");
    assert_eq!((answers(&line, ADA), line.platform().used()), (1, 0));
}
