//! Programs: the owner's private chat runs them, a group is told why not, `/ps` lists them, none survives.

use std::fs;

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, GROUP};
use serde_json::json;

use crate::support::world::World;

/// Whether a process with this argument runs.
fn runs(argument: &str) -> bool {
    fs::read_dir("/proc").expect("/proc").flatten().any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.split(|b| *b == 0).any(|word| word == argument.as_bytes())
    })
}

async fn until(world: &World, what: &str, so: impl Fn() -> bool) {
    let looks = async {
        while !so() {
            tokio::task::yield_now().await;
        }
    };
    world.within(what, looks).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_runs_programs_in_private_and_a_group_is_told_why_not() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let call = || Turn::call("bash", json!({"cmd": "echo $((6 * 7))$OPENAI_API_KEY; exit 3"}));
    model.script(vec![call(), Turn::text("it ran")]);
    assert!(world.ask("run it").await.ends_with("it ran"));
    assert!(world.last_prompt().contains(r"42\n(exit code: 3)"), "{}", world.last_prompt());
    model.script(vec![call(), Turn::text("it may not")]);
    let answer = world.ask_in(GROUP, ADA, "@selkie_demo_bot run it").await;
    assert!(answer.ends_with("it may not"), "{answer}");
    let prompt = world.last_prompt();
    assert!(
        prompt.contains("bash is not available here: hidden in groups: until approvals"),
        "{prompt}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn background_programs_are_listed_and_end_with_the_daemon() {
    let world = World::start().await;
    let daemon = world.daemon();
    let sleep = |seconds: &str| {
        Turn::call("bash", json!({"cmd": format!("sleep {seconds}"), "run_in_background": true}))
    };
    world.playground.model().script(vec![sleep("7101.5"), Turn::text("it sleeps")]);
    world.ask("sleep").await;
    let listed = world.ask("/ps").await;
    assert!(listed.contains("p1 running") && listed.contains("sleep 7101.5"), "{listed}");
    assert!(runs("7101.5"));
    assert!(daemon.stop().await.success());
    until(&world, "the end of what ran", || !runs("7101.5")).await;
    // A daemon that is killed cannot end anything: the next one does.
    let daemon = world.daemon();
    world.playground.model().script(vec![sleep("7102.5"), Turn::text("it sleeps")]);
    world.ask("sleep").await;
    daemon.kill();
    assert!(runs("7102.5"));
    let _daemon = world.daemon();
    // What was said before the kill may come again with a mark: not every answer is to this.
    world.telegram().say(ADA, ADA, "/ps");
    world.hears(ADA, "No program runs for this conversation.").await;
    until(&world, "the end of the survivor", || !runs("7102.5")).await;
}
