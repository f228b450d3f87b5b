//! Whatever puts text into another conversation is a message to it: when it is asked for, and again when it comes due.

use chrono::DateTime;
use rusqlite::Connection;
use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, GROUP, MessageView, PRIVATE};
use serde_json::{Value, json};

use crate::support::rows::{number, texts};
use crate::support::world::World;

const SCHEDULES: &str = "SELECT count(*) FROM schedule";

/// Adds an item for another chat to the list of what is to be done.
fn add(chat: &str, words: &str) -> Turn {
    let content = format!("2099-12-24 18:00 {words}");
    let args = json!({ "action": "add", "content": content, "people": [], "chat_id": chat });
    Turn::call("todo_update", args)
}

/// The owner forwards somebody's words.
fn forward(world: &World, number: i64) {
    let origin = json!({"type": "hidden_user", "sender_user_name": "Eve", "date": 1});
    world.telegram().inject_raw_update(json!({"update_id": 200_000_900 + number, "message": {
        "message_id": 900 + number, "date": 1_700_000_000, "text": "tell everybody",
        "chat": {"id": ADA, "type": "private", "first_name": "Ada"},
        "from": {"id": ADA, "is_bot": false, "first_name": "Ada"},
        "forward_origin": origin,
    }}));
}

/// Waits for the request that shows this, and decides it.
async fn decide(world: &World, shows: &str, button: &str) -> String {
    let fits = |m: &MessageView| m.from.is_bot && m.keyboard.is_some() && m.text.contains(shows);
    let request = world.within(shows, world.telegram().wait_for(PRIVATE, fits)).await;
    world.telegram().tap(ADA, ADA, request.id, button).expect("a button");
    request.text
}

async fn with_a_group() -> World {
    let mut world = World::start().await;
    world.home.set_key("telegram", "allowed_chat_ids", json!([GROUP.chat]));
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_for_another_chat_asks_while_others_words_are_in_play() {
    let world = with_a_group().await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let group = format!("tg:{}", GROUP.chat);
    model.script(vec![add(&group, "the first word"), Turn::text("left alone")]);
    forward(&world, 1);
    let asked = decide(&world, "the first word", "Deny").await;
    assert!(asked.contains("while the task holds other people's words"), "{asked}");
    assert!(asked.contains(&group), "it says where the words go: {asked}");
    world.hears(PRIVATE, "left alone").await;
    assert_eq!(number(&world.home, SCHEDULES), Some(0));

    model.script(vec![add(&group, "the second word"), Turn::text("kept")]);
    forward(&world, 2);
    decide(&world, "the second word", "Approve").await;
    world.hears(PRIVATE, "kept").await;
    assert_eq!(number(&world.home, SCHEDULES), Some(1));
    let (code, _, err) = world.home.run(&["schedules", "run", "1"]);
    assert_eq!(code, 0, "{err}");
    world.hears(GROUP, "the second word").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owners_own_words_need_nobodys_yes_and_chats_that_nobody_knows_get_none() {
    let world = with_a_group().await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let group = format!("tg:{}", GROUP.chat);
    model.script(vec![add(&group, "free words"), Turn::text("kept")]);
    world.ask("remind the tea room").await;
    assert_eq!(number(&world.home, SCHEDULES), Some(1));
    let message = |to: &str| Turn::call("message", json!({ "to": to, "content": "hello" }));
    model.script(vec![add("tg:404404", "lost words"), message("tg:404404"), Turn::text("nobody")]);
    world.ask("remind somebody").await;
    assert_eq!(world.last_prompt().matches("nobody here knows tg:404404").count(), 2);
    assert_eq!(number(&world.home, SCHEDULES), Some(1));
}

/// A reminder that was made before calls were judged by where their words go waits for its owner.
#[tokio::test(flavor = "multi_thread")]
async fn others_words_that_nobody_approved_wait_when_they_come_due() {
    let world = with_a_group().await;
    let model = world.playground.model();
    let group = format!("tg:{}", GROUP.chat);
    {
        let daemon = world.daemon();
        model.script(vec![add(&group, "smuggled words"), Turn::text("kept")]);
        forward(&world, 3);
        decide(&world, "smuggled words", "Approve").await;
        world.hears(PRIVATE, "kept").await;
        assert!(daemon.stop().await.success());
    }
    let conn = Connection::open(world.home.database()).expect("a database");
    let row = texts(&world.home, "SELECT schedule FROM schedule");
    let mut schedule: Value = serde_json::from_str(&row[0]).expect("JSON");
    schedule["maker"].as_object_mut().expect("a maker").remove("is_cleared");
    schedule["when"] = "at 2026-11-26T12:00:00Z".into();
    let at =
        DateTime::parse_from_rfc3339("2026-11-26T12:00:00Z").expect("a moment").timestamp_millis();
    let sql = "UPDATE schedule SET schedule = ?1, next_at = ?2";
    conn.execute(sql, (schedule.to_string(), at)).expect("an older row");
    drop(conn);
    let _daemon = world.daemon();
    world.hears(PRIVATE, "nobody has approved that they are said in").await;
    assert!(world.texts(GROUP).iter().all(|text| !text.contains("smuggled")));
    let (code, _, err) = world.home.run(&["schedules", "resume", "1"]);
    assert_eq!(code, 0, "{err}");
    world.hears(GROUP, "smuggled words").await;
}
