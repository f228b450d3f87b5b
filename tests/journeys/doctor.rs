//! `selkie doctor`: what is wrong is found before it is missed, each with what to do, and nothing is changed.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use chrono::TimeDelta;
use selkie::domain::clock::{Clock as _, SystemClock};
use selkie_playground::telegram::{ADA, GROUP, TOKEN};
use selkie_playground::x::{ACCESS_TOKEN, ACCESS_TOKEN_SECRET, CONSUMER_KEY, CONSUMER_SECRET};
use selkie_playground::{Behaviour, Options, Pace, Playground};
use serde_json::{Value, json};

use crate::support::daemon::Home;
use crate::support::http::get;
use crate::support::line::{self, Line};
use crate::support::world::World;

const KEY: &str = "sk-playground-key-1234567890";

/// What the doctor found.
struct Found {
    code: i32,
    findings: Vec<Value>,
}

impl Found {
    /// What is not fine, in short.
    fn wrong(&self) -> Vec<String> {
        let is_wrong = |it: &&Value| it["level"] != "fine" && it["level"] != "unknown";
        let wrong = self.findings.iter().filter(is_wrong);
        wrong
            .map(|f| format!("{} {}: {}", text(f, "level"), text(f, "what"), text(f, "says")))
            .collect()
    }

    /// Whether there is such a finding: `level`, `what`, and some of its words. One that is not fine says what to do.
    fn has(&self, level: &str, what: &str, words: &str) -> bool {
        let fits = |f: &&Value| {
            f["level"] == level && f["what"] == what && text(f, "says").contains(words)
        };
        let found = self.findings.iter().find(fits);
        found.is_some_and(|f| level == "fine" || !text(f, "advice").is_empty())
    }
}

fn text<'a>(finding: &'a Value, key: &str) -> &'a str {
    finding[key].as_str().unwrap_or_default()
}

/// `selkie doctor --json`, off the runtime's threads. The worst comes first, and no secret is shown.
async fn doctor(home: &Home) -> Found {
    let mut command = home.command(&["doctor", "--json"]);
    let running = tokio::task::spawn_blocking(move || {
        command.stdin(Stdio::null()).output().expect("selkie runs")
    });
    let output = running.await.expect("no panic");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    for secret in [TOKEN, KEY, ACCESS_TOKEN_SECRET, CONSUMER_SECRET] {
        assert!(!shown.contains(secret), "{shown}");
    }
    let findings: Vec<Value> = serde_json::from_str(&shown).expect("JSON");
    let rank =
        |f: &Value| ["error", "warning", "unknown", "fine"].iter().position(|l| f["level"] == *l);
    assert!(findings.is_sorted_by_key(rank), "{shown}");
    Found { code: output.status.code().unwrap_or(-1), findings }
}

/// A world whose config and state are as they should be; the playground's model has a price.
async fn healthy() -> World {
    let mut world = World::start().await;
    world.home.set("owners", json!([format!("tg:{ADA}")]));
    world.home.set_key("llm", "prices", json!({ "playground": { "input": 1.0, "output": 1.0 } }));
    close(&world.home);
    world
}

fn close(home: &Home) {
    set(&home.config_file(), 0o600);
}

