//! A person blocks the bot, a group kicks it, a group moves: nobody is spoken to in vain, and nobody is
//! forgotten.

use selkie_playground::telegram::{ADA, GRACE, GROUP, PRIVATE, TOKEN};
use selkie_playground::{Fault, FaultKind, Spot};
use serde_json::json;

use crate::support::once::{marks, said};
use crate::support::rows::{number, settled, texts};
use crate::support::world::World;

const CLOSED: &str = "SELECT count(*) FROM conversation WHERE closed NOT NULL";
const MOVED: i64 = -100_999_888;

#[tokio::test(flavor = "multi_thread")]
async fn who_blocks_the_bot_gets_no_queued_parts_and_is_answered_again_later() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    closed_and_opened(&world, PRIVATE, "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_kicks_the_bot_is_closed_until_it_speaks_again() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    closed_and_opened(&world, GROUP, "/ask ").await;
}

async fn closed_and_opened(world: &World, spot: Spot, ask: &str) {
    // The first part is held back, so that the others are queued when the place closes.
    let wait = FaultKind::TooMany { retry_after: 1 };
    world.telegram().fault(Fault::next("sendMessage", wait));
    world.telegram().say(spot, ADA, &format!("{ask}long 12000"));
    let waits =
        |log: &str| log.contains("will be tried again") && log.contains("receipt is stored");
    world.within("a wait", world.home.logged(0, waits)).await;
    world.telegram().close(spot.chat);
    settled(world, 1).await;
    let states = texts(&world.home, "SELECT state FROM part");
    assert!(states.len() >= 3 && states.iter().all(|s| s == "refused"), "{states:?}");
    assert_eq!(number(&world.home, CLOSED), Some(1));
    assert_eq!(said(world, spot), Vec::<String>::new());
    let asked = world.telegram().counted("sendMessage");
    world.telegram().reopen(spot.chat);
    world.telegram().say(spot, ADA, &format!("{ask}are you back?"));
    settled(world, 2).await;
    assert_eq!(marks(&said(world, spot), &[vec!["“are you back?”"]]), 0);
    assert_eq!(number(&world.home, CLOSED), Some(0));
    assert_eq!(world.telegram().counted("sendMessage"), asked + 1, "spoken to in vain");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_moves_takes_its_answer_its_list_and_its_history_along() {
    let mut world = World::offline().await;
    let daemon = world.daemon();
    world.telegram().say(GROUP, GRACE, "/ask note: tea");
    settled(&world, 1).await;
    // The answer is on its way when the group moves.
    world.telegram().fault(Fault::next("sendMessage", FaultKind::TooMany { retry_after: 1 }));
    world.telegram().say(GROUP, GRACE, "/ask note: scones");
    let waits =
        |log: &str| log.contains("will be tried again") && log.contains("standing=\"open\"");
    world.within("a wait", world.home.logged(0, waits)).await;
    world.telegram().migrate(GROUP.chat, MOVED);
    settled(&world, 2).await;
    assert_eq!(marks(&said(&world, MOVED), &[vec!["Noted: scones (2)."]]), 0);
    world.telegram().say(MOVED, GRACE, "/ask tell me my list");
    settled(&world, 3).await;
    assert!(daemon.stop().await.success());
    // A restart knows the new id by what the store knows, with the old id in the config.
    let telegram = json!({
        "bot_token": TOKEN,
        "base_url": world.playground.telegram_base_url(),
        "allowed_chat_ids": [GROUP.chat],
        "pace": "lifted",
    });
    world.home.set("telegram", telegram);
    let _second = world.daemon();
    world.telegram().say(MOVED, GRACE, "/ask tell me my list");
    settled(&world, 4).await;
    let expected = [vec!["Noted: scones (2)."], vec!["scones"], vec!["scones"]];
    assert_eq!(marks(&said(&world, MOVED), &expected), 0);
    let conversations = "SELECT count(*) FROM conversation WHERE key LIKE 'tg:-%'";
    assert_eq!(number(&world.home, conversations), Some(1));
    assert_eq!(marks(&said(&world, GROUP), &[vec!["Noted: tea (1)."]]), 0);
}
