//! Questions on LINE: quick replies, numbers, foreign taps; what follows a tap goes out on its fresh token.

use selkie_playground::line_platform::{
    ADA, BOT_NAME, GRACE, GROUP, LineMessage, LinePlatform, Via,
};

use crate::support::line::Line;
use crate::support::rows::texts;

const QUESTION: &str = "ask me: tea or coffee?";
/// The choices stand in the words too: quick replies are gone with the next message.
const ASKED: &str = "tea or coffee?\n\n1. tea\n2. coffee";

fn labels(message: &LineMessage) -> Vec<&str> {
    message.buttons.iter().map(|button| button.label.as_str()).collect()
}

/// Taps a button and waits for what is said on the tap's own token.
async fn tapped(line: &Line, chat: &str, by: &str, (message, label): (&str, &str)) -> LineMessage {
    let words = line.platform().tap(chat, by, message, label).expect("a button");
    line.answer(chat, &words).await
}

/// All that was said was free of charge.
fn assert_free(platform: &LinePlatform) {
    assert!(platform.calls_of("push").is_empty(), "{:?}", platform.calls_of("push"));
    assert_eq!(platform.used(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tap_brings_the_right_to_answer_it() {
    let line = Line::offline().await;
    let question = line.ask(ADA, QUESTION).await;
    assert_eq!((question.text.as_str(), question.via), (ASKED, Via::Reply));
    assert_eq!(labels(&question), ["tea", "coffee"]);
    assert!(question.buttons.iter().all(|button| button.quick));
    let data = question.buttons[1].data.clone();
    let answer = tapped(&line, ADA, ADA, (&question.id, "coffee")).await;
    assert_eq!((answer.text.as_str(), answer.via), ("You answered: coffee", Via::Reply));
    // A tap that LINE brings late, or again from an old screen.
    line.platform().postback(ADA, ADA, &data);
    let late = |l: &LinePlatform| {
        l.messages(ADA).into_iter().find(|m| m.text == "Already answered: coffee")
    };
    line.world.within("an answer to the late tap", line.platform().wait_until(late)).await;
    assert_free(line.platform());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_answers_where_the_buttons_are_gone() {
    let line = Line::offline().await;
    line.ask(ADA, QUESTION).await;
    let beside = line.ask(ADA, "note: milk").await;
    assert_eq!(beside.text, "Noted: milk (1).");
    let answer = line.ask(ADA, "2").await;
    assert_eq!((answer.text.as_str(), answer.via), ("You answered: coffee", Via::Reply));
    assert_free(line.platform());
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_group_who_was_asked_answers_and_others_are_told() {
    let line = Line::offline().await;
    let asked = line.platform().say(GROUP, GRACE, &format!("{BOT_NAME} {QUESTION}"));
    let question = line.answer(GROUP, &asked).await;
    assert_eq!(question.text, ASKED);
    let foreign = tapped(&line, GROUP, ADA, (&question.id, "tea")).await;
    assert!(foreign.text.starts_with("This question is for"), "{foreign:?}");
    // LINE took the buttons away with Ada's tap. Talk is no answer, a number is.
    line.platform().say(GROUP, GRACE, "see you at five");
    let number = line.platform().say(GROUP, GRACE, "1");
    let answer = line.answer(GROUP, &number).await;
    assert_eq!((answer.text.as_str(), answer.via), ("You answered: tea", Via::Reply));
    let again = line.platform().say(GROUP, GRACE, &format!("{BOT_NAME} {QUESTION}"));
    let question = line.answer(GROUP, &again).await;
    let answer = tapped(&line, GROUP, GRACE, (&question.id, "coffee")).await;
    assert_eq!((answer.text.as_str(), answer.via), ("You answered: coffee", Via::Reply));
    assert_eq!(line.said(GROUP), 5);
    assert_free(line.platform());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_withdraws_it_and_the_tap_is_told() {
    let line = Line::offline().await;
    let question = line.ask(ADA, QUESTION).await;
    assert!(line.ask(ADA, "/stop").await.text.starts_with("Stopped."));
    assert_eq!(texts(&line.world.home, "SELECT state FROM question"), ["withdrawn"]);
    line.platform().postback(ADA, ADA, &question.buttons[0].data);
    let told = |l: &LinePlatform| {
        l.messages(ADA).into_iter().find(|m| m.text == "This question was withdrawn.")
    };
    line.world.within("an answer to the tap", line.platform().wait_until(told)).await;
    assert_free(line.platform());
}
