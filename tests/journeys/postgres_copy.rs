//! A life moves to PostgreSQL and back: it goes on there, and what is left behind is not started again by accident.

use selkie_playground::telegram::ADA;
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
    let (code, out, error) = world.home.run(&["store", "copy", "--to", &url]);
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
    let (code, _, error) =
        world.home.run(&["store", "copy", "--to", file.to_str().expect("a path")]);
    assert_eq!(code, 0, "{error}");
    std::fs::rename(&file, world.home.database()).expect("in its place");
    world.home.set("store", json!({}));
    let kept = texts(&world.home, "SELECT text FROM task_words");
    assert_eq!(kept, ["words at the terminal"]);
    let daemon = world.daemon();
    world.ask("the last words").await;
    let last = last_request(&world);
    assert!(last.contains("the first words") && last.contains("more words"), "{last}");
    assert!(daemon.stop().await.success());
    assert!(world.telegram().tally(ADA).is_clean());
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

fn last_request(world: &World) -> String {
    let requests = world.playground.model().requests();
    requests.last().expect("a request").body.to_string()
}
