//! A database that goes away and comes back: waited for at the start, and nothing lost or doubled under load.

use rustix::process::Signal;
use selkie_playground::telegram::ADA;
use selkie_test_postgres::Server;
use serde_json::json;

use crate::support::demo::Demo;
use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_away_at_the_start_is_waited_for() {
    let server = Server::start("");
    let url = server.database();
    server.stop();
    let mut world = World::start().await;
    world.home.set("store", json!({ "url": url }));
    let message = world.telegram().say(ADA, ADA, "hello");
    let daemon = world.daemon();
    let waits = |log: &str| log.contains("waiting for the database");
    world.within("a word about the database", world.home.logged(0, waits)).await;
    assert_eq!(world.home.log().matches("waiting for the database").count(), 1);
    server.start_again("");
    assert!(world.answer(ADA, message).await.ends_with("\nhello"));
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_waits_for_its_database_can_be_stopped() {
    let mut world = World::start().await;
    world.home.set("store", json!({ "url": "postgres://selkie@127.0.0.1:1/selkie" }));
    let daemon = world.daemon();
    let waits = |log: &str| log.contains("waiting for the database");
    world.within("a word about the database", world.home.logged(0, waits)).await;
    // There is nothing to be reloaded yet, and it is no reason to end.
    daemon.signal(Signal::HUP);
    let later =
        |log: &str| log.contains("SIGHUP is ignored: selkie reads its config again while it runs");
    world.within("a word about the signal", world.home.logged(0, later)).await;
    assert!(daemon.stop().await.success());
}

#[test]
fn a_demo_whose_database_is_away_says_so_and_what_it_was_to_say_is_given_up() {
    let url = ("SELKIE__STORE__URL", "postgres://selkie:hush123hush@127.0.0.1:1/selkie");
    let (code, out, errors) = Demo::run_with(&["demo", "--say", "hi"], &[url]);
    assert_eq!((code, &*out), (1, ""), "{errors}");
    assert_eq!(errors.matches("waiting for the database").count(), 1, "{errors}");
    assert!(errors.contains("nothing was said: the database was not there for 10 s"), "{errors}");
    assert!(!errors.contains("hush123hush"), "{errors}");
}

/// Messages before, while, and after it is away.
const EACH: usize = 12;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_or_doubled_while_it_is_away() {
    let server = Server::start("");
    let mut world = World::start().await;
    world.home.set("store", json!({ "url": server.database() }));
    let daemon = world.daemon();
    world.ask("hello").await;
    let say = |from: usize| -> Vec<i64> {
        (from..from + EACH)
            .map(|n| world.telegram().say(ADA, ADA, &format!("message {n}")))
            .collect()
    };
    let mut messages = say(0);
    // Some of them are at work: it ends as a crash does.
    server.crash();
    messages.extend(say(EACH));
    let away = |log: &str| log.contains("the store cannot be written to");
    world.within("a word about the database", world.home.logged(0, away)).await;
    let (code, out, error) = world.home.run(&["status"]);
    assert!(
        code == 1 && out.contains("telegram  ") && out.contains("PostgreSQL: it"),
        "{out}{error}"
    );
    server.start_again("");
    messages.extend(say(2 * EACH));
    for (n, message) in messages.into_iter().enumerate() {
        assert!(world.answer(ADA, message).await.contains(&format!("message {n}")), "{n}");
    }
    assert!(daemon.stop().await.success());
    assert!(world.telegram().answer_counts(ADA).is_clean());
}

/// The primary dies, and its standby answers for a while before it takes writes.
#[tokio::test(flavor = "multi_thread")]
async fn a_standby_is_waited_for_until_it_takes_writes() {
    let server = Server::start("");
    let mut world = World::start().await;
    world.home.set("store", json!({ "url": server.database() }));
    let daemon = world.daemon();
    world.ask("hello").await;
    let mut messages = vec![world.telegram().say(ADA, ADA, "message 0")];
    server.crash();
    server.start_as_replica();
    messages.push(world.telegram().say(ADA, ADA, "message 1"));
    let waits = |log: &str| log.contains("is a read-only replica");
    world.within("a word about the replica", world.home.logged(0, waits)).await;
    assert!(world.telegram().pending_updates() > 0, "it was not stored, and not acknowledged");
    server.promote();
    messages.push(world.telegram().say(ADA, ADA, "message 2"));
    for (n, message) in messages.into_iter().enumerate() {
        assert!(world.answer(ADA, message).await.contains(&format!("message {n}")), "{n}");
    }
    assert!(daemon.stop().await.success());
    assert!(world.telegram().answer_counts(ADA).is_clean());
}
