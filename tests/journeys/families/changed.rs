//! Each family once more, with requests that have lost on their way what its provider wants back: it refuses, so that
//! the story of a daemon that loses it could not end well.

use selkie_playground::telegram::{ADA, PRIVATE};
use selkie_playground::{Family, Turn};
use serde_json::{Value, json};

use super::ROWS;
use crate::support::proxy::Change;
use crate::support::rows::settled;
use crate::support::world::World;

/// What is changed from the second request on, and what is said to that.
struct Mutation {
    family: Family,
    does: &'static str,
    change: Change,
    refused: &'static str,
}

const MUTATIONS: [Mutation; 6] = [
    Mutation {
        family: Family::OpenAi,
        does: "drops the reasoning items",
        change: |body| keep(&mut body["input"], |item| item["type"] != "reasoning"),
        refused: "was provided without its required 'reasoning' item",
    },
    Mutation {
        family: Family::Claude,
        does: "drops the thinking blocks",
        change: |body| each(&mut body["messages"], |m| keep(&mut m["content"], is_no_thought)),
        refused: "Expected `thinking` or `redacted_thinking`, but found",
    },
    Mutation {
        family: Family::ClaudeBound,
        does: "says something else before the thinking blocks",
        change: |body| body["system"] = json!("Be quick."),
        refused: "The block is bound to a different conversation.",
    },
    Mutation {
        family: Family::Gemini,
        does: "drops the signatures",
        change: |body| {
            each(&mut body["messages"], |m| {
                each(&mut m["tool_calls"], |call| drop_from(call, "extra_content"))
            })
        },
        refused: "Function call is missing a thought_signature",
    },
    Mutation {
        family: Family::DeepSeek,
        does: "drops the thoughts",
        change: |body| each(&mut body["messages"], |m| drop_from(m, "reasoning_content")),
        refused: "The `reasoning_content` in the thinking mode must be passed back",
    },
    Mutation {
        family: Family::Local,
        does: "adds 30 KB",
        change: |body| {
            let more = json!({ "role": "user", "content": "long ago ".repeat(3_400) });
            body["messages"].as_array_mut().into_iter().for_each(|all| all.insert(1, more.clone()));
        },
        refused: "tokens of the prompt were cut off",
    },
];

fn is_no_thought(block: &Value) -> bool {
    block["type"] != "thinking"
}

fn keep(list: &mut Value, fits: fn(&Value) -> bool) {
    list.as_array_mut().into_iter().for_each(|list| list.retain(fits));
}

fn each(list: &mut Value, change: Change) {
    list.as_array_mut().into_iter().flatten().for_each(change);
}

fn drop_from(value: &mut Value, field: &str) {
    value.as_object_mut().into_iter().for_each(|map| drop(map.remove(field)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_has_lost_what_is_the_providers_is_refused() {
    for Mutation { family, does, change, refused } in MUTATIONS {
        let row = ROWS.into_iter().find(|row| row.family == family).expect("a row");
        let mut world = World::start().await;
        let profile = serde_json::from_str(row.profile).expect("JSON");
        let _proxy = world.asks_through(change, family, &profile).await;
        world
            .playground
            .model()
            .script(vec![Turn::call("todo_read", json!({})), Turn::text("done")]);
        let _daemon = world.daemon();
        world.telegram().say(PRIVATE, ADA, "what do I need?");
        settled(&world, 1).await;
        let last = world.broken_rules().pop().unwrap_or_default();
        println!("{}, where the way there {does}: {last}", family.name());
        assert!(last.contains(refused), "{}, where the way {does}: {last:?}", family.name());
        // What no window holds anyhow is less than what was added.
        let cuts: Vec<usize> =
            world.playground.model().requests().iter().map(|asked| asked.cut).collect();
        assert!(family != Family::Local || cuts[1] > cuts[0] + 6_000, "{cuts:?}");
    }
}
