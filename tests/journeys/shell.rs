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
    assert!(prompt.contains("bash is not available here: hidden in groups"), "{prompt}");
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
    // A daemon that is killed ends nothing itself, and nothing outlives it: not what left its session
    // and its marks either.
    let daemon = world.daemon();
    let escapes = "env -i setsid -f sleep 7103.5; sleep 7102.5";
    let escapes = json!({"cmd": escapes, "run_in_background": true});
    world.playground.model().script(vec![Turn::call("bash", escapes), Turn::text("it sleeps")]);
    world.ask("sleep").await;
    until(&world, "all of it", || runs("7102.5") && runs("7103.5")).await;
    daemon.kill();
    until(&world, "the end of the survivors", || !runs("7102.5") && !runs("7103.5")).await;
    let _daemon = world.daemon();
    // What was said before the kill may come again with a mark: not every answer is to this.
    world.telegram().say(ADA, ADA, "/ps");
    world.hears(ADA, "No programs are running for this conversation.").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_what_an_ended_task_left_and_says_so() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let sleeps =
        json!({"cmd": "env -i setsid -f sleep 7104.5; sleep 7104.5", "run_in_background": true});
    world.playground.model().script(vec![Turn::call("bash", sleeps), Turn::text("it sleeps")]);
    world.ask("sleep").await;
    until(&world, "the program", || runs("7104.5")).await;
    assert_eq!(world.ask("/stop").await, "Stopped p1, running in the background.");
    until(&world, "its end", || !runs("7104.5")).await;
    let again = world.ask("/stop").await;
    assert!(!again.contains("p1"), "it is not stopped twice: {again}");
}
