//! What people may use has an end: told once, kept over a restart, and an owner is not held.

use selkie_playground::telegram::{FileDraft, FileKind, GRACE};
use serde_json::{Value, json};

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
    crate::support::rows::settled(&world, 6).await;
    assert_eq!(world.playground.model().calls(), 3, "two of Grace's, one of the owner's");
    assert_eq!(world.texts(GRACE).len(), 3, "{:?}", world.texts(GRACE));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_is_answered_up_to_the_limit_and_told_so_once() {
    let world = limited(json!({ "person": { "messages_per_minute": 3 } })).await;
    // All in one minute: they wait for the daemon.
    for n in 0..12 {
        world.telegram().say(GRACE, GRACE, &format!("message {n}"));
    }
    let _daemon = world.daemon();
    crate::support::rows::settled(&world, 12).await;
    let texts = world.texts(GRACE);
    let told = texts.iter().filter(|text| text.contains("faster than I can answer")).count();
    // A minute may end between the messages.
    assert!((3..=6).contains(&world.playground.model().calls()), "{texts:?}");
    assert!((1..=2).contains(&told), "{texts:?}");
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
