//! The write plan, counted on the running daemon: a plain message costs two syncs of the disk.

use selkie_playground::telegram::ADA;
use serde_json::json;

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_message_costs_two_syncs() {
    let world = World::start().await;
    let _daemon = world.daemon();
    world.ask("the first message makes its conversation").await;
    for text in ["one", "two", "three"] {
        let before = syncs(&world);
        world.ask(text).await;
        assert_eq!(syncs(&world) - before, 2, "accept, and finish with the mark: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_k_parts_costs_k_and_one() {
    // A status message of a slow machine would cost one, too.
    let sections = json!({ "llm": { "provider": "offline" }, "progress": { "status": "off" } });
    let world = World::with(sections).await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    let before = syncs(&world);
    world.ask("long 9000").await;
    world.hears(ADA, "Line 150 ").await;
    assert_eq!(world.said(ADA).len(), 4, "one answer before, and three parts");
    assert_eq!(syncs(&world) - before, 3 + 1);
}

fn syncs(world: &World) -> u64 {
    world.status()["store_syncs"].as_u64().expect("the status counts the store's syncs")
}
