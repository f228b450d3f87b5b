//! Stories of questions through flow alone: asked, tapped, answered in words, expired, stopped.

use selkie_channel_core::{
    AddressReason, Audience, Command, ConversationId, Delivery, Inbound, MessageRef, Pace,
    PersonId, PlaceId, What,
};

use crate::flow::testing::{Fixture, account, message};
use crate::intake::settings::Settings;
use crate::terminal::ask::Ask;
use crate::terminal::ask::AskEvent;
use crate::terminal::ask::Reply;
use selkie_domain::task::TaskState;
use selkie_store::read::Reader;

async fn house() -> Fixture {
    Fixture::open(Settings::default(), Pace::LIFTED).await
}

fn tap(speaker: &str, choice: &str) -> Inbound {
    let (question, choice) = ("q1".to_owned(), choice.to_owned());
    let what = What::Tap { question, choice, handle: "h".to_owned() };
    // The platform gives each of ours this id.
    Inbound { what, message: Some(MessageRef::new("9")), ..message(speaker, "") }
}

fn in_group(mut said: Inbound) -> Inbound {
    said.conversation = ConversationId::new(account(), "tg:-100");
    said.place = PlaceId::new(account(), "tg:-100");
    (said.audience, said.addressed) = (Audience::Group, AddressReason::Mention);
    said
}

/// What arrived from the `from`th on, in the order of the alphabet: a tap's answer is no row, and keeps no
/// order with what is said.
async fn arrived(house: &Fixture, from: usize, count: usize) -> Vec<String> {
    let all = house.platform.wait_for(from + count).await;
    let mut texts: Vec<String> = all[from..].iter().map(|(_, text)| text.clone()).collect();
    texts.sort();
    texts
}

const ASKED: &str = r#"Tea or coffee? ["Tea", "Coffee"]"#;

