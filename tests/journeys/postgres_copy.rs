//! A life moves to PostgreSQL and back: it goes on there, and what is left behind is not started again by accident.

use selkie_playground::telegram::{ADA, MessageView, PRIVATE};
use selkie_test_postgres::server;
use serde_json::json;

use crate::support::rows::{settled, texts};
use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_life_moves_there_and_back() {
    let mut world = World::start().await;
    let daemon = world.daemon();
    world.ask("the first words").await;
    settled(&world, 1).await;
    let url = server().database();
    let (code, _, error) = world.home.run(&["store", "copy", "--to", &url]);
    assert!(code == 1 && error.contains("holds the store"), "{error}");
    assert!(daemon.stop().await.success());

    let (code, _, error) = world.home.run(&["ask", "words at the terminal"]);
    assert_eq!(code, 0, "{error}");
    let (code, out, error) = world.home.run(&["store", "copy", "--verbose", "--to", &url]);
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("conversation") && out.contains("transcript"), "{out}");
    let (code, _, error) = world.home.run(&["run"]);
    assert!(code == 1 && error.contains("the store is sealed: it was copied to"), "{error}");
    let (code, _, error) = world.home.run(&["store", "copy", "--to", &server().database()]);
    assert!(code == 1 && error.contains("the store is sealed"), "{error}");

    world.home.set("store", json!({ "url": url }));
    let daemon = world.daemon();
    world.ask("more words").await;
    assert!(last_request(&world).contains("the first words"), "it is not remembered");
    assert!(daemon.stop().await.success());

    let file = world.home.folder().join("again.db");
    let to_file = ["store", "copy", "--to", file.to_str().expect("a path")];
    let (code, _, error) = world.home.run(&["store", "copy", "--to", &url]);
    assert!(code == 1 && error.contains("already has that database open"), "{error}");
    std::fs::write(&file, "somebody's").expect("a file");
    let (code, _, error) = world.home.run(&to_file);
    assert!(code == 1 && error.contains("is there already"), "{error}");
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "somebody's");
    std::fs::remove_file(&file).expect("gone");
    let (code, out, error) = world.home.run(&to_file);
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("take store.url and its password out of the config; move"), "{out}");
    let mut beside: Vec<_> = std::fs::read_dir(world.home.folder())
        .expect("a folder")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("again.db") || name == "selkie.lock")
        .collect();
    beside.sort();
    assert_eq!(beside, ["again.db"], "nothing else is left beside it");
    std::fs::rename(&file, world.home.database()).expect("in its place");
    world.home.set("store", json!({}));
    let kept = texts(&world.home, "SELECT text FROM task_words");
    assert_eq!(kept, ["words at the terminal"]);
    let daemon = world.daemon();
    world.ask("the last words").await;
    let last = last_request(&world);
    assert!(last.contains("the first words") && last.contains("more words"), "{last}");
    assert!(daemon.stop().await.success());
    assert!(world.telegram().answer_counts(ADA).is_clean());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_made_in_its_very_place_and_a_refused_one_leaves_nothing() {
    let mut world = World::start().await;
    world.home.keep_in_postgres();
    let daemon = world.daemon();
    world.ask("the first words").await;
    assert!(daemon.stop().await.success());
    let own = world.home.database();
    let to_own = ["store", "copy", "--to", own.to_str().expect("a path")];
    // What a copy leaves that was killed before it had stored anything.
    let mark = own.with_file_name("selkie.db.copying");
    std::fs::write(&mark, "").expect("a mark");
    let (code, out, error) = world.home.run(&to_own);
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("take store.url and its password out of the config; start"), "{out}");
    assert!(own.exists() && !mark.exists());
    let elsewhere = world.home.folder().join("more.db");
    let (code, _, error) =
        world.home.run(&["store", "copy", "--to", elsewhere.to_str().expect("a path")]);
    assert!(code == 1 && error.contains("run `selkie store unseal`"), "{error}");
    assert!(!elsewhere.exists(), "a sealed store is not copied: nothing is made");
    let (code, out, error) = world.home.run(&["store", "unseal"]);
    assert!(code == 0 && out.contains("can be used again"), "{out}{error}");
    let (code, out, error) = world.home.run(&["store", "unseal"]);
    assert!(code == 0 && out.contains("is not sealed"), "{out}{error}");
    world.home.set("store", json!({}));
    let (code, _, error) = world.home.run(&to_own);
    assert!(code == 2 && error.contains("is the store itself"), "{error}");
    let others = selkie_test_postgres::server().database();
    let name = others.rsplit('/').next().expect("a name");
    selkie_test_postgres::server().psql(name, "CREATE TABLE customers (id int)");
    let (code, _, error) = world.home.run(&["store", "copy", "--to", &others]);
    assert!(code == 1 && error.contains("holds the table customers"), "{error}");
    let tables = "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(selkie_test_postgres::server().psql(name, tables), "1", "nothing is made there");
    let daemon = world.daemon();
    world.ask("more words").await;
    assert!(last_request(&world).contains("the first words"), "it is not remembered");
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_copied_can_be_used_when_it_is_told_so() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("hello").await;
    assert!(daemon.stop().await.success());
    let url = server().database();
    let (code, _, error) = world.home.run(&["store", "copy", "--to", &url]);
    assert_eq!(code, 0, "{error}");
    let (code, out, error) = world.home.run(&["store", "unseal"]);
    assert_eq!(code, 0, "{out} {error}");
    let (code, _, error) = world.home.run(&["store", "copy", "--to", &url]);
    assert!(code == 1 && error.contains("is not empty"), "{error}");
    let daemon = world.daemon();
    world.ask("still here").await;
    assert!(daemon.stop().await.success());
}

/// A request that waits moves, too: its task is still there, and its buttons still decide.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_approval_goes_on_in_the_copy() {
    let mut world = World::with(json!({
        "llm": { "provider": "offline" },
        "approvals": { "policy": [{ "trust": "owner", "ask": ["write"] }] },
    }))
    .await;
    let daemon = world.daemon();
    let call = json!({ "path": "plan.txt", "content": "tide", "mode": "append" });
    world.telegram().say(PRIVATE, ADA, &format!("call write_file {call}"));
    let buttons = |m: &MessageView| m.from.is_bot && m.keyboard.is_some();
    let request = world.within("a request", world.telegram().wait_for(PRIVATE, buttons)).await;
    assert!(daemon.stop().await.success());
    let url = server().database();
    let (code, _, error) = world.home.run(&["store", "copy", "--to", &url]);
    assert_eq!(code, 0, "{error}");
    world.home.set("store", json!({ "url": url }));
    assert_eq!(texts(&world.home, "SELECT state FROM approval"), ["open"]);
    assert_eq!(texts(&world.home, "SELECT state FROM task"), ["parked"]);
    let daemon = world.daemon();
    let query = world.telegram().tap(ADA, ADA, request.id, "Approve").expect("a button");
    let told = world.within("an answer", world.telegram().tap_answer(&query)).await;
    assert_eq!(told, "✔ Approved by Ada Lovelace");
    let closed = |m: &MessageView| m.id == request.id && m.edited && m.keyboard.is_none();
    world.within("no buttons", world.telegram().wait_for(PRIVATE, closed)).await;
    settled(&world, 1).await;
    assert_eq!(texts(&world.home, "SELECT state FROM approval"), ["consumed"]);
    assert!(daemon.stop().await.success());
}

fn last_request(world: &World) -> String {
    let requests = world.playground.model().requests();
    requests.last().expect("a request").body.to_string()
}
