//! A config with mistakes beside a daemon that is well: commands reach the daemon all the same, and say so in a line.

use std::fs;

use selkie_playground::telegram::TOKEN;
use serde_json::{Value, json};

use crate::reload::up;
use crate::support::joined::joined;
use crate::support::world::World;

/// The line that says it.
const SAYS: &str =
    "which `selkie config check` shows; the running selkie answers by what it has loaded";

/// What can be asked of a running daemon.
const ASKED: [&[&str]; 12] = [
    &["status"],
    &["trace"],
    &["trace", "1"],
    &["sessions", "list"],
    &["schedules", "list"],
    &["approvals", "list"],
    &["todos", "list"],
    &["contacts", "list"],
    &["memory", "list"],
    &["pair", "list"],
    &["tweets", "list"],
    &["tools", "call", "todo_read", "{}"],
];

/// Asks for everything; returns what trace said.
fn all_is_told(world: &World) -> String {
    for asked in ASKED {
        let (code, out, err) = world.home.run(asked);
        assert_eq!(code, 0, "{asked:?}: {out}{err}");
        assert!(err.contains(SAYS) && err.lines().count() == 1, "{asked:?}: {err}");
        assert!(!out.contains("UTC"), "{asked:?}: {out}");
    }
    world.home.run(&["trace", "1"]).1
}

/// What the doctor found: level and words.
fn doctor(world: &World) -> Vec<String> {
    let (code, out, err) = world.home.run(&["doctor", "--json"]);
    assert_eq!(code, 1, "{out}{err}");
    let findings: Vec<Value> = serde_json::from_str(&out).expect("json");
    let text = |it: &Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
    let said = |it: &Value| ["level", "what", "says"].map(|key| text(it, key)).join(" ");
    findings.iter().map(said).collect()
}

fn has(found: &[String], begins: &str, holds: &str) {
    let is_it = |line: &String| line.starts_with(begins) && line.contains(holds);
    assert!(found.iter().any(is_it), "{begins} … {holds}: {found:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mistake_in_the_config_keeps_no_command_from_the_running_daemon() {
    let mut world = World::with(json!({ "timezone": "Asia/Tokyo" })).await;
    let daemon = up(&world).await;
    world.ask("good morning").await;
    world.home.set("timezone", json!("Etc/UTC"));
    world.home.set("worker", json!({ "max_concurency": 3 }));
    let story = all_is_told(&world);
    assert!(story.contains("Asia/Tokyo"), "{story}");
    assert!(story.contains("Shape: not told while the config has mistakes"), "{story}");
    let found = doctor(&world);
    has(&found, "error config", "worker.max_concurency is not a key");
    has(&found, "fine daemon", "is running and answers");
    has(&found, "fine channel", "");
    has(&found, "fine disk", "");
    let (code, _, err) = world.home.run(&["support-bundle", "bundle.tar.gz"]);
    assert_eq!(code, 0, "{err}");
    // What cannot be read as a whole still names its folder.
    let state = world.home.state();
    let broken = format!("file_state_dir: {}\nowners: [\n\ttelegram\n", state.display());
    fs::write(world.home.config_file(), &broken).unwrap();
    let story = all_is_told(&world);
    assert!(story.contains("Asia/Tokyo"), "{story}");
    let found = doctor(&world);
    has(&found, "error config", "config.yaml:");
    has(&found, "fine daemon", "is running and answers");
    has(&found, "warning config", "not checked because of the mistakes: channels, models, store");
    assert!(daemon.stop().await.success());
    // Nobody answers: what is wrong is the reason, and no store is opened by half a config.
    let (code, out, err) = world.home.run(&["trace"]);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("config.yaml") && !err.contains(SAYS), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_token_is_shown_to_another_server_because_of_a_mistake() {
    let mut world = World::start().await;
    let _daemon = up(&world).await;
    world.ask("good morning").await;
    world.home.set_key("telegram", "base_url", json!(7));
    world.home.set_key("llm", "endpoint", json!("no address"));
    let found = doctor(&world);
    has(&found, "warning config", "not checked because of the mistakes: telegram, models");
    let what = |line: &String| line.split(' ').nth(1).unwrap_or_default().to_owned();
    assert!(!found.iter().map(what).any(|what| what == "channel" || what == "model"), "{found:#?}");
    assert!(!found.iter().any(|line| line.contains(TOKEN)));
}

#[tokio::test(flavor = "multi_thread")]
async fn times_are_those_of_the_running_daemons_zone() {
    let mut world = World::with(json!({ "timezone": "Asia/Tokyo" })).await;
    let _daemon = up(&world).await;
    world.ask("good morning").await;
    world.home.set("timezone", json!("America/New_York"));
    for asked in [&["trace"][..], &["trace", "1"], &["sessions", "list"], &["pair"]] {
        let (code, out, err) = world.home.run(asked);
        assert_eq!((code, err.as_str()), (0, ""), "{asked:?}: {out}");
        assert!(out.contains("Asia/Tokyo") && !out.contains("New_York"), "{asked:?}: {out}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_life_shows_what_waits_and_tells_its_zone() {
    let mut world = World::restored().await;
    world.home.set("timezone", json!("Asia/Tokyo"));
    let _daemon = world.daemon();
    let held = |log: &str| log.contains("this selkie was restored from");
    world.within("a word of it", world.home.logged(0, held)).await;
    let (code, out, _) = world.home.run(&["status"]);
    let told = joined(&out);
    assert!(code == 1 && told.contains("was restored from "), "{out}");
    assert!(told.contains("Asia/Tokyo: it receives"), "{out}");
    let (code, out, err) = world.home.run(&["resume"]);
    assert_eq!(code, 2, "{out}{err}");
    assert!(out.contains("Restored from ") && out.contains("Asia/Tokyo"), "{out}");
    assert!(out.contains("Nothing waits in it") && err.contains("add --yes"), "{out}{err}");
    let (code, out, err) = world.home.run(&["resume", "--json"]);
    let held: Value = serde_json::from_str(&out).expect("json");
    assert_eq!((code, err.as_str(), &held["resumed"]), (0, "", &false.into()), "{out}");
    assert_eq!(world.home.run(&["resume", "--yes"]).0, 0);
}
