//! A server with more tools than a request has room for: the model searches, and calls what it finds.

use std::fs;

use selkie_playground::Turn;
use serde_json::{Value, json};

use crate::mcp::{add_shop, agree, calls};
use crate::support::world::World;

const TOOLS: usize = 300;

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_of_many_is_searched_for_and_called() {
    let mut world = World::start().await;
    let tool = |n: usize| {
        json!({
            "name": format!("shelf_{n}"),
            "description": format!("Says what lies on shelf {n} of the shop, and how much of it is left."),
            "inputSchema": { "type": "object", "properties": { "item": { "type": "string" } } },
        })
    };
    let tools: Vec<Value> = (0..TOOLS).map(tool).collect();
    fs::write(world.home.folder().join("tools.json"), json!(tools).to_string()).expect("a list");
    add_shop(&mut world);
    agree(&world, "shop");
    let _daemon = world.daemon();
    let call = json!({ "name": "shop__shelf_217", "arguments": { "item": "teapots" } });
    world.playground.model().script(vec![
        Turn::call("tool_search", json!({ "query": "shelf 217" })),
        Turn::call("use_tool", call),
        Turn::text("twelve are left"),
    ]);
    let answer = world.ask("how many teapots lie on shelf 217?").await;
    assert_eq!(answer, "twelve are left");
    assert_eq!(calls(&world), 1);

    let requests = world.playground.model().requests();
    let lists: Vec<String> = requests.iter().map(|asked| asked.body["tools"].to_string()).collect();
    assert!(lists.iter().all(|list| *list == lists[0]), "the list of tools never changes");
    assert!(lists[0].contains("tool_search") && !lists[0].contains("shop__"), "{}", lists[0]);
    let last = requests.last().expect("a request").body.to_string();
    assert!(last.contains("what lies on shelf 217"), "the search told it: {last}");
    assert!(last.contains("12 left"), "{last}");
    let (_, trace, _) = world.home.run(&["trace", "1"]);
    assert!(trace.contains("shop__shelf_217"), "the real call is what is recorded: {trace}");
}
