//! Edits, repetitions and unknown kinds: answered once, with the words as they are when the answer begins.

use selkie_playground::telegram::ADA;
use selkie_playground::{Fault, FaultKind, Turn};
use serde_json::json;

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_message_is_answered_as_edited_and_a_done_one_not_again() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let telegram = world.telegram();
    let busy = world.ask("done already").await;
    assert!(busy.ends_with("done already"));
    let done = telegram.messages(ADA)[0].id;
    world.playground.model().script(vec![Turn::text("first done").delayed(1_500)]);
    telegram.say(ADA, ADA, "keeps it busy");
    world.asked(2).await;
    let waiting = telegram.say(ADA, ADA, "the old words");
    assert!(telegram.edit(ADA, waiting, "the new words"));
    assert!(telegram.edit(ADA, done, "edited afterwards"));
    let answer = world.answer(ADA, waiting).await;
    assert!(answer.ends_with("the new words"), "{answer}");
    world.ask("the end").await;
    assert!(!world.prompts().iter().any(|p| p.contains("the old words")));
    assert_eq!(world.playground.model().calls(), 4);
    assert!(telegram.answer_counts(ADA).is_clean(), "{:?}", telegram.answer_counts(ADA));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_message_that_becomes_a_command_is_read_as_it_stands() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let telegram = world.telegram();
    world.playground.model().script(vec![Turn::text("first done").delayed(1_500)]);
    telegram.say(ADA, ADA, "keeps it busy");
    world.asked(1).await;
    let waiting = telegram.say(ADA, ADA, "the old words");
    assert!(telegram.edit(ADA, waiting, "/status"));
    let answer = world.answer(ADA, waiting).await;
    assert!(answer.ends_with("/status"), "{answer}");
    assert!(!world.prompts().iter().any(|p| p.contains("a message without text")));
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_that_come_twice_are_answered_once() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let telegram = world.telegram();
    for kind in
        [FaultKind::Duplicate, FaultKind::Redeliver, FaultKind::CutAfter, FaultKind::Garbage]
    {
        telegram.fault(Fault::next("getUpdates", kind).times(2));
        for text in ["one", "two", "three"] {
            let answer = world.ask(text).await;
            assert!(answer.ends_with(text), "{text:?} was answered with {answer:?}");
        }
    }
    assert!(telegram.answer_counts(ADA).is_clean(), "{:?}", telegram.answer_counts(ADA));
    assert_eq!(world.said(ADA).len(), 12);
    assert_eq!(world.playground.model().calls(), 12);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_knows_is_kept_and_passed() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let telegram = world.telegram();
    for odd in [
        json!({"brand_new_kind": {"x": 1}}),
        json!({"message": {"message_id": "not a number"}}),
        json!({"message": null}),
        json!({"poll_answer": {"poll_id": "1", "option_ids": []}}),
        json!({"edited_message": {"message_id": 5}}),
        json!({}),
    ] {
        telegram.inject_raw_update(odd);
    }
    assert!(world.ask("and after them?").await.ends_with("and after them?"));
    let counted = world.status()["counts"]["inbox"].clone();
    assert_eq!(counted, 7, "each is a row: {counted}");
    world.ask("the cursor has passed").await;
    assert_eq!(telegram.pending_updates(), 0);
    assert_eq!(world.playground.model().calls(), 2);
}
