//! `while_busy: interrupt`: the speaker's next message ends their running task and is answered; others wait.

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, GRACE, GROUP, LINUS};
use serde_json::json;

use crate::support::rows::texts;
use crate::support::world::World;

/// Longer than any test waits.
const FOR_EVER: u64 = 600_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_new_message_ends_what_its_speaker_asked_for() {
    let world = World::with(json!({ "while_busy": "interrupt" })).await;
    let _daemon = world.daemon();
    world.playground.model().script(vec![Turn::text("too late").delayed(FOR_EVER)]);
    world.telegram().say(ADA, ADA, "a long story, please");
    world.asked(1).await;
    world.telegram().say(ADA, ADA, "no: a short one");
    world.hears(ADA, "a short one").await;
    assert_eq!(world.texts(ADA).len(), 1, "the interrupted task says nothing");
    let states = texts(&world.home, "SELECT state FROM task ORDER BY id");
    assert_eq!(states, ["stopped", "done"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_group_nobody_interrupts_somebody_else() {
    let world = World::with(json!({ "while_busy": "interrupt" })).await;
    let _daemon = world.daemon();
    world.playground.model().script(vec![Turn::text("here you are").delayed(2_000)]);
    let first = world.telegram().say(GROUP, GRACE, "@selkie_demo_bot a story");
    world.asked(1).await;
    let second = world.telegram().say(GROUP, LINUS, "@selkie_demo_bot stop that");
    assert_eq!(world.answer(GROUP.chat, first).await, "here you are");
    assert!(world.answer(GROUP.chat, second).await.contains("stop that"));
}
