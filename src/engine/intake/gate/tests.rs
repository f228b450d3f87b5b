//! Stories of the gate over the real store: one call for all that waits, and silence when it fails.

use chrono::TimeDelta;
use selkie_channel_core::{
    AddressReason, Audience, ConversationId, Inbound, MessageRef, Pace, PlaceId, Quote,
};
use serde_json::json;

use crate::flow::testing::{self, Fixture, account};
use crate::intake::gate::settings::GateSettings;
use crate::intake::settings::Settings;
use crate::work::settings::PlaceSettings;
use crate::work::settings::TriggerMode;
use selkie_store::read::Reader;
use selkie_store::{Gate as _, Intake as _};

fn smart(gate: GateSettings) -> Settings {
    Settings { group_trigger_mode: TriggerMode::Smart, gate, ..Settings::default() }
}

fn said(house: &Fixture, text: &str) -> Inbound {
    Inbound {
        conversation: ConversationId::new(account(), "tg:-100"),
        place: PlaceId::new(account(), "tg:-100"),
        audience: Audience::Group,
        addressed: AddressReason::No,
        at: house.context.runtime.clock.now(),
        ..testing::message("tg:5", text)
    }
}

fn decides(house: &Fixture, answers: &[&str]) {
    house.decider.script.lock().unwrap().extend(answers.iter().map(|text| (*text).to_owned()));
}

fn decision(addressed: bool, line: usize) -> String {
    json!({ "addressed": addressed, "confidence": 0.9, "wanna_interject": false, "interject": 0,
            "impulse": 0.5, "about": line })
    .to_string()
}

async fn asked(house: &Fixture, times: usize) -> Vec<String> {
    house.decider.asked.subscribe().wait_for(|all| all.len() >= times).await.unwrap().clone()
}

