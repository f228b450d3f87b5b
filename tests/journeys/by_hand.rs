//! What an owner adds with an editor while a program of the bot's runs: their own words where the sandbox keeps it off the
//! files, and nobody's where nothing does, until they say so.

use std::fs;

use selkie_playground::Turn;
use serde_json::json;

use crate::support::world::World;

const ITEM: &str = "Buy a ring";
const LINE: &str = "The office closes at six";

/// Adds an item and a line of memory while a program runs; what the next task was told.
async fn edited(world: &World) -> String {
    let call = Turn::call("bash", json!({ "cmd": "cat", "run_in_background": true }));
    world.playground.model().script(vec![call, Turn::text("it runs")]);
    world.ask("run it").await;
    assert!(world.last_prompt().contains("Started "), "{}", world.last_prompt());
    let add = |file: &str, line: String| {
        let path = world.home.state().join(file);
        let text = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, format!("{text}{line}\n")).expect("a file");
    };
    add("TODO.md", format!("- [ ] {ITEM}"));
    add("MEMORY.md", format!("- {LINE}"));
    world.ask("what is there to do?").await;
    world.last_prompt()
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_the_owners_where_the_sandbox_holds() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let (_, why, _) = world.home.run(&["tools", "why", "bash"]);
    if why.contains("without a sandbox") {
        return eprintln!("there is no sandbox here");
    }
    let prompt = edited(&world).await;
    assert!(prompt.contains(ITEM) && prompt.contains(LINE), "{prompt}");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_nobodys_where_nothing_holds_a_program() {
    let mut world = World::start().await;
    world.home.set("sandbox", json!("off"));
    let _daemon = world.daemon();
    let prompt = edited(&world).await;
    assert!(!prompt.contains(ITEM) && !prompt.contains(LINE), "{prompt}");
    assert!(prompt.contains("(1 open item not shown here"), "{prompt}");
    for trust in [&["todos", "trust", "--yes"][..], &["memory", "trust", "owner", "--yes"]] {
        let (code, trusted, err) = world.home.run(trust);
        assert!(code == 0 && trusted.contains("taken as your own words"), "{trusted}{err}");
    }
    world.ask("and now?").await;
    let prompt = world.last_prompt();
    assert!(prompt.contains(ITEM) && prompt.contains(LINE), "{prompt}");
}
