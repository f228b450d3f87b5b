//! The whole daemon over PostgreSQL: a demo, a conversation that is remembered, two daemons that want one database,
//! a password that is never printed.

use std::process::Stdio;

use selkie_playground::telegram::ADA;
use selkie_test_postgres::server;
use serde_json::json;

use crate::support::demo::Demo;
use crate::support::rows::{settled, texts};
use crate::support::world::World;

#[test]
fn a_demo_answers() {
    let url = server().database();
    let state = tempfile::tempdir().expect("a folder");
    let state = state.path().to_str().expect("a name of letters");
    let say = ["demo", "--state", state, "--say", "note: buy milk, then tell me my list"];
    // Twice: the second one finds what the first one has left, and its platforms count on.
    for _ in 0..2 {
        let (code, out, error) = Demo::run_with(&say, &[("SELKIE__STORE__URL", &url)]);
        assert_eq!(code, 0, "{error}");
        assert!(out.contains("buy milk"), "{out}");
    }
    let name = url.rsplit('/').next().expect("a name");
    assert_eq!(server().psql(name, "SELECT COUNT(*) FROM task WHERE state = 'done'"), "2");
}

/// Its chats are made up: they go into no database that a config names for real ones.
#[test]
fn a_demo_leaves_the_configured_database_alone_unless_told() {
    let (url, folder) = (server().database(), tempfile::tempdir().expect("a folder"));
    let config = folder.path().join("real.yaml");
    std::fs::write(&config, json!({ "store": { "url": url } }).to_string()).expect("a config");
    let config = config.to_str().expect("a name of letters");
    let say = ["demo", "--config", config, "--say", "note: buy milk"];
    let (code, out, error) = Demo::run(&say);
    assert!(code == 2 && out.is_empty(), "{out}{error}");
    assert!(error.contains("--use-store") && error.contains("SELKIE__STORE__URL"), "{error}");
    let name = url.rsplit('/').next().expect("a name");
    let tables = "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(server().psql(name, tables), "0");
    let (code, _, error) = Demo::run(&[&say[..], &["--use-store"]].concat());
    assert_eq!(code, 0, "{error}");
    assert_eq!(server().psql(name, "SELECT COUNT(*) FROM task WHERE state = 'done'"), "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_is_remembered_over_a_restart_and_a_kill() {
    let mut world = World::start().await;
    world.home.keep_in_postgres();
    let daemon = world.daemon();
    assert!(world.ask("hello").await.ends_with("\nhello"));
    assert!(daemon.stop().await.success());
    let daemon = world.daemon();
    assert!(world.ask("and again").await.ends_with("\nand again"));
    settled(&world, 2).await;
    daemon.kill();
    let daemon = world.daemon();
    assert!(world.ask("at last").await.ends_with("\nat last"));
    assert!(daemon.stop().await.success());
    assert!(world.telegram().answer_counts(ADA).is_clean());
    let requests = world.playground.model().requests();
    let last = requests.last().expect("a request").body.to_string();
    assert!(last.contains("hello") && last.contains("and again"), "no history in {last}");
    assert!(!world.home.database().exists(), "nothing is kept in a file");
    let states = texts(&world.home, "SELECT DISTINCT state FROM part");
    assert_eq!(states, ["sent"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_daemon_is_told_who_has_the_database() {
    let mut world = World::start().await;
    world.home.keep_in_postgres();
    let daemon = world.daemon();
    world.ask("hello").await;
    let elsewhere = world.home.folder().join("elsewhere");
    let state = elsewhere.to_str().expect("a path");
    let (code, _, error) = world.home.run(&["run", "--state", state]);
    assert_eq!(code, 1, "{error}");
    let who = format!("another selkie has the database, process {} on ", daemon.pid());
    assert!(error.contains(&who) && error.contains("has had it since 2"), "{error}");
    world.ask("still there?").await;
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_of_the_database_is_no_secret() {
    let mut world = World::start().await;
    world.home.keep_in_postgres();
    let daemon = world.daemon();
    assert!(
        world.ask("selkie is a seal").await.ends_with("selkie is a seal"),
        "as the user is called"
    );
    assert!(daemon.stop().await.success());
    assert!(!world.home.log().contains("[redacted]"), "{}", world.home.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_printed_nowhere() {
    let mut world = World::start().await;
    let url = server().database().replace("selkie@", "selkie:Sesam-open-1@");
    world.home.set("store", json!({ "url": url }));
    let daemon = world.daemon();
    world.ask("hello").await;
    assert!(daemon.stop().await.success());
    assert!(!world.home.log().contains("Sesam"), "{}", world.home.log());
    let (code, shown, error) = world.home.run(&["config", "show"]);
    assert_eq!((code, error.contains("Sesam")), (0, false), "{error}");
    assert!(shown.contains("store.url") && !shown.contains("Sesam"), "{shown}");
    for (url, says) in [
        (
            "mysql://ann:Sesam-open-1@db/life",
            "store.url takes postgres://user@host/database, not mysql",
        ),
        (
            "postgres://ann:Sesam-open-1@db/life?sslmode=maybe",
            "store.url has an sslmode that is none of",
        ),
        ("postgres://ann:Sesam-open-1@127.0.0.1:1/life", "postgres://ann@127.0.0.1:1/life"),
    ] {
        world.home.set("store", json!({ "url": url }));
        let arguments = if url.contains(":1/") { ["trace", "1"] } else { ["config", "check"] };
        let out = world.home.command(&arguments).stdin(Stdio::null()).output().expect("it runs");
        let told = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
        assert!(!out.status.success() && told.contains(says) && !told.contains("Sesam"), "{told}");
    }
    world.home.set("store", json!({ "password": "Sesam-open-1" }));
    let (code, _, error) = world.home.run(&["config", "check"]);
    assert!(code == 2 && error.contains("store.password is set, and store.url"), "{error}");
}
