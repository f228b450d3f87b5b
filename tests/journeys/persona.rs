//! Who the bot is: its owner is asked, reads all that would be written, confirms it, and the next message meets it.

use std::fs;

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, GRACE, GROUP, MessageView, PRIVATE};
use serde_json::json;

use crate::support::world::World;

/// Waits for a message of the bot with a button, and presses one of its buttons.
async fn press(world: &World, text: &str, label: &str) {
    let fits = |m: &MessageView| m.from.is_bot && m.keyboard.is_some() && m.text.contains(text);
    let message = world.within(text, world.telegram().wait_for(PRIVATE, fits)).await;
    let query = world.telegram().tap(ADA, ADA, message.id, label).expect("a button");
    world.within("an answer to the tap", world.telegram().tap_answer(&query)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_is_interviewed_and_confirms_the_words() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    assert!(world.ask("/start").await.contains("set up your persona"));
    world.telegram().say(ADA, ADA, "set up your persona");
    world.hears(ADA, "What shall I be called?").await;
    world.telegram().say(ADA, ADA, "Ina");
    world.hears(ADA, "How shall I speak?").await;
    world.telegram().say(ADA, ADA, "Plainly, with a wink.");
    let identity = world.home.state().join("persona/IDENTITY.md");
    press(&world, "**Name:** Ina", "Approve").await;
    world.hears(ADA, "It counts from the next message on.").await;
    assert_eq!(fs::read_to_string(&identity).expect("a file"), "# Identity\n\n- **Name:** Ina\n");
    let soul = fs::read_to_string(world.home.state().join("persona/SOUL.md")).expect("a file");
    assert_eq!(soul, "# Soul\n\n## Vibe\n\nPlainly, with a wink.\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_message_meets_it_and_nobody_else_may_change_it() {
    let world =
        World::with_allowed(json!([format!("tg:{}", GROUP.chat), format!("tg:{GRACE}")])).await;
    world.telegram().add_person(GRACE, "Grace");
    let _daemon = world.daemon();
    let model = world.playground.model();
    let call = || Turn::call("persona_write", json!({"name": "Ina"}));
    model.script(vec![call(), Turn::text("I am Ina now")]);
    world.telegram().say(ADA, ADA, "be Ina");
    press(&world, "**Name:** Ina", "Approve").await;
    world.hears(ADA, "I am Ina now").await;
    world.ask("who are you?").await;
    let system = || model.requests().last().map(|asked| asked.body.to_string()).expect("a request");
    assert!(system().contains("**Name:** Ina"));
    model.script(vec![call(), Turn::text("refused")]);
    let message = world.telegram().say(GRACE, GRACE, "be Ola");
    assert_eq!(world.answer(GRACE, message).await, "refused");
    assert!(system().contains("only owners say who the bot is"), "{}", system());
    let written = fs::read_to_string(world.home.state().join("persona/IDENTITY.md"));
    assert!(written.expect("a file").contains("Ina"));
}
