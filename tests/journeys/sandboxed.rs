//! The sandbox in a group: who is allowed runs commands unasked where the config opens them, and gets no further than their
//! folder; on a machine without a sandbox they are told why not.

use selkie_playground::Turn;
use selkie_playground::telegram::{GRACE, GROUP};
use serde_json::json;

use crate::support::world::World;

/// Asks for a command in the group, as somebody who is only allowed there; what the model was told.
async fn told(world: &World, cmd: &str) -> String {
    let call = Turn::call("bash", json!({ "cmd": cmd }));
    world.playground.model().script(vec![call, Turn::text("it is through")]);
    let answer = world.ask_in(GROUP, GRACE, "@selkie_demo_bot run it").await;
    assert!(answer.ends_with("it is through"), "{answer}");
    world.last_prompt()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allowed_person_runs_commands_without_an_approval() {
    let mut world = World::start().await;
    world.home.set("places", json!({ format!("tg:{}", GROUP.chat): { "allow": ["bash"] } }));
    let _daemon = world.daemon();
    let prompt = told(&world, "for i in 1 2; do echo tide $i; done > f; cat f").await;
    if prompt.contains("hidden for allowed people") {
        return eprintln!("there is no sandbox here");
    }
    assert!(prompt.contains(r"tide 1\ntide 2"), "{prompt}");
    let state = world.home.state().display().to_string();
    let parts = state.trim_start_matches('/').replace('/', " ");
    let cmd =
        format!("p=; for x in {parts}; do p=$p/$x; done; ls $p; ls /tmp; cat /proc/$PPID/status");
    let prompt = told(&world, &cmd).await;
    assert_eq!(prompt.matches("Permission denied").count(), 3, "{prompt}");
    let prompt = told(&world, "exec 3<>/dev/tcp/127.0.0.1/1").await;
    assert!(prompt.contains("the sandbox has no network here"), "{prompt}");
    // What it printed is nobody else's: the next one does not ask either.
    assert!(told(&world, "cat f").await.contains(r"tide 1\ntide 2"));
}

/// What an owner's commands write is the owner's, and nothing asks afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_owners_commands_write_is_the_owners() {
    let world = World::start().await;
    let _daemon = world.daemon();
    for (cmd, says) in [
        ("touch f", "(no output)"),
        ("mkdir d && date > d/now && cat f", "(no output)"),
        ("ls", "d"),
    ] {
        let call = Turn::call("bash", json!({ "cmd": cmd }));
        world.playground.model().script(vec![call, Turn::text("it is through")]);
        let answer = world.ask("run it").await;
        assert!(answer.ends_with("it is through"), "{cmd}: {answer}");
        let prompt = world.last_prompt();
        if prompt.contains("no sandbox holds it") {
            return eprintln!("there is no sandbox here");
        }
        assert!(prompt.contains(says), "{cmd}: {prompt}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_sandbox_only_owners_run_programs() {
    let mut world = World::start().await;
    world.home.set("places", json!({ format!("tg:{}", GROUP.chat): { "allow": ["bash"] } }));
    world.home.set("sandbox", json!("off"));
    let _daemon = world.daemon();
    let prompt = told(&world, "echo tide").await;
    assert!(prompt.contains("hidden for allowed people: only owners run programs"), "{prompt}");
}
