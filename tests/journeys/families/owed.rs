//! What is owed is owed still: once a family's rules are kept its row says so, and the whole story is told of it.

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, PRIVATE};
use serde_json::json;

use super::ROWS;
use crate::support::rows::settled;
use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_row_owes_no_more_than_it_says() {
    for row in ROWS {
        let Some(owed) = row.owes else { continue };
        let mut world = World::start().await;
        world.asks(row.family, &serde_json::from_str(row.profile).expect("JSON"));
        world.playground.model().script(vec![Turn::call("todo_read", json!({}))]);
        let _daemon = world.daemon();
        for (messages, text) in (1..).zip(["what do I need?", "thank you"]) {
            world.telegram().say(PRIVATE, ADA, text);
            settled(&world, messages).await;
        }
        let broken = world.broken_rules();
        println!("{} owes: {broken:?}", row.family.name());
        let is_owed = broken.iter().any(|broken| broken.contains(owed));
        assert!(is_owed, "{} does not owe {owed:?}: {broken:?}", row.family.name());
    }
}
