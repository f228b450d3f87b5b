//! The heartbeat: looks at what the owner's file names, is silent when there is nothing, and says so once when it fails.

use selkie_playground::Turn;
use selkie_playground::telegram::ADA;
use serde_json::{Value, json};

use crate::support::rows;
use crate::support::world::World;

/// Counts the times that were carried out or passed over.
const FIRED: &str = "SELECT count(*) FROM occurrence";

/// A world with a heartbeat that comes by itself once at most while a test lasts.
async fn world(first_after: &str) -> World {
    let beats = json!({ "enabled": true, "every": "1h", "first_after": first_after });
    World::with(json!({ "heartbeat": beats })).await
}

fn run(world: &World, args: &[&str]) -> String {
    let (code, out, err) = world.home.run(args);
    assert_eq!(code, 0, "{args:?}: {out}{err}");
    out
}

/// Has the heartbeat come now, and waits until all of it is done.
async fn beat(world: &World, times: i64) {
    run(world, &["schedules", "run", "1"]);
    rows::delivered(world, FIRED, times).await;
}

fn newest(world: &World) -> Value {
    let out = run(world, &["schedules", "history", "1", "--json"]);
    let times: Vec<Value> = serde_json::from_str(&out).expect("JSON");
    times.into_iter().next().expect("a time")
}

