//! A task that takes the process down each time ends at the third crash with an honest line, and the
//! next message is answered.

use std::os::unix::process::ExitStatusExt;

use futures_util::StreamExt as _;
use futures_util::stream;
use selkie::domain::crash::CrashPoint;
use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, GROUP, PRIVATE, TOPIC};
use serde_json::json;

use crate::support::once::{marks, said};
use crate::support::rows::{settled, texts};
use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn the_third_crash_is_the_last() {
    // Edges that a task passes in every life, and a given-up one does not.
    stream::iter([CrashPoint::AfterModel, CrashPoint::AfterTool])
        .for_each_concurrent(2, given_up)
        .await;
}

async fn given_up(point: CrashPoint) {
    let mut world = World::offline().await;
    world.home.set("debug", json!({ "crash_at": point.name() }));
    let mut crashes = 0;
    // Reading is asked again in each life.
    let message = world.telegram().say(ADA, ADA, "tell me my list");
    // A life that survives answers, and is the last.
    let last = loop {
        let mut daemon = Box::pin(world.daemon().gone());
        tokio::select! {
            status = &mut daemon => assert_eq!(status.signal(), Some(9)),
            _ = world.answer(ADA, message) => break daemon,
        }
        crashes += 1;
        assert!(crashes <= 3, "{} kills for ever", point.name());
    };
    settled(&world, 1).await;
    // Given up waiting for, it is killed.
    drop(last);
    assert_eq!(crashes, 3, "{}", point.name());
    world.home.set("debug", json!({}));
    let _daemon = world.daemon();
    assert!(world.ask("are you well?").await.contains("“are you well?”"));
    settled(&world, 2).await;
    let expected = [vec!["I was interrupted 3 times"], vec!["“are you well?”"]];
    assert_eq!(marks(&said(&world, PRIVATE), &expected), 0);
    assert_eq!(texts(&world.home, "SELECT state FROM task ORDER BY id"), ["failed", "done"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_runs_beside_it_is_not_given_up_with_it() {
    let mut world = World::with_allowed(json!([GROUP.chat, TOPIC.chat])).await;
    // No command in the sandbox kills its daemon.
    world.home.set("sandbox", json!("off"));
    let model = world.playground.model();
    // The daemon is what started the supervisor, which started the shell, which becomes awk. Without a sandbox only plain
    // words run unasked.
    let kills = r#"awk 'function parent(of) { while ((getline line < of) > 0) if (sub("^PPid:[ \t]*", "", line)) return line }
        BEGIN { p = parent("/proc/self/status"); system("kill -9 " parent("/proc/" p "/status")) }'"#;
    // Never the same command: going in circles ends a task as well.
    let kill = |n: i32| Turn::call("bash", json!({ "command": format!("{kills} # {n}") }));
    model.script_for("the guilty one", (0..6).map(kill).collect());
    // Whoever is innocent thinks for longer than the guilty one lives.
    let slow = |text: &str| vec![Turn::text(text).delayed(2_000); 6];
    model.script_for("in the group", slow("the group is well"));
    model.script_for("in the workshop", slow("the workshop is well"));
    let mut daemon = Box::pin(world.daemon().gone());
    for (spot, text) in [(GROUP, "in the group"), (TOPIC, "in the workshop")] {
        world.telegram().say(spot, ADA, &format!("@selkie_demo_bot {text}"));
    }
    world.asked(2).await;
    world.telegram().say(ADA, ADA, "the guilty one");
    let mut deaths = 0;
    loop {
        tokio::select! {
            status = &mut daemon => assert_eq!(status.signal(), Some(9), "{}", world.home.log()),
            _ = world.hears(ADA, "I was interrupted 3 times") => break,
        }
        deaths += 1;
        assert!(deaths <= 3, "it is given up at the third");
        daemon = Box::pin(world.daemon().gone());
    }
    world.hears(GROUP, "the group is well").await;
    world.hears(TOPIC, "the workshop is well").await;
    settled(&world, 3).await;
    drop(daemon);
    let states = texts(&world.home, "SELECT state FROM task ORDER BY id");
    assert_eq!((deaths, states), (3, ["done", "done", "failed"].map(str::to_owned).to_vec()));
}