#[tokio::test]
async fn a_tap_answers_once_and_the_buttons_go() {
    let house = house().await;
    house.hear(vec![message("tg:1", "ask me")]).await;
    assert_eq!(arrived(&house, 0, 1).await, [ASKED]);
    house.hear(vec![tap("tg:1", "2")]).await;
    let expected = ["Coffee", "[9] Tea or coffee?\n\n✔ Coffee", "[h] \"\""];
    assert_eq!(arrived(&house, 1, 3).await, expected);
    house.hear(vec![tap("tg:1", "1")]).await;
    assert_eq!(arrived(&house, 4, 1).await, [r#"[h] "Already answered: Coffee""#]);
    house.hear(vec![tap("tg:1", "7")]).await;
    assert_eq!(arrived(&house, 5, 1).await, [r#"[h] "Already answered: Coffee""#]);
    assert_eq!(house.close().await.tasks().await, [(TaskState::Done, 1)]);
}

#[tokio::test]
async fn only_who_was_asked_answers_in_a_group() {
    let house = house().await;
    let mut asking = in_group(message("tg:5", "ask me"));
    asking.speaker.name = "Ada".to_owned();
    house.hear(vec![asking]).await;
    assert_eq!(arrived(&house, 0, 1).await, [ASKED]);
    house.hear(vec![in_group(tap("tg:6", "1"))]).await;
    assert_eq!(arrived(&house, 1, 1).await, [r#"[h] "This question is for Ada.""#]);
    // Words of somebody else are a task of their own, and the asked person's are the answer.
    house.hear(vec![in_group(message("tg:6", "tea"))]).await;
    assert_eq!(arrived(&house, 2, 1).await, ["re tea"]);
    let mut answer = in_group(message("tg:5", "coffee"));
    answer.addressed = AddressReason::No;
    answer.speaker.name = "Ada".to_owned();
    house.hear(vec![answer]).await;
    let expected = ["Coffee", "[9] Tea or coffee?\n\n✔ Coffee (Ada)"];
    assert_eq!(arrived(&house, 3, 2).await, expected);
    let states = house.close().await.tasks().await;
    assert_eq!(states, [(TaskState::Done, 1), (TaskState::Done, 1)]);
}

#[tokio::test]
async fn talk_of_a_group_answers_nothing_and_own_words_are_said_to_the_bot() {
    let house = house().await;
    house.hear(vec![in_group(message("tg:5", "ask free"))]).await;
    let asked = r#"Tea or coffee?

To answer in your own words, mention me. ["Tea", "Coffee"]"#;
    assert_eq!(arrived(&house, 0, 1).await, [asked]);
    let mut talk = in_group(message("tg:5", "see you at five"));
    talk.addressed = AddressReason::No;
    house.hear(vec![talk, in_group(message("tg:5", "rather water"))]).await;
    let expected = ["[9] Tea or coffee?\n\n✔ rather water", "rather water"];
    assert_eq!(arrived(&house, 1, 2).await, expected);
    assert_eq!(house.close().await.tasks().await, [(TaskState::Done, 1)]);
}

#[tokio::test]
async fn nobody_answers_in_time() {
    let house = house().await;
    house.hear(vec![message("tg:1", "ask 40")]).await;
    let expected =
        ["No answer within 40ms", ASKED, "[9] Tea or coffee?\n\n⌛ No answer within 40ms"];
    assert_eq!(arrived(&house, 0, 3).await, expected);
    house.hear(vec![tap("tg:1", "1")]).await;
    assert_eq!(arrived(&house, 3, 1).await, [r#"[h] "This question has expired.""#]);
    house.close().await;
}

#[tokio::test]
async fn own_words_answer_where_they_are_taken() {
    let house = house().await;
    house.hear(vec![message("tg:1", "ask free")]).await;
    arrived(&house, 0, 1).await;
    // Two at once: the first is the answer, the second a task of its own.
    house.hear(vec![message("tg:1", "rather water"), message("tg:1", "hello")]).await;
    let expected = ["[9] Tea or coffee?\n\n✔ rather water", "rather water", "re hello"];
    assert_eq!(arrived(&house, 1, 3).await, expected);
    house.close().await;
}

#[tokio::test]
async fn several_are_chosen_by_taps() {
    let house = house().await;
    house.hear(vec![message("tg:1", "ask many")]).await;
    assert_eq!(arrived(&house, 0, 1).await, [r#"Tea or coffee? ["☐ Tea", "☐ Coffee", "Done"]"#]);
    house.hear(vec![tap("tg:1", "done")]).await;
    assert_eq!(arrived(&house, 1, 1).await, [r#"[h] "Choose at least one first.""#]);
    house.hear(vec![tap("tg:1", "1"), tap("tg:1", "2")]).await;
    let toggled = arrived(&house, 2, 4).await;
    assert!(toggled.contains(&r#"[9] Tea or coffee? ["☑ Tea", "☑ Coffee", "Done"]"#.to_owned()));
    house.hear(vec![tap("tg:1", "done")]).await;
    assert!(arrived(&house, 6, 3).await.contains(&"Tea, Coffee".to_owned()));
    house.close().await;
}

#[tokio::test]
async fn a_stop_takes_the_question_back() {
    let house = house().await;
    house.hear(vec![message("tg:1", "ask me")]).await;
    arrived(&house, 0, 1).await;
    let mut stop = message("tg:1", "");
    stop.command = Some(Command { name: "stop".to_owned(), args: String::new() });
    house.hear(vec![stop]).await;
    let said = arrived(&house, 1, 2).await;
    assert!(said.contains(&"[9] Tea or coffee?\n\n✖ Withdrawn".to_owned()), "{said:?}");
    house.hear(vec![tap("tg:1", "1")]).await;
    assert_eq!(arrived(&house, 3, 1).await, [r#"[h] "This question was withdrawn.""#]);
    assert_eq!(house.close().await.tasks().await, [(TaskState::Stopped, 0)]);
}

#[tokio::test]
async fn a_question_that_is_over_before_it_has_arrived_loses_its_buttons_then() {
    let house = house().await;
    let over = async || {
        while !house.ledger.open_questions(None).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    house.platform.silent.send_replace(true);
    house.hear(vec![message("tg:1", "ask me")]).await;
    arrived(&house, 0, 1).await;
    let mut stop = message("tg:1", "");
    stop.command = Some(Command { name: "stop".to_owned(), args: String::new() });
    house.hear(vec![stop]).await;
    over().await;
    house.platform.silent.send_replace(false);
    let said = arrived(&house, 1, 2).await;
    assert!(said.contains(&"[9] Tea or coffee?\n\n✖ Withdrawn".to_owned()), "{said:?}");
    house.platform.silent.send_replace(true);
    house.hear(vec![message("tg:1", "ask me")]).await;
    arrived(&house, 3, 1).await;
    house.hear(vec![message("tg:1", "tea")]).await;
    over().await;
    house.platform.silent.send_replace(false);
    assert_eq!(arrived(&house, 4, 2).await, ["Tea", "[9] Tea or coffee?\n\n✔ Tea"]);
    house.close().await;
}

#[tokio::test]
async fn a_question_the_platform_refuses_is_told_to_who_asked() {
    let house = house().await;
    let refused = Delivery::Refused { reason: "too long".to_owned(), closed: false };
    house.platform.trouble.lock().unwrap().push_back(refused);
    house.hear(vec![message("tg:1", "ask me")]).await;
    assert_eq!(arrived(&house, 0, 1).await, ["The question could not be asked: too long"]);
    assert_eq!(house.close().await.tasks().await, [(TaskState::Done, 1)]);
}

#[tokio::test]
async fn the_conversation_goes_on_while_it_waits() {
    let house = house().await;
    house.hear(vec![message("tg:1", "ask me"), message("tg:1", "hello")]).await;
    assert_eq!(arrived(&house, 0, 2).await, [ASKED, "re hello"]);
    let mut unknown = tap("tg:1", "1");
    unknown.what = What::Tap {
        question: "nothing".to_owned(),
        choice: "1".to_owned(),
        handle: "h".to_owned(),
    };
    unknown.speaker.id = PersonId::new("tg:66");
    house.hear(vec![unknown]).await;
    assert_eq!(arrived(&house, 2, 1).await, [r#"[h] "This button no longer works.""#]);
    house.hear(vec![tap("tg:1", "1")]).await;
    assert!(arrived(&house, 3, 3).await.contains(&"Tea".to_owned()));
    house.close().await;
}

#[tokio::test]
async fn a_line_in_the_terminal_answers() {
    let house = house().await;
    let ask = |text: &str| Ask {
        workspace: "/w".into(),
        text: text.to_owned(),
        terminal: true,
        ..Ask::default()
    };
    let mut events = house.flow.ask(ask("ask me")).await.unwrap();
    let key = loop {
        match events.recv().await.unwrap() {
            AskEvent::Asked(key) => break key,
            AskEvent::Said(text) => assert_eq!(text, "Tea or coffee?\n\n1. Tea\n2. Coffee"),
            AskEvent::Progress(_) => {}
            other @ AskEvent::Ended(_) => panic!("{other:?}"),
        }
    };
    assert_eq!(house.flow.answer(&key, ask("water")).await.unwrap(), Reply::NoAnswer);
    assert_eq!(house.flow.answer(&key, ask("2")).await.unwrap(), Reply::Taken);
    let mut said = Vec::new();
    while let Some(event) = events.recv().await {
        said.extend(match event {
            AskEvent::Said(text) => Some(text),
            AskEvent::Ended(state) => Some(state),
            _ => None,
        });
    }
    assert_eq!(said, ["Coffee", "done"]);
    assert_eq!(house.flow.answer(&key, ask("1")).await.unwrap(), Reply::Closed);
    house.close().await;
}