fn write(world: &World, text: &str) {
    std::fs::write(world.home.state().join("HEARTBEAT.md"), text).expect("the owner's file");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_comes_by_itself_and_looks_at_the_owners_file() {
    let mut world = world("1s").await;
    let cheap = json!({
        "provider": "openai", "endpoint": world.playground.model_endpoint(), "model": "small-one",
        "api_key": "sk-playground-key-1234567890",
    });
    world.home.set_key("llm", "profiles", json!({ "cheap": cheap }));
    world.home.set_key("llm", "routes", json!({ "main": "default", "heartbeat": "cheap" }));
    let daemon = world.daemon();
    rows::delivered(&world, FIRED, 1).await;
    let first = newest(&world);
    assert_eq!(first["state"], "skipped", "a new state folder names nothing: {first}");
    assert!(first["why"].as_str().is_some_and(|why| why.contains("only headings and comments")));
    assert_eq!(world.playground.model().requests().len(), 0);

    write(&world, "# Heartbeat\n\n- is the tide high?\n");
    world.playground.model().script(vec![Turn::text("The tide is high."), Turn::text("NOTHING")]);
    beat(&world, 2).await;
    world.hears(ADA, "The tide is high.").await;
    let request = world.playground.model().requests().pop().expect("a request");
    assert_eq!(request.body["model"], "small-one", "a cheap model of its own");
    let asked = request.body.to_string();
    assert!(asked.contains("is the tide high?") && asked.contains("NOTHING"), "{asked}");
    assert!(asked.contains("the heartbeat came due at"), "{asked}");
    assert_eq!(newest(&world)["state"], "ran");

    let spoken = world.telegram().counted("sendMessage");
    beat(&world, 3).await;
    assert_eq!(newest(&world)["state"], "ran");
    assert_eq!(world.telegram().counted("sendMessage"), spoken, "nothing to tell shows nothing");
    let list = run(&world, &["schedules", "list"]);
    assert!(list.contains("every hour") && list.contains("heartbeat"), "{list}");
    let cause = rows::texts(&world.home, "SELECT cause FROM task ORDER BY id");
    assert!(cause.iter().all(|key| key.starts_with("schedule:1@")), "{cause:?}");
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_passed_over_while_somebody_is_answered() {
    let world = world("1h").await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    write(&world, "look at the list");
    let model = world.playground.model();
    let calls = model.calls();
    model.script(vec![Turn::text("at last").delayed(3_000)]);
    world.telegram().say(ADA, ADA, "take your time");
    world.within("a question", model.wait_for_calls(calls + 1)).await;
    beat(&world, 1).await;
    let time = newest(&world);
    assert_eq!(
        (&time["state"], &time["why"]),
        (&json!("skipped"), &json!("the conversation is busy"))
    );
    world.hears(ADA, "at last").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_failures_in_a_row_are_told_once() {
    let world = world("1h").await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    write(&world, "look at the list");
    let model = world.playground.model();
    let fails = || model.script(vec![Turn::refuse(401, "no such key")]);
    let alerts = || world.texts(ADA).iter().filter(|text| text.contains("three times")).count();
    for n in 1..=3 {
        fails();
        beat(&world, n).await;
        assert_eq!(newest(&world)["state"], "failed");
    }
    // At once: nobody waits for the next beat.
    world.hears(ADA, "failed three times in a row").await;
    assert_eq!(world.texts(ADA).len(), 2, "fewer are nobody's business: {:?}", world.texts(ADA));
    fails();
    beat(&world, 4).await;
    fails();
    beat(&world, 5).await;
    model.script(vec![Turn::text("NOTHING")]);
    beat(&world, 6).await;
    assert_eq!((newest(&world)["state"].as_str(), alerts()), (Some("ran"), 1));
    // Another run of failures is told anew.
    for n in 7..=9 {
        fails();
        beat(&world, n).await;
    }
    world
        .within(
            "another alert",
            world.telegram().wait_for(selkie_playground::telegram::PRIVATE, |_| alerts() == 2),
        )
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_follows_the_config_and_keeps_its_history() {
    let mut world = World::start().await;
    let listed = |world: &World| run(world, &["schedules", "list"]);
    let started = async |world: &World| {
        let daemon = world.daemon();
        world.ask("hello").await;
        assert!(daemon.stop().await.success());
    };
    started(&world).await;
    assert!(listed(&world).starts_with("There are no schedules."), "off by default");
    world.home.set("heartbeat", json!({ "enabled": true, "active": "08:00-22:00" }));
    started(&world).await;
    assert!(listed(&world).contains("every 30 minutes"), "{}", listed(&world));
    world.home.set("heartbeat", json!({ "enabled": true, "every": "2h" }));
    started(&world).await;
    let list = listed(&world);
    assert!(list.contains("every 2 hours") && list.matches(" · every ").count() == 1, "{list}");
    world.home.set("heartbeat", json!({}));
    started(&world).await;
    assert!(listed(&world).contains("paused"), "{}", listed(&world));
    world.home.set("heartbeat", json!({ "enabled": true, "every": "2h" }));
    started(&world).await;
    assert!(!listed(&world).contains("paused"), "{}", listed(&world));
    // What its owner paused waits until they let it go on.
    run(&world, &["schedules", "pause", "1"]);
    started(&world).await;
    assert!(listed(&world).contains("paused"), "{}", listed(&world));
    let (code, _, err) = world.home.run(&["schedules", "remove", "1"]);
    let says =
        "schedule 1 is the heartbeat: set `heartbeat.enabled: false` in the config, or pause it";
    assert!(code == 1 && err.contains(says), "{err}");
    run(&world, &["schedules", "resume", "1"]);
    world.home.set("heartbeat", json!({}));
    started(&world).await;
    run(&world, &["schedules", "remove", "1"]);
    assert!(listed(&world).starts_with("There are no schedules."), "{}", listed(&world));
    world.home.set("heartbeat", json!({ "enabled": true }));
    started(&world).await;
    assert!(listed(&world).starts_with("2 "), "the config wants one again: {}", listed(&world));
    for (bad, says) in [
        (json!({ "every": "5s" }), "one minute to one year"),
        (json!({ "active": "8-22" }), "08:00-22:00"),
        (json!({ "often": true }), "often"),
    ] {
        world.home.set("heartbeat", bad);
        let (code, out, err) = world.home.run(&["config", "check"]);
        assert!(code != 0 && format!("{out}{err}").contains(says), "{out}{err}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_keeps_to_the_budget_of_its_day() {
    let world = world("1h").await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    write(&world, "look at the list");
    // Not before: a start brings it to what the config says.
    let conn = rusqlite::Connection::open(world.home.database()).expect("a database");
    let one_call = "UPDATE schedule SET schedule = json_set(schedule, '$.terms.budget.calls', 1)";
    conn.execute(one_call, []).expect("a smaller budget");
    drop(conn);
    world.playground.model().script(vec![Turn::text("NOTHING")]);
    beat(&world, 1).await;
    assert_eq!(newest(&world)["state"], "ran");
    let calls = world.playground.model().calls();
    beat(&world, 2).await;
    let told = world.hears(ADA, "I paused schedule 1").await.text;
    assert!(told.contains("1 model call a day"), "{told}");
    assert_eq!(newest(&world)["state"], "skipped");
    assert_eq!(world.playground.model().calls(), calls);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stand_in_tells_what_the_files_phrases_come_to_and_else_nothing() {
    let beats = json!({ "enabled": true, "every": "1h", "first_after": "1h" });
    let sections = json!({ "heartbeat": beats, "llm": { "provider": "offline" } });
    let world = World::with(sections).await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    write(&world, "# Heartbeat\n\n- is the tide high?\n- tell me my list\n");
    let spoken = world.telegram().counted("sendMessage");
    beat(&world, 1).await;
    assert_eq!(newest(&world)["state"], "ran");
    assert_eq!(world.telegram().counted("sendMessage"), spoken, "nothing is on the list");
    world.ask("note: buy milk").await;
    beat(&world, 2).await;
    world.hears(ADA, "1. buy milk").await;
}
