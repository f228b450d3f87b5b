//! Order: what arrives while a conversation is busy waits its turn; chats do not wait for each other.

use selkie_playground::Turn;
use selkie_playground::telegram::ADA;
use serde_json::json;

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn thirty_messages_to_a_busy_chat_are_answered_each_and_in_order() {
    let world = World::with(json!({"while_busy": "queue"})).await;
    let _daemon = world.daemon();
    world.playground.model().script(vec![Turn::text("echo: begun").delayed(700)]);
    let first = world.telegram().say(ADA, ADA, "begun");
    world.asked(1).await;
    let messages: Vec<_> =
        (1..=30).map(|n| world.telegram().say(ADA, ADA, &format!("number {n}"))).collect();
    world.answer(ADA, *messages.last().expect("thirty")).await;
    assert_eq!(world.telegram().answers_to(ADA, first).len(), 1);
    for (n, message) in (1..).zip(messages) {
        let texts: Vec<_> =
            world.telegram().answers_to(ADA, message).into_iter().map(|m| m.text).collect();
        assert_eq!(texts.len(), 1, "number {n}: {texts:?}");
        assert!(texts[0].ends_with(&format!("\nnumber {n}")), "number {n}: {texts:?}");
    }
    assert!(world.telegram().answer_counts(ADA).is_clean());
    assert_eq!(world.playground.model().calls(), 31);
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_chats_are_answered_side_by_side_each_in_its_order() {
    let people: Vec<i64> = (7001..=7010).collect();
    let owners: Vec<_> = people.iter().chain([&ADA]).map(|p| format!("tg:{p}")).collect();
    let world = World::with(json!({"while_busy": "queue", "owners": owners})).await;
    for person in &people {
        world.telegram().add_person(*person, "Someone");
    }
    let _daemon = world.daemon();
    // One chat hangs: nobody waits for it.
    world.playground.model().script_for("hang on", vec![Turn::text("late").delayed(600_000)]);
    world.telegram().say(ADA, ADA, "hang on");
    world.asked(1).await;
    let mut last = vec![];
    for n in 1..=10 {
        for person in &people {
            let message = world.telegram().say(*person, *person, &format!("{person} says {n}"));
            last.push((*person, message));
        }
    }
    for (person, message) in last {
        world.answer(person, message).await;
    }
    for person in people {
        let counts = world.telegram().answer_counts(person);
        assert!(counts.is_clean() && counts.answers.len() == 10, "{person}: {counts:?}");
        for (n, text) in (1..).zip(world.texts(person)) {
            assert!(text.ends_with(&format!("{person} says {n}")), "{person}: {text}");
        }
    }
    assert!(world.texts(ADA).is_empty());
}
