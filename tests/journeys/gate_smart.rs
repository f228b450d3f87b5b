//! A smart group: the deciding model lets through what is meant for the bot, and nothing else.

use selkie_playground::Turn;
use selkie_playground::telegram::{GRACE, GROUP, LINUS};
use serde_json::json;

use crate::support::rows::{number, texts};
use crate::support::world::World;

fn decision(confidence: f64, impulse: f64) -> Turn {
    let decision = json!({
        "addressed": true, "confidence": confidence, "wanna_interject": true, "interject": 1,
        "impulse": impulse, "is_lightweight": "false", "reason": "tea is its trade",
    });
    Turn::text(format!("```json\n{decision}\n```"))
}

#[tokio::test(flavor = "multi_thread")]
async fn it_passes_and_refuses() {
    let world = World::with(json!({ "group_trigger_mode": "smart" })).await;
    let _daemon = world.daemon();
    let (telegram, model) = (world.telegram(), world.playground.model());
    let asks = "current_messages";
    model.script_for(asks, vec![decision(0.5, 1.0), decision(0.7, 0.5), decision(0.7, 0.9)]);
    telegram.say(GROUP, LINUS, "the kettle is old");
    world.asked(1).await;
    telegram.say(GROUP, GRACE, "when is tea, I wonder");
    world.hears(GROUP, "when is tea").await;
    let prompt = world.last_prompt();
    assert!(prompt.contains("nobody mentioned you"), "{prompt}");
    assert!(prompt.contains("the kettle is old"), "what was refused is context: {prompt}");
    assert!(prompt.contains("<<<untrusted group talk"), "{prompt}");
    let keen = telegram.say(GROUP, GRACE, "and cake");
    world.hears(GROUP, "and cake").await;
    let quotes: Vec<_> = world.said(GROUP).iter().map(|m| m.reply_to).collect();
    assert_eq!(quotes, [None, Some(keen)], "only a strong impulse quotes");
    assert_eq!(model.calls(), 3 + 2);
    let reasons = texts(
        &world.home,
        "SELECT facts ->> '$.passed.reason' FROM task WHERE facts ->> '$.passed' NOT NULL",
    );
    assert_eq!(reasons, ["tea is its trade", "tea is its trade"], "stored with the task");
    let calls = "SELECT sum(calls) FROM task";
    assert_eq!(number(&world.home, calls), Some(4), "a decision is part of its task's cost");
    let log = world.home.log();
    assert!(log.contains("llm.routes.decision is not set"), "a loud line");
}
