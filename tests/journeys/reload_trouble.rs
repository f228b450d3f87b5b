//! A reload that cannot be: what is wrong is told, what was in force stays, and what needs a restart is named.

use std::fs;

use rustix::process::Signal;
use selkie_playground::telegram::{ADA, TOKEN};
use serde_json::{Value, json};

use crate::reload::up;
use crate::support::joined::joined;
use crate::support::world::World;

/// Another token of the same bot, which nobody has given it.
const WRONG: &str = "8123456:MISTYPED-token-of-35-letters-in-all";

#[tokio::test(flavor = "multi_thread")]
async fn a_config_that_is_wrong_changes_nothing_and_each_fault_is_named() {
    let mut world = World::start().await;
    let daemon = up(&world).await;
    world.home.set_key("telegram", "allowed_chat_ids", json!({}));
    world.home.set("worker", json!({ "max_concurency": 3 }));
    let (code, out, err) = world.home.run(&["reload"]);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    for part in ["telegram.allowed_chat_ids", "worker.max_concurency", "previous config stays"] {
        assert!(err.contains(part), "{part}: {err}");
    }
    // An editor is half way.
    let whole = fs::read(world.home.config_file()).unwrap();
    fs::write(world.home.config_file(), &whole[..whole.len() / 2]).unwrap();
    let from = world.home.log().len();
    daemon.signal(Signal::HUP);
    let refused = |log: &str| log.contains("the config was not reloaded: the previous one stays");
    world.within("the refusal", world.home.logged(from, refused)).await;
    assert_eq!(world.home.run(&["reload"]).0, 2);
    world.ask("still there?").await;
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_needs_a_restart_is_named_and_not_half_applied() {
    let mut world = World::start().await;
    let _daemon = up(&world).await;
    world.home.set("store", json!({ "url": "postgres://selkie@127.0.0.1:1/selkie" }));
    world.home.set("owners", json!(["tg:1"]));
    let (code, out, err) = world.home.run(&["reload", "--json"]);
    assert_eq!(code, 0, "{err}");
    let told: Value = serde_json::from_str(&out).expect("json");
    assert_eq!(told["changed"], json!(["owners"]));
    assert_eq!(told["needs_restart"], json!(["store.url"]));
    assert_eq!(told["channels"], json!([]));
    let (_, out, _) = world.home.run(&["reload"]);
    assert_eq!(out, "In effect after a restart: store.url\n", "it is said until it is done");
    // The store is the one of before; Ada owns the bot no more.
    let hint = world.ask("am I heard?").await;
    assert!(hint.contains("I only talk to people whom my owner knows"), "{hint}");
    world.home.remove("store");
    world.home.set("owners", json!([format!("tg:{ADA}")]));
    let (_, out, _) = world.home.run(&["reload"]);
    assert!(out.starts_with("In effect now: owners\n"), "{out}");
    assert!(!out.contains("restart"), "{out}");
    world.ask("and now?").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_its_platform_refuses_leaves_the_channel_as_it_was() {
    let mut world = World::start().await;
    let _daemon = up(&world).await;
    world.home.set_key("telegram", "bot_token", json!(WRONG));
    world.home.set_key("llm", "model", json!("another"));
    world.add_slack();
    world.home.set_key("slack", "bot_token", json!("xoxb-999999999999-another-token-0123456789"));
    let (code, out, err) = world.home.run(&["reload"]);
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    for part in [
        "In effect now: llm.model\n",
        "telegram (tg:8123456) keeps its previous settings: Telegram rejects the bot's token (401: Unauthorized): copy",
        ") was not added: Slack rejects the bot's token (invalid_auth): install",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(!out.contains(WRONG), "{out}");
    world.ask("still there?").await;
    let asked = world.playground.model().requests().last().map(|it| it.body["model"].clone());
    assert_eq!(asked, Some(json!("another")), "the rest is in force");
    let out = joined(&world.home.run(&["status"]).1);
    assert!(out.contains("is not in force (slack.") && out.contains("telegram.bot_token"), "{out}");
    for part in [
        " was refused: ",
        "telegram keeps its previous settings: Telegram rejects the bot's token",
        "slack was not added: Slack rejects the bot's token",
        ": correct it, then selkie reload telegram ",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    // Another change is one that nobody has refused.
    world.home.set_key("llm", "model", json!("a third"));
    let out = joined(&world.home.run(&["status"]).1);
    assert!(!out.contains("refused") && out.contains("): selkie reload telegram "), "{out}");
    world.home.set_key("llm", "model", json!("another"));
    world.home.set_key("telegram", "bot_token", json!(TOKEN));
    world.home.remove("slack");
    let (code, out, _) = world.home.run(&["reload"]);
    assert_eq!((code, out.as_str()), (0, "Nothing has changed.\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_refused_only_when_it_listens_is_told_as_well() {
    let mut world = World::with_slack().await;
    let _daemon = up(&world).await;
    world.home.set_key("slack", "app_token", json!("xapp-1-A999-999-another-token-0123456789"));
    let (code, out, err) = world.home.run(&["reload", "--json"]);
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    let told: Value = serde_json::from_str(&out).expect("json");
    let channel = &told["channels"][0];
    assert_eq!((&channel["name"], &channel["became"]), (&json!("slack"), &json!("remade")));
    let why = channel["refused"].as_str().expect("a reason");
    assert!(why.starts_with("Slack refuses the app's token"), "{why}");
    world.ask("does the other one listen?").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_reloads_at_once_come_one_after_the_other() {
    let mut world = World::start().await;
    let _daemon = up(&world).await;
    world.home.set_key("telegram", "pace", "platform".into());
    let spawn = || world.home.command(&["reload"]).output().expect("selkie runs");
    let told = std::thread::scope(|scope| {
        let both = [scope.spawn(spawn), scope.spawn(spawn)];
        both.map(|one| String::from_utf8(one.join().expect("no panic").stdout).expect("text"))
    });
    let nothing = told.iter().filter(|out| *out == "Nothing has changed.\n").count();
    let anew = told.iter().filter(|out| out.contains(") was restarted\n")).count();
    assert_eq!((nothing, anew), (1, 1), "{told:?}");
    world.ask("hello").await;
}

#[test]
fn without_a_daemon_there_is_nothing_to_reload() {
    let world = tokio::runtime::Runtime::new().unwrap().block_on(World::start());
    let (code, out, err) = world.home.run(&["reload"]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("no daemon runs with the state folder"), "{err}");
}
