//! What of the config is not in force is told until it is: what waits for a restart, and what nobody has loaded.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::reload::{reload, up};
use crate::support::http::get;
use crate::support::joined::joined;
use crate::support::world::World;

/// `selkie status`, which has to find nothing wrong.
fn status(world: &World) -> String {
    let (code, out, err) = world.home.run(&["status"]);
    assert_eq!(code, 0, "{out}{err}");
    joined(&out)
}

/// What `selkie doctor` says of the running daemon and of times.
fn doctor(world: &World) -> Vec<String> {
    let (_, out, err) = world.home.run(&["doctor", "--json"]);
    let findings: Vec<Value> = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    let is_of_it =
        |it: &&Value| ["daemon", "clock", "time zone"].iter().any(|of| it["what"] == *of);
    let told = findings.iter().filter(is_of_it);
    told.map(|it| format!("{}: {}", it["level"], it["says"])).collect()
}

/// What the console tells of the config.
fn console(world: &World) -> Value {
    let log = world.home.log();
    let address = log.split("console=\"").nth(1).and_then(|rest| rest.split('"').next());
    let address = address.and_then(|at| at.parse().ok()).expect("an address");
    get(address, "/v1/status").json()["config"].clone()
}

fn has(lines: &[String], part: &str) -> bool {
    lines.iter().any(|line| line.contains(part))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_told_until_it_is_loaded_and_then_until_it_is_in_force() {
    let mut world = World::with(json!({ "console": { "listen": "127.0.0.1:0" } })).await;
    let daemon = up(&world).await;
    let well = status(&world);
    assert!(!well.contains("config ") && !well.contains("restart"), "{well}");
    world.home.set("worker", json!({ "max_concurrency": 3 }));
    let told = status(&world);
    let not_loaded = "and is not in force (worker.max_concurrency): selkie reload";
    assert!(told.contains("config.yaml was changed at ") && told.contains(not_loaded), "{told}");
    assert!(has(&doctor(&world), "\"warning\": \"") && has(&doctor(&world), "is not in force"));
    let seen = console(&world);
    assert_eq!(seen["not_loaded"]["keys"], json!(["worker.max_concurrency"]), "{seen}");
    // What cannot be loaded says so.
    world.home.set("worker", json!({ "max_concurrency": "many" }));
    let seen = console(&world);
    assert_eq!(seen["not_loaded"]["faults"], 1, "{seen}");
    world.home.set("worker", json!({ "max_concurrency": 3 }));
    reload(&world);
    let told = status(&world);
    assert!(told.contains("restart due") && !told.contains("is not in force"), "{told}");
    assert!(told.contains("worker.max_concurrency changed at "), "{told}");
    assert!(has(&doctor(&world), "restart due: worker.max_concurrency changed at "));
    let seen = console(&world);
    assert_eq!(seen["restart_due"][0]["key"], "worker.max_concurrency", "{seen}");
    assert_eq!(seen["not_loaded"], Value::Null);
    assert!(daemon.stop().await.success());
    let _daemon = up(&world).await;
    assert_eq!(world.status()["config"]["restart_due"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn times_are_told_as_the_running_daemon_reads_them() {
    let mut world = World::with(json!({ "timezone": "Asia/Tokyo" })).await;
    let _daemon = up(&world).await;
    world.home.set("timezone", json!("America/New_York"));
    reload(&world);
    let told = status(&world);
    assert!(told.contains("Asia/Tokyo") && !told.contains("America/New_York"), "{told}");
    let found = doctor(&world);
    assert!(has(&found, "in the zone Asia/Tokyo; the config says America/New_York"), "{found:?}");
    assert!(
        found.iter().filter(|line| line.contains("restart due")).all(|l| l.contains("Asia/Tokyo"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_that_changes_nothing_says_so() {
    let world = World::start().await;
    let daemon = up(&world).await;
    daemon.signal(Signal::HUP);
    let nothing = |log: &str| log.contains("the config was reloaded: nothing changed");
    world.within("the reload", world.home.logged(0, nothing)).await;
}
