//! Somebody is taken off the allow list while their message waits: it is not answered, and its row says
//! why.

use selkie_playground::Turn;
use selkie_playground::telegram::GRACE;
use serde_json::{Value, json};

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn who_was_removed_from_the_list_is_not_answered() {
    let mut world = World::start().await;
    world.home.set_key("telegram", "allowed_chat_ids", json!([format!("tg:{GRACE}")]));
    let model = world.playground.model().clone();
    model.script(vec![Turn::text("too late").delayed(600_000)]);
    world.telegram().add_person(GRACE, "Grace Hopper");
    let message = world.telegram().say(GRACE, GRACE, "my last words");
    let daemon = world.daemon();
    world.within("the model's call", model.wait_for_calls(1)).await;
    assert!(daemon.hurry().await.success());
    world.home.set_key("telegram", "allowed_chat_ids", json!([]));
    let daemon = world.daemon();
    assert!(world.ask("still there?").await.ends_with("\nstill there?"));
    assert!(daemon.stop().await.success());
    assert!(world.telegram().answers_to(GRACE, message).is_empty());
    let (code, out, err) = world.home.run(&["trace", &message.to_string(), "--json"]);
    assert_eq!(code, 0, "{err}");
    let chains: Value = serde_json::from_str(&out).expect("json");
    let whys = chains.as_array().into_iter().flatten().map(|c| c["task"]["why"].clone());
    assert!(whys.into_iter().any(|why| why == "ignored: not_allowed any more"), "{out}");
}
