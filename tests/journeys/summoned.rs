//! A hidden tool: the model is told why it is not there, and where the owner writes its `$name` it may be asked for.

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, GROUP, MessageView, PRIVATE};
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
    model.script(vec![bash(), Turn::text("refused"), bash(), Turn::text("it is through")]);
    world.ask_in(GROUP, ADA, "@selkie_demo_bot run it").await;
    assert!(!tools(&world.prompts()[0]) && world.prompts()[1].contains("hidden in groups"));
    world.telegram().say(GROUP, ADA, "@selkie_demo_bot run it with $bash");
    let buttons = |m: &MessageView| m.from.is_bot && m.keyboard.is_some();
    let request = world.within("a request", world.telegram().wait_for(PRIVATE, buttons)).await;
    assert!(request.text.contains("the owner wrote its name"), "{}", request.text);
    world.telegram().tap(ADA, ADA, request.id, "Approve").expect("a button");
    world.hears(GROUP, "it is through").await;
    assert!(tools(&world.prompts()[2]), "{}", world.prompts()[2]);
    assert!(world.prompts()[3].contains("tide"), "it ran: {}", world.prompts()[3]);
    world.ask_in(GROUP, ADA, "@selkie_demo_bot and again?").await;
    assert!(!tools(&world.last_prompt()), "for that one task only");
    let why = world.ask_in(GROUP, ADA, "/tools why bash").await;
    assert!(why.contains("hidden in groups") && why.contains("who writes $bash"), "{why}");
}