/// Waits until nothing waits at the gate.
async fn judged(house: &Fixture) {
    while !house.ledger.knocking().await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn one_call_covers_all_that_waits_and_names_its_line() {
    let house = Fixture::open(smart(GateSettings::default()), Pace::LIFTED).await;
    decides(&house, &[&decision(false, 1), &decision(true, 2)]);
    house.decider.open.send_replace(false);
    house.hear(vec![said(&house, "one")]).await;
    asked(&house, 1).await;
    house.hear(vec![said(&house, "two")]).await;
    house.hear(vec![said(&house, "three"), said(&house, "four")]).await;
    house.decider.open.send_replace(true);
    let arrived = house.platform.wait_for(1).await;
    let answer = &arrived[0].1;
    assert!(answer.ends_with("+three"), "the second of the new lines, after the talk: {answer}");
    let questions = asked(&house, 2).await;
    assert_eq!(questions.len(), 2);
    let lines = |n: usize| questions[n].split("chat_history").next().unwrap().to_owned();
    assert!(lines(0).contains("\"one\"") && !lines(0).contains("\"two\""));
    assert!(["two", "three", "four"].iter().all(|text| lines(1).contains(text)), "{}", lines(1));
    house.close().await;
}

#[tokio::test]
async fn an_unreadable_answer_is_asked_for_once_more_and_then_there_is_silence() {
    let house = Fixture::open(smart(GateSettings::default()), Pace::LIFTED).await;
    decides(&house, &["yes!", &decision(true, 1), "yes!", "still yes!"]);
    house.hear(vec![said(&house, "one")]).await;
    house.platform.wait_for(1).await;
    house.hear(vec![said(&house, "two")]).await;
    let questions = asked(&house, 4).await;
    assert!(questions[1].contains("could not be read"), "{}", questions[1]);
    judged(&house).await;
    // Without a script the model itself fails.
    house.hear(vec![said(&house, "three")]).await;
    asked(&house, 5).await;
    judged(&house).await;
    assert_eq!(house.decider.asked.borrow().len(), 5);
    assert_eq!(house.platform.arrived.borrow().len(), 1);
    house.close().await;
}

#[tokio::test]
async fn old_lines_become_context_without_a_call() {
    let one = std::num::NonZeroUsize::MIN;
    let house =
        Fixture::open(smart(GateSettings { most_lines: one, ..Default::default() }), Pace::LIFTED)
            .await;
    let old = Inbound {
        at: house.context.runtime.clock.now() - TimeDelta::hours(1),
        ..said(&house, "yesterday's news")
    };
    house.hear(vec![old]).await;
    judged(&house).await;
    assert!(house.decider.asked.borrow().is_empty());
    decides(&house, &[&decision(false, 1)]);
    house.hear(vec![said(&house, "first"), said(&house, "second")]).await;
    judged(&house).await;
    let questions = asked(&house, 1).await;
    let new = questions[0].split("chat_history").next().unwrap().to_owned();
    assert!(new.contains("second") && !new.contains("first"), "{new}");
    let meant = Inbound { addressed: AddressReason::Mention, ..said(&house, "now") };
    house.hear(vec![meant]).await;
    house.platform.wait_for(1).await;
    house.close().await;
}

#[tokio::test]
async fn what_waited_when_the_process_died_is_judged_at_the_next_start() {
    let house = testing::desk_with(smart(GateSettings::default()), Pace::LIFTED);
    decides(&house, &[&decision(true, 1)]);
    let lines = vec![said(&house, "still here?")];
    let arrivals = house.rules().of(&house.account(), |policy| {
        let arrival = |inbound: Inbound| crate::intake::policy::arrival(inbound, policy);
        lines.into_iter().map(arrival).collect()
    });
    let fuse = selkie_store::Fuse {
        permits: 0,
        instance: selkie_domain::ids::Instance("dead".to_owned()),
        now: house.context.runtime.clock.now(),
    };
    house.ledger.accept(arrivals, None, fuse).await.unwrap();
    house.begin().await;
    assert_eq!(house.platform.wait_for(1).await[0].1, "re still here?");
    house.close().await;
}

#[tokio::test]
async fn an_answer_to_another_person_is_no_question_of_the_gate() {
    let house = Fixture::open(smart(GateSettings::default()), Pace::LIFTED).await;
    let quote = Quote {
        message: MessageRef::new("7"),
        speaker: "Bo".to_owned(),
        text: "who?".to_owned(),
        ours: false,
        attachments: Vec::new(),
    };
    house.hear(vec![Inbound { quote: Some(quote), ..said(&house, "you") }]).await;
    house.hear(vec![testing::message("tg:1", "hi")]).await;
    house.platform.wait_for(1).await;
    assert!(house.decider.asked.borrow().is_empty());
    house.close().await;
}

#[tokio::test]
async fn bots_are_answered_until_they_go_in_circles() {
    let group = PlaceSettings { bots: true, ..PlaceSettings::default() };
    let gate = GateSettings { bot_answers: 2, ..GateSettings::default() };
    let places = std::collections::BTreeMap::from([("tg:-100".to_owned(), group)]);
    let house = Fixture::open(Settings { gate, places, ..Settings::default() }, Pace::LIFTED).await;
    let meant = |text: &str, is_bot: bool| {
        let mut line = Inbound { addressed: AddressReason::Mention, ..said(&house, text) };
        line.speaker.is_bot = is_bot;
        line
    };
    for (nth, text) in (1..).zip(["one", "two"]) {
        house.hear(vec![meant(text, true)]).await;
        house.platform.wait_for(nth).await;
    }
    house.hear(vec![meant("three", true)]).await;
    house.hear(vec![meant("a person", false)]).await;
    assert_eq!(house.platform.wait_for(3).await[2].1, "re a person");
    house.hear(vec![meant("four", true)]).await;
    assert_eq!(house.platform.wait_for(4).await[3].1, "re four");
    let left = house.close().await;
    let failed = left.ledger.tasks(None, 9).await.unwrap();
    let why: Vec<_> = failed.iter().filter_map(|task| task.why.as_deref()).collect();
    assert_eq!(why, ["ignored: gate.bot_answers is reached"]);
}
