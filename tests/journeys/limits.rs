//! What people may use has an end: told once, kept over a restart. An owner is held to what all may cost together.

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, FileDraft, FileKind, GRACE};
use serde_json::{Value, json};

use crate::support::rows::{number, settled, texts};
use crate::support::world::World;

/// Grace is a stranger here, and these are the limits.
async fn limited(limits: Value) -> World {
    let mut world = World::with_allowed(json!(["*"])).await;
    world.home.set("limits", limits);
    world.telegram().add_person(GRACE, "Grace");
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_gets_so_many_calls_a_day_and_no_restart_gives_more() {
    let world = limited(json!({ "person": { "calls_per_day": 2 } })).await;
    let daemon = world.daemon();
    for word in ["one", "two"] {
        assert!(world.ask_in(GRACE, GRACE, word).await.ends_with(word));
    }
    let told = world.ask_in(GRACE, GRACE, "three").await;
    assert!(told.contains("one person in a day") && told.contains("midnight UTC"), "{told}");
    world.telegram().say(GRACE, GRACE, "four");
    let status = world.ask("/status").await;
    assert!(status.contains("Limit reached: limits.person.calls_per_day (person tg:"), "{status}");
    assert!(daemon.stop().await.success());
    let _daemon = world.daemon();
    world.telegram().say(GRACE, GRACE, "five");
    assert!(world.ask("the owner goes on").await.ends_with("the owner goes on"));
    settled(&world, 6).await;
    assert_eq!(world.playground.model().calls(), 3, "two of Grace's, one of the owner's");
    assert_eq!(world.texts(GRACE).len(), 3, "{:?}", world.texts(GRACE));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_all_may_cost_in_a_day_holds_for_owners_and_over_a_restart() {
    let mut world = limited(json!({ "everybody": { "cost_usd_per_day": 0.01 } })).await;
    world.home.set_key("llm", "prices", json!({ "playground": { "input": 10.0, "output": 1.0 } }));
    let daemon = world.daemon();
    assert!(world.ask("one").await.ends_with("one"), "what a call costs is known behind it");
    let told = world.ask("two").await;
    assert!(told.contains("limits.everybody.cost_usd_per_day") && told.contains("selkie reload"));
    let told = world.ask_in(GRACE, GRACE, "three").await;
    assert_eq!(
        told,
        "I have reached what I can do in a day. I will answer again after midnight UTC."
    );
    assert!(daemon.stop().await.success());
    let daemon = world.daemon();
    world.telegram().say(ADA, ADA, "four");
    settled(&world, 4).await;
    assert_eq!(world.playground.model().calls(), 1);
    world.home.set("limits", json!({ "everybody": { "cost_usd_per_day": 0 } }));
    assert_eq!(world.home.run(&["reload"]).0, 0);
    world.telegram().say(ADA, ADA, "five");
    world.hears(ADA, "\nfive").await;
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_without_a_price_is_held_by_its_tokens_and_one_with_a_price_is_not() {
    let settings = || json!({ "everybody": { "tokens_per_day": 1 } });
    let world = limited(settings()).await;
    let daemon = world.daemon();
    assert!(world.ask("one").await.ends_with("one"), "what a call takes is known behind it");
    let told = world.ask("two").await;
    assert!(told.contains("limits.everybody.tokens_per_day"), "{told}");
    assert!(daemon.stop().await.success());
    let mut world = limited(settings()).await;
    world.home.set_key("llm", "prices", json!({ "playground": { "input": 10.0, "output": 1.0 } }));
    let _daemon = world.daemon();
    for word in ["one", "two"] {
        assert!(world.ask(word).await.ends_with(word));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_is_answered_up_to_the_limit_and_told_so_once() {
    let world = limited(json!({ "person": { "messages_per_minute": 3 } })).await;
    // All in one minute: they wait for the daemon.
    for n in 0..12 {
        world.telegram().say(GRACE, GRACE, &format!("message {n}"));
    }
    let _daemon = world.daemon();
    settled(&world, 12).await;
    let texts = world.texts(GRACE);
    let told = texts.iter().filter(|text| text.contains("faster than I can answer")).count();
    // A minute may end between the messages.
    assert!((3..=6).contains(&world.playground.model().calls()), "{texts:?}");
    assert!((1..=2).contains(&told), "{texts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_waits_is_not_ended_by_what_came_after_it() {
    let mut world = limited(json!({ "person": { "messages_per_minute": 2 } })).await;
    world.home.set("tools", json!({ "ask_user": { "timeout": "2s" } }));
    let question = json!({ "question": "Tea or milk?", "options": ["tea", "milk"] });
    let turns = vec![Turn::call("ask_user", question), Turn::text("then tea")];
    world.playground.model().script_for("ask me", turns);
    let _daemon = world.daemon();
    world.telegram().say(GRACE, GRACE, "ask me");
    world.hears(GRACE, "Tea or milk?").await;
    for n in 0..4 {
        world.telegram().say(GRACE, GRACE, &format!("message {n}"));
    }
    // Nobody answers it: it goes on by itself.
    world.hears(GRACE, "then tea").await;
    settled(&world, 5).await;
    let ended = texts(&world.home, "SELECT state FROM task ORDER BY id LIMIT 1");
    assert_eq!(ended, ["done"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_so_much_is_fetched_of_what_a_stranger_sends() {
    let world = limited(json!({ "person": { "download_mb_per_day": 1 } })).await;
    let _daemon = world.daemon();
    let file = |n: u8| FileDraft::new(FileKind::Document, &format!("{n}.bin"), vec![n; 700_000]);
    for n in 0..2 {
        let message = world.telegram().upload(GRACE, GRACE, file(n));
        world.answer(GRACE, message).await;
    }
    let prompt = world.last_prompt();
    assert!(prompt.contains("at most 348576 are fetched"), "{prompt}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_task_ends_where_the_day_ends() {
    let world = limited(json!({ "person": { "calls_per_day": 3 } })).await;
    let turns =
        (0..9).map(|n| Turn::call("todo_write", json!({"todos": [{"content": format!("{n}")}]})));
    world.playground.model().script(turns.collect());
    let _daemon = world.daemon();
    let told = world.ask_in(GRACE, GRACE, "write nine todos").await;
    assert!(told.starts_with("I stopped before I was done."), "{told}");
    assert!(told.contains("one person in a day"), "{told}");
    assert_eq!(world.playground.model().calls(), 3);
    let status = world.ask("/status").await;
    assert!(status.contains("Limit reached: limits.person.calls_per_day (person tg:"), "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_tool_asks_a_model_counts_too() {
    let world = limited(json!({})).await;
    world.playground.model().script(vec![
        Turn::call("plan_create", json!({"task": "cook"})),
        Turn::text(r#"{"steps":["look","cook"]}"#),
        Turn::text("it is planned"),
    ]);
    let daemon = world.daemon();
    assert_eq!(world.ask_in(GRACE, GRACE, "make a plan").await, "it is planned");
    assert_eq!(world.playground.model().calls(), 3);
    // It is written behind, and at the end for sure.
    assert!(daemon.stop().await.success());
    let spent = "SELECT amount FROM spent WHERE what = 'calls' AND who LIKE 'person %'";
    assert_eq!(number(&world.home, spent), Some(3));
    let task = "SELECT calls FROM task ORDER BY id DESC LIMIT 1";
    assert_eq!(number(&world.home, task), Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_bounded_and_told_so_once() {
    let world = limited(json!({ "person": { "messages_per_minute": 3 } })).await;
    for _ in 0..12 {
        world.telegram().say(GRACE, GRACE, "/id");
    }
    let _daemon = world.daemon();
    world.telegram().say(GRACE, GRACE, "hello");
    settled(&world, 1).await;
    let texts = world.texts(GRACE);
    let of = |text: &str| texts.iter().filter(|said| said.contains(text)).count();
    // A minute may end between the commands.
    assert!((3..=6).contains(&of("This place")), "{texts:?}");
    assert!((1..=2).contains(&of("faster than I can answer")), "{texts:?}");
    assert_eq!(of("hello"), 1, "messages are counted apart: {texts:?}");
}
