//! While the gate thinks about what nobody addressed, a mention is answered; both are, once.

use selkie_playground::Turn;
use selkie_playground::telegram::{GRACE, GROUP, LINUS};
use serde_json::json;

use crate::support::rows::number;
use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_mention_does_not_wait_behind_the_gate() {
    let world = World::with(json!({ "group_trigger_mode": "smart" })).await;
    let _daemon = world.daemon();
    let telegram = world.telegram();
    let yes = json!({ "addressed": true, "confidence": 1, "wanna_interject": true, "interject": 1, "impulse": 1 });
    let slow = Turn::text(yes.to_string()).delayed(4_000);
    world.playground.model().script_for("current_messages", vec![slow]);
    let chatter = telegram.say(GROUP, LINUS, "tea at nine?");
    world.asked(1).await;
    let meant = telegram.say(GROUP, GRACE, "@selkie_demo_bot is that right?");
    let answer = world.answer(GROUP.chat, meant).await;
    assert!(answer.contains("is that right?"), "{answer}");
    let waits = "SELECT count(*) FROM inbox WHERE disposition = 'gate'";
    assert_eq!(number(&world.home, waits), Some(1), "the gate still thinks");
    assert!(world.last_prompt().contains("tea at nine?"), "what is undecided is context");
    world.answer(GROUP.chat, chatter).await;
    assert_eq!(world.said(GROUP).len(), 2);
    assert_eq!(number(&world.home, waits), Some(0));
}
