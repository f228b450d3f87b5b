//! What a schedule's owner and maker read when a time of it comes to nothing, and what ends with it.

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, GRACE, MessageView, PRIVATE};
use serde_json::json;

use crate::support::joined::joined;
use crate::support::rows;
use crate::support::world::World;

fn run(world: &World, args: &[&str]) -> String {
    let (code, out, err) = world.home.run(&[&["schedules"], args].concat());
    assert_eq!(code, 0, "{args:?}: {out}{err}");
    out
}

/// Makes a schedule Grace's, who is on the list.
fn is_graces(world: &World, id: i64) {
    let conn = rusqlite::Connection::open(world.home.database()).expect("a database");
    let sql = "UPDATE schedule SET person = ?2, schedule = json_set(schedule, '$.maker.person', ?2,
        '$.maker.trust', 'allowed') WHERE id = ?1";
    conn.execute(sql, (id, format!("tg:{GRACE}"))).expect("changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_names_the_schedule() {
    let world = World::start().await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    world.playground.model().script(vec![Turn::refuse(401, "no such key")]);
    run(&world, &["add", "--in", "1s", "--prompt", "look around", "--title", "tidy up"]);
    world.hears(ADA, "Schedule 1 (tidy up) failed: ").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_passes_a_time_over_and_says_so_to_who_made_it() {
    let mut world = World::with_allowed(json!([format!("tg:{GRACE}")])).await;
    world.home.set("limits", json!({ "person": { "calls_per_day": 1, "messages_per_minute": 2 } }));
    world.telegram().add_person(GRACE, "Grace");
    let to = format!("tg:{GRACE}");
    for _ in 0..3 {
        run(&world, &["add", "--in", "1h", "--say", "tea is ready", "--to", &to]);
    }
    run(&world, &["add", "--every", "1h", "--prompt", "the news", "--title", "News", "--to", &to]);
    (1..=4).for_each(|id| is_graces(&world, id));
    let _daemon = world.daemon();
    assert!(world.ask_in(GRACE, GRACE, "one").await.ends_with("one"));
    for id in ["1", "2", "3"] {
        run(&world, &["run", id]);
    }
    // They are no messages, and ask no model.
    rows::delivered(&world, "SELECT count(*) FROM occurrence", 3).await;
    run(&world, &["run", "4"]);
    let told = world.hears(GRACE, "I skipped schedule 4 (News) once").await.text;
    assert!(told.contains("limits.person.calls_per_day"), "{told}");
    let history = joined(&run(&world, &["history", "4"]));
    let says = format!("skipped: limits.person.calls_per_day is reached ({to})");
    assert!(history.contains(&says), "{history}");
    let said = world.texts(GRACE).into_iter().filter(|text| text.contains("tea is ready"));
    assert_eq!(said.count(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_said_where_nobody_is_listened_to() {
    let mut world = World::with_allowed(json!([format!("tg:{GRACE}")])).await;
    world.telegram().add_person(GRACE, "Grace");
    let to = format!("tg:{GRACE}");
    let add = ["add", "--every", "1h", "--prompt", "the news", "--to"];
    let (code, _, err) = world.home.run(&[&["schedules"], &add[..], &["tg:999"]].concat());
    assert_eq!(code, 2);
    let says = "tg:999 is on no list: add \"tg:999\" to `telegram.allowed_chat_ids`";
    assert!(err.contains(says), "{err}");
    run(&world, &[&add[..], &[&to]].concat());
    world.home.set_key("telegram", "allowed_chat_ids", json!([]));
    let _daemon = world.daemon();
    world.ask("hello").await;
    run(&world, &["run", "1"]);
    let told = world.hears(ADA, "I paused schedule 1").await.text;
    assert!(told.contains(&format!("{to} is on no list")), "{told}");
    assert!(world.texts(GRACE).is_empty(), "{:?}", world.texts(GRACE));
    assert_eq!(world.playground.model().calls(), 1, "the owner's own");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_removed_schedule_asks_for_is_withdrawn_and_its_task_ends() {
    let policy = json!([{ "trust": "owner", "ask": ["exec"] }]);
    let world = World::with(json!({ "approvals": { "policy": policy } })).await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    let call = Turn::call("bash", json!({ "command": "touch made" }));
    world.playground.model().script(vec![call, Turn::text("done")]);
    run(&world, &["add", "--in", "1s", "--prompt", "tidy up"]);
    let asks = |m: &MessageView| m.from.is_bot && m.keyboard.is_some();
    let request = world.within("a request", world.telegram().wait_for(PRIVATE, asks)).await;
    let conn = rusqlite::Connection::open(world.home.database()).expect("a database");
    let text = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, String>(0)).expect("a row");
    assert!(
        request.text.contains("within 2 hours"),
        "as long as its time may be late: {}",
        request.text
    );
    let open = "SELECT CAST(a.expires_at - o.at AS TEXT) FROM approval a, occurrence o";
    assert_eq!(text(open), "7200000");
    let code = text("SELECT code FROM approval");
    run(&world, &["remove", "1"]);
    assert_eq!(
        text("SELECT state || ': ' || why FROM approval"),
        "withdrawn: its schedule was removed"
    );
    let ended = "SELECT state || ': ' || why FROM task ORDER BY id DESC LIMIT 1";
    assert_eq!(text(ended), "stopped: its schedule was removed");
    let (code, out, err) = world.home.run(&["approvals", "approve", &code]);
    assert_ne!(code, 0, "{out}{err}");
    let closed = |m: &MessageView| m.id == request.id && m.edited;
    let closed = world.within("its outcome", world.telegram().wait_for(PRIVATE, closed)).await;
    assert!(closed.text.contains("its schedule was removed"), "{}", closed.text);
    assert_eq!(world.playground.model().calls(), 2, "it does not go on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_withdrawn_without_a_daemon_is_closed_at_the_next_start() {
    let policy = json!([{ "trust": "owner", "ask": ["exec"] }]);
    let world = World::with(json!({ "approvals": { "policy": policy } })).await;
    let daemon = world.daemon();
    world.ask("hello").await;
    let call = Turn::call("bash", json!({ "command": "touch made" }));
    world.playground.model().script(vec![call, Turn::text("done")]);
    run(&world, &["add", "--in", "1s", "--prompt", "tidy up"]);
    let asks = |m: &MessageView| m.from.is_bot && m.keyboard.is_some();
    let request = world.within("a request", world.telegram().wait_for(PRIVATE, asks)).await;
    assert!(daemon.stop().await.success());
    run(&world, &["remove", "1"]);
    let _second = world.daemon();
    let closed = |m: &MessageView| m.id == request.id && m.edited;
    let closed = world.within("its outcome", world.telegram().wait_for(PRIVATE, closed)).await;
    assert!(closed.text.contains("✖ Withdrawn: its schedule was removed"), "{}", closed.text);
    assert!(closed.keyboard.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_or_ended_one_runs_by_hand_and_one_that_is_due_is_told_so() {
    let world = World::start().await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    world.playground.model().script(vec![Turn::text("so slow").delayed(600_000)]);
    run(&world, &["add", "--every", "1h", "--prompt", "look around"]);
    run(&world, &["run", "1"]);
    let said = |args: &[&str]| world.home.run(&[&["schedules"], args].concat());
    let (code, _, err) = said(&["run", "1"]);
    assert!(code == 1 && err.contains("schedule 1 is due already"), "{err}");
    run(&world, &["remove", "1"]);
    run(&world, &["add", "--every", "1h", "--prompt", "paused words"]);
    run(&world, &["pause", "2"]);
    run(&world, &["run", "2"]);
    world.hears(ADA, "paused words").await;
    assert!(run(&world, &["list"]).contains("paused: somebody paused it"));
    run(&world, &["add", "--in", "1s", "--say", "only once"]);
    world.hears(ADA, "only once").await;
    rows::delivered(&world, "SELECT count(*) FROM occurrence WHERE schedule = 3", 1).await;
    run(&world, &["run", "3"]);
    rows::delivered(&world, "SELECT count(*) FROM occurrence WHERE schedule = 3", 2).await;
    assert!(run(&world, &["list", "--all"]).contains("ended"));
    let again = world.texts(ADA).into_iter().filter(|text| text.contains("only once")).count();
    assert_eq!(again, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notice_names_a_way_that_works() {
    let mut world = World::with_allowed(json!([format!("tg:{GRACE}")])).await;
    world.telegram().add_person(GRACE, "Grace");
    let to = format!("tg:{GRACE}");
    run(&world, &["add", "--in", "1s", "--say", "only once", "--to", &to]);
    world.home.set_key("telegram", "allowed_chat_ids", json!([]));
    let daemon = world.daemon();
    let told = world.hears(ADA, "I paused schedule 1").await.text;
    assert!(told.contains("selkie schedules run 1 runs it"), "{told}");
    let (code, _, err) = world.home.run(&["schedules", "run", "1"]);
    assert!(code == 1 && err.contains("is on no list"), "{err}");
    assert!(daemon.stop().await.success());
    world.home.set_key("telegram", "allowed_chat_ids", json!([to]));
    let _daemon = world.daemon();
    world.ask("hello").await;
    run(&world, &["run", "1"]);
    world.hears(GRACE, "only once").await;
}
