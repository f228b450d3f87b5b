//! What a person sends without words is answered, a file survives hiccups, a topic that is gone costs no
//! answer, and Telegram lists the commands.

use selkie_playground::telegram::{ADA, FileDraft, FileKind, PRIVATE, TOPIC};
use selkie_playground::{Fault, FaultKind, Turn};
use serde_json::json;

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn stickers_places_contacts_and_polls_are_answered_in_private() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let poll = json!({ "poll": { "question": "Tea?", "options": [{ "text": "yes" }] } });
    let contact = json!({ "contact": { "first_name": "Ann", "phone_number": "+1" } });
    let things = [
        (json!({ "sticker": { "file_id": "s", "emoji": "😀" } }), "(sticker 😀)"),
        (json!({ "location": { "latitude": 52.5, "longitude": 13.4 } }), "(location 52.5,13.4)"),
        (contact, "(contact: Ann, +1)"),
        (poll, "(poll: Tea? – yes)"),
        (json!({ "hologram": {} }), "(a Telegram hologram, which cannot be read here)"),
    ];
    for (fields, words) in things {
        let message = world.telegram().share(PRIVATE, ADA, fields);
        let answer = world.answer(ADA, message).await;
        assert!(answer.ends_with(words), "{words}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_survives_hiccups_on_its_way_and_trouble_that_stays_is_told() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let file = |name: &str| FileDraft::new(FileKind::Document, name, "06:12 high".to_owned());
    let gone = FaultKind::Refuse { code: 404, description: "Not Found".into() };
    let hiccups = [
        ("getFile", FaultKind::TooMany { retry_after: 1 }),
        ("getFile", FaultKind::Html { status: 502 }),
        ("getFile", FaultKind::CutBefore),
        ("file", FaultKind::Html { status: 500 }),
        ("file", FaultKind::CutBefore),
        ("file", gone),
    ];
    for (n, (method, kind)) in hiccups.into_iter().enumerate() {
        world.telegram().fault(Fault::next(method, kind));
        let message = world.telegram().upload(PRIVATE, ADA, file(&format!("tide{n}.txt")));
        world.answer(ADA, message).await;
        let prompt = world.last_prompt();
        let line = format!("/tide{n}.txt (document, text/plain, 10 bytes)");
        assert!(prompt.contains(&line), "{n}: {prompt}");
    }
    world.telegram().fault(Fault::next("file", FaultKind::Html { status: 503 }).times(99));
    let message = world.telegram().upload(PRIVATE, ADA, file("never.txt"));
    world.answer(ADA, message).await;
    let prompt = world.last_prompt();
    assert!(prompt.contains("never.txt (could not be fetched: it was tried"), "{prompt}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_for_a_topic_that_is_gone_goes_to_the_chat_with_a_word() {
    let world = World::with_allowed(json!([TOPIC.chat])).await;
    let _daemon = world.daemon();
    world.playground.model().script(vec![Turn::text("a boat, of course").delayed(500)]);
    world.telegram().say(TOPIC, ADA, "@selkie_demo_bot what floats?");
    world.within("the question", world.playground.model().wait_for_calls(1)).await;
    world.telegram().delete_topic(TOPIC.chat, TOPIC.thread.expect("a topic"));
    world.hears(TOPIC.chat, "(topic deleted)\na boat, of course").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn telegram_lists_the_commands() {
    let world = World::start().await;
    let daemon = world.daemon();
    let set = |log: &str| log.matches("told Telegram the commands").count() == 2;
    world.within("the commands", world.home.logged(0, set)).await;
    let private = world.telegram().commands("all_private_chats");
    let group = world.telegram().commands("all_group_chats");
    assert!(private.contains(&"stop".to_owned()) && private.contains(&"ps".to_owned()));
    assert!(group.contains(&"stop".to_owned()) && !group.contains(&"ps".to_owned()));
    assert!(daemon.stop().await.success());
    // The next start finds them as they should be.
    let _daemon = world.daemon();
    let stand = |log: &str| log.matches("the commands stand as they should").count() == 2;
    world.within("a look", world.home.logged(0, stand)).await;
    assert_eq!(world.telegram().counted("setMyCommands"), 2);
}
