//! The deciding model fails: the bot stays silent, the log says why, and who means it is answered.

use selkie_playground::Turn;
use selkie_playground::telegram::{GRACE, GROUP};
use serde_json::json;

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn silence_and_a_line_in_the_log() {
    let world = World::with(json!({ "group_trigger_mode": "smart" })).await;
    let _daemon = world.daemon();
    let (telegram, model) = (world.telegram(), world.playground.model());
    let nonsense = Turn::text("Yes, I should answer that!");
    let refused = Turn::refuse(401, "no such key");
    model.script_for("current_messages", vec![nonsense.clone(), nonsense, refused]);
    let from = world.home.log().len();
    for (nth, text) in [(2, "is it tea time?"), (3, "is it, now?")] {
        telegram.say(GROUP, GRACE, text);
        world.asked(nth).await;
        let decided = |log: &str| log.matches("the gate has decided").count() as u64 == nth - 1;
        world.within("a decision", world.home.logged(from, decided)).await;
    }
    let log = world.home.log();
    assert_eq!(log.matches("the gate's decision could not be read").count(), 2, "one retry");
    assert_eq!(log.matches("the gate got no decision").count(), 1);
    let answer = world.ask_in(GROUP, GRACE, "@selkie_demo_bot hello?").await;
    assert!(answer.contains("hello?"), "{answer}");
    assert_eq!(world.texts(GROUP).len(), 1, "{:?}", world.texts(GROUP));
    assert!(world.last_prompt().contains("is it tea time?"), "kept as context");
}
