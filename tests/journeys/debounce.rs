//! `debounce`: several messages of one speaker in a row are one task, and commands wait for nobody.

use selkie_playground::telegram::{ADA, PRIVATE};
use serde_json::json;

use crate::support::rows::{number, settled};
use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn short_messages_in_a_row_are_answered_together() {
    let world = World::with(json!({ "debounce": "2s" })).await;
    let _daemon = world.daemon();
    for text in ["please", "tell me", "the tide"] {
        world.telegram().say(PRIVATE, ADA, text);
    }
    world.telegram().say(PRIVATE, ADA, "/id");
    world.hears(ADA, "tg:4711").await;
    assert_eq!(world.said(ADA).len(), 1, "a command waits for nobody");
    world.hears(ADA, "the tide").await;
    settled(&world, 4).await;
    let prompt = world.last_prompt();
    assert!(["please", "tell me", "the tide"].iter().all(|text| prompt.contains(text)), "{prompt}");
    assert_eq!(world.playground.model().calls(), 1);
    assert_eq!(number(&world.home, "SELECT count(*) FROM task"), Some(1));
    assert_eq!(world.said(ADA).len(), 2);
}