fn set(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_machine_is_told_how_to_begin() {
    let home = Home::new(json!({}));
    let mut command = home.command(&["doctor"]);
    let folder = home.folder().join("empty");
    fs::create_dir(&folder).unwrap();
    // Without the config that every home has.
    let binary = command.get_program().to_owned();
    command = std::process::Command::new(binary);
    command.arg("doctor").env_clear().env("PATH", "/usr/bin:/bin").env("HOME", &folder);
    let output = command.current_dir(&folder).stdin(Stdio::null()).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("nothing is configured"), "{shown}");
    assert!(shown.contains("→ try selkie demo, which needs nothing"), "{shown}");
    assert!(shown.contains("unknown  clock") && shown.contains(", 1 unknown, "), "{shown}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing was made");
    assert_eq!(home.run(&["doctor", "--frobnicate"]).0, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_config_is_found_the_one_of_the_running_daemon_is_looked_at() {
    let world = healthy().await;
    let folder = world.home.folder().join("elsewhere");
    fs::create_dir(&folder).unwrap();
    let state = world.home.state();
    let run = |line: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selkie"));
        command.args(line).arg("--state").arg(&state).env_clear().env("HOME", &folder);
        let output = command.current_dir(&folder).stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let shown = text(&output.stdout) + &text(&output.stderr);
        (output.status.code().unwrap_or(-1), joined(&shown))
    };
    let (file, daemon) = (world.home.config_file().display().to_string(), world.daemon());
    world.ask("hello").await;
    let (code, shown) = run(&["doctor"]);
    assert!(code == 0 && shown.contains("the bot is @selkie_demo_bot"), "{shown}");
    assert!(
        shown.contains("so the config of the running selkie is used") && shown.contains(&file),
        "{shown}"
    );
    for wrong in ["nothing is configured", "stand-in"] {
        assert!(!shown.contains(wrong), "{shown}");
    }
    let (code, shown) = run(&["support-bundle", "bundle.tar.gz"]);
    assert!(code == 0 && shown.contains("so the config of the running selkie is used"), "{shown}");
    let unpacked = Command::new("tar")
        .args(["xzOf", "bundle.tar.gz", "config.json"])
        .current_dir(&folder)
        .output()
        .unwrap();
    let config = String::from_utf8_lossy(&unpacked.stdout).into_owned();
    assert!(config.contains(&file) && config.contains(&format!("tg:{ADA}")), "{config}");
    fs::remove_file(&file).unwrap();
    let (code, shown) = run(&["doctor"]);
    assert!(code == 1 && shown.contains("error config"), "{shown}");
    assert!(daemon.stop().await.success());
}

/// The words on one line, however many lines they take.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_config_that_stands_in_variables_alone_is_not_taken_for_none() {
    let world = healthy().await;
    let config = fs::read_to_string(world.home.config_file()).unwrap();
    let config: Value = serde_json::from_str(&config).unwrap();
    let folder = world.home.folder().join("variables");
    fs::create_dir(&folder).unwrap();
    let state = world.home.state();
    let command = |line: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selkie"));
        command.args(line).arg("--state").arg(&state).env_clear().env("HOME", &folder);
        command.current_dir(&folder).stdin(Stdio::null());
        command
    };
    let mut run = command(&["run"]);
    for key in ["bot_token", "base_url"] {
        let name = format!("SELKIE__TELEGRAM__{}", key.to_uppercase());
        run.env(name, text(&config["telegram"], key));
    }
    run.env("SELKIE__OWNERS", format!("tg:{ADA}"));
    let daemon = world.home.start_as(run);
    world.ask("hello").await;
    let found = command(&["doctor", "--json"]).output().unwrap();
    let shown = String::from_utf8_lossy(&found.stdout).into_owned();
    assert_eq!(found.status.code(), Some(1), "{shown}");
    assert!(shown.contains("selkie runs with another config"), "{shown}");
    assert!(!shown.contains("nothing is configured") && !shown.contains("stand-in"), "{shown}");
    let bundle = command(&["support-bundle", "bundle.tar.gz"]).output().unwrap();
    let told = String::from_utf8_lossy(&bundle.stderr).into_owned();
    assert!(bundle.status.code() == Some(1) && told.contains("with --config"), "{told}");
    assert!(!folder.join("bundle.tar.gz").exists());
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nothing_is_wrong_nothing_is_said_to_be() {
    let world = healthy().await;
    let found = doctor(&world.home).await;
    assert_eq!((found.code, found.wrong()), (0, Vec::new()));
    assert!(found.has("fine", "channel", "the bot is @selkie_demo_bot"), "{:?}", found.findings);
    assert!(found.has("fine", "channel", "can write to the owner"), "{:?}", found.findings);
    assert!(found.has("fine", "model", "this check cost $"), "{:?}", found.findings);
    assert!(found.has("fine", "clock", "agrees"), "{:?}", found.findings);
    assert!(found.has("fine", "store", "there is none yet"), "{:?}", found.findings);
    assert!(!world.home.state().exists(), "a look makes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_a_running_daemon_and_after_it_the_store_is_looked_at() {
    let world = healthy().await;
    let daemon = world.daemon();
    world.ask("hello").await;
    let found = doctor(&world.home).await;
    assert_eq!((found.code, found.wrong()), (0, Vec::new()));
    assert!(found.has("fine", "daemon", "is running and answers"), "{:?}", found.findings);
    world.ask("still there?").await;
    assert!(daemon.stop().await.success());
    let found = doctor(&world.home).await;
    assert_eq!((found.code, found.wrong()), (0, Vec::new()));
    assert!(found.has("fine", "store", "is whole"), "{:?}", found.findings);
    let state = world.home.state();
    set(&state, 0o755);
    let found = doctor(&world.home).await;
    assert!(
        found.code == 0 && found.has("warning", "permissions", "open to others"),
        "{:?}",
        found.wrong()
    );
    fs::write(world.home.database(), "no database").unwrap();
    let found = doctor(&world.home).await;
    assert!(found.code == 1 && found.has("error", "store", "cannot be"), "{:?}", found.wrong());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_config_with_mistakes_and_one_that_others_read_are_told() {
    let mut world = healthy().await;
    set(&world.home.config_file(), 0o644);
    let found = doctor(&world.home).await;
    assert_eq!(found.code, 0, "{:?}", found.wrong());
    assert!(found.wrong()[0].contains("holds a secret, and every user"), "{:?}", found.wrong());
    // A secret in a file of its own is not the config's.
    let mode = fs::metadata(world.home.config_file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
    let token = world.home.folder().join("token");
    fs::write(&token, TOKEN).unwrap();
    set(&token, 0o600);
    world.home.set("llm", json!({ "provider": "offline" }));
    world.home.set_key("telegram", "bot_token", Value::Null);
    world.home.set_key("telegram", "bot_token_file", json!(token));
    let found = doctor(&world.home).await;
    assert_eq!((found.code, found.wrong()), (0, Vec::new()));
    world.home.set("no_such_key", json!(1));
    let found = doctor(&world.home).await;
    assert!(found.code == 1 && found.has("error", "config", "no_such_key"), "{:?}", found.wrong());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_token_is_told_on_each_platform() {
    let mut world = healthy().await;
    world.add_slack();
    line::add(
        &mut world,
        json!({ "channel_access_token": "another-token-that-line-does-not-know" }),
    );
    world.home.set_key(
        "telegram",
        "bot_token",
        json!("4711:AAanother-token-that-nobody-knows-here"),
    );
    world.home.set_key("slack", "bot_token", json!("xoxb-999999999999-another-token-0123456789"));
    let x = json!({
        "base_url": world.playground.x_base_url(), "consumer_key": CONSUMER_KEY,
        "consumer_secret": CONSUMER_SECRET, "access_token": ACCESS_TOKEN,
        "access_token_secret": "another-secret-that-x-does-not-know-00",
    });
    world.home.set("x", x);
    close(&world.home);
    let found = doctor(&world.home).await;
    assert_eq!(found.code, 1);
    for words in ["Telegram rejects", "Slack rejects", "LINE rejects", "X refuses the login"] {
        assert!(found.has("error", "channel", words), "{words}: {:?}", found.wrong());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_platform_tells_who_the_bot_is_and_what_it_lacks() {
    let mut world = healthy().await;
    world.add_slack();
    let nobody = format!("line:U{}", "0".repeat(32));
    world.home.set("owners", json!([format!("tg:{ADA}"), "tg:999", nobody]));
    let x = json!({
        "base_url": world.playground.x_base_url(), "consumer_key": CONSUMER_KEY,
        "consumer_secret": CONSUMER_SECRET, "access_token": ACCESS_TOKEN,
        "access_token_secret": ACCESS_TOKEN_SECRET,
    });
    world.home.set("x", x);
    close(&world.home);
    world.slack().remove_scope("emoji:read");
    let found = doctor(&world.home).await;
    assert!(found.has("fine", "channel", "selkie in Playground"), "{:?}", found.findings);
    assert!(found.has("fine", "channel", "it posts as"), "{:?}", found.findings);
    assert!(
        found.has("warning", "owners", "belongs to a channel that is not configured"),
        "{:?}",
        found.wrong()
    );
    assert!(found.has("warning", "channel", "lacks emoji:read"), "{:?}", found.wrong());
    assert!(
        found.has("warning", "channel", "cannot write to the owner tg:999"),
        "{:?}",
        found.wrong()
    );
    assert_eq!(found.code, 0, "{:?}", found.wrong());
    world.slack().remove_scope("chat:write");
    let found = doctor(&world.home).await;
    assert!(
        found.code == 1 && found.has("error", "channel", "lacks chat:write"),
        "{:?}",
        found.wrong()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_in_the_way_is_told_without_what_is_secret_in_it() {
    let world = healthy().await;
    let address = world.playground.url().trim_start_matches("http://").parse().unwrap();
    let path = format!("/telegram/bot{TOKEN}/setWebhook?url=https://hook.example.org/s3cret-path");
    let asked = tokio::task::spawn_blocking(move || get(address, &path)).await.unwrap();
    assert_eq!(asked.status, 200, "{}", asked.body);
    let found = doctor(&world.home).await;
    assert!(
        found.code == 1 && found.has("error", "channel", "hook.example.org"),
        "{:?}",
        found.wrong()
    );
    assert!(!format!("{:?}", found.findings).contains("s3cret-path"));
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_webhook_is_tried_beside_a_running_daemon() {
    let line = Line::start().await;
    close(&line.world.home);
    let found = doctor(&line.world.home).await;
    assert!(found.has("fine", "channel", "is set and leads here"), "{:?}", found.findings);
    line.platform().set_webhook("http://127.0.0.1:1/nowhere");
    let found = doctor(&line.world.home).await;
    assert!(
        found.code == 1 && found.has("error", "channel", "cannot reach"),
        "{:?}",
        found.wrong()
    );
    // Where LINE is told to call is not ours to follow into a private network.
    line.platform().set_webhook("https://localhost:1/nowhere");
    let found = doctor(&line.world.home).await;
    let words = "could not be checked: private ip/localhost is not allowed by guard";
    assert!(found.has("warning", "certificate", words), "{:?}", found.wrong());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_refuses_the_key_is_told() {
    let mut world = healthy().await;
    let options = Options { model_key: Some("sk-another".to_owned()), ..Options::default() };
    let strict = Playground::start(options).await.unwrap();
    world.home.set_key("llm", "endpoint", json!(strict.model_endpoint()));
    let found = doctor(&world.home).await;
    assert!(
        found.code == 1 && found.has("error", "model", "does not answer"),
        "{:?}",
        found.wrong()
    );
    world.home.set_key("llm", "endpoint", json!("http://127.0.0.1:1/v1"));
    let found = doctor(&world.home).await;
    assert!(
        found.code == 1 && found.has("error", "model", "does not answer"),
        "{:?}",
        found.wrong()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_off_is_told_by_how_much() {
    let mut world = healthy().await;
    for (minutes, level) in [(2, "warning"), (-20, "error")] {
        let date = Arc::new(move || SystemClock.now() + TimeDelta::minutes(minutes));
        let options = Options {
            pace: Pace::Lifted,
            behaviour: Behaviour::Echo,
            date: Some(date),
            ..Options::default()
        };
        let off = Playground::start(options).await.unwrap();
        let telegram = json!({
            "bot_token": TOKEN, "base_url": off.telegram_base_url(), "allowed_chat_ids": [GROUP.chat],
        });
        world.home.set("telegram", telegram);
        let found = doctor(&world.home).await;
        assert!(found.has(level, "clock", "this machine's clock is"), "{:?}", found.wrong());
        assert_eq!(found.code, i32::from(level == "error"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servers_database_is_looked_at_and_left_as_it_is() {
    let mut world = healthy().await;
    world.home.keep_in_postgres();
    for _ in 0..2 {
        let found = doctor(&world.home).await;
        assert!(found.has("fine", "store", "no tables yet"), "{:?}", found.findings);
    }
    let daemon = world.daemon();
    world.ask("hello").await;
    let found = doctor(&world.home).await;
    assert!(found.has("fine", "store", "can be used, version"), "{:?}", found.findings);
    world.ask("still there?").await;
    assert!(daemon.stop().await.success());
    world.home.set("store", json!({ "url": "postgres://selkie@127.0.0.1:1/selkie" }));
    let found = doctor(&world.home).await;
    assert!(
        found.code == 1 && found.has("error", "store", "cannot be reached"),
        "{:?}",
        found.wrong()
    );
}
