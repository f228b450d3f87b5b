//! A hidden tool: the model is told why it is not there, and the owner's own `$name` gives it to one task.

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, GROUP};
use serde_json::{Value, json};

use crate::support::world::World;

/// Whether a request offers the tool; its history may name it all the same.
fn tools(prompt: &str) -> bool {
    let request: Value = serde_json::from_str(prompt).expect("JSON");
    let mut offered = request["tools"].as_array().into_iter().flatten();
    offered.any(|tool| tool["function"]["name"] == "bash")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owners_own_words_give_a_tool_to_one_task() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let bash = || Turn::call("bash", json!({ "cmd": "echo tide" }));
    let model = world.playground.model();
    model.script(vec![bash(), Turn::text("refused"), bash(), Turn::text("done")]);
    world.ask_in(GROUP, ADA, "@selkie_demo_bot run it").await;
    assert!(!tools(&world.prompts()[0]) && world.prompts()[1].contains("hidden in groups"));
    world.ask_in(GROUP, ADA, "@selkie_demo_bot run it with $bash").await;
    assert!(tools(&world.prompts()[2]), "{}", world.prompts()[2]);
    assert!(world.prompts()[3].contains("tide"), "it ran: {}", world.prompts()[3]);
    world.ask_in(GROUP, ADA, "@selkie_demo_bot and again?").await;
    assert!(!tools(&world.last_prompt()), "for that one task only");
    let why = world.ask_in(GROUP, ADA, "/tools why bash").await;
    assert!(why.contains("hidden in groups") && why.contains("who writes $bash"), "{why}");
}
