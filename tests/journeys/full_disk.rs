//! The store cannot grow: nothing is acknowledged, begun or sent, the daemon lives and says so; with room
//! again everything is answered once.

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, PRIVATE};
use serde_json::json;

use crate::support::disk::room;
use crate::support::once::{marks, said};
use crate::support::rows::{number, settled};
use crate::support::world::World;

const REFUSES: &str = "updates are not acknowledged";
const SAYS_SO: &str = "the store cannot be written to";
const WELL_AGAIN: &str = "the store can write again";

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_acknowledged_until_there_is_room() {
    let world = World::start().await;
    let daemon = world.home.start();
    world.ask("before").await;
    settled(&world, 1).await;
    room(&daemon, Some(0));
    for text in ["one", "two"] {
        world.telegram().say(ADA, ADA, text);
    }
    world.within("a refusal", world.home.logged(0, |log| log.contains(REFUSES))).await;
    assert_eq!(world.telegram().pending_updates(), 2);
    let (code, _, error) = world.home.run(&["ask", "and by hand?"]);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("store"), "{error}");
    room(&daemon, None);
    settled(&world, 3).await;
    let expected = [vec!["before"], vec!["one"], vec!["two"]];
    assert_eq!(marks(&said(&world, PRIVATE), &expected), 0);
    world.within("a word of its end", world.home.logged(0, |log| log.contains(WELL_AGAIN))).await;
    let log = world.home.log();
    assert_eq!((log.matches(SAYS_SO).count(), log.matches(WELL_AGAIN).count()), (1, 1));
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_tool_acts_and_no_answer_leaves_while_the_disk_is_full() {
    let mut world = World::start().await;
    // No counter is written meanwhile: what is told of is the answer.
    let uncounted = json!({ "tokens_per_day": 0 });
    let limits =
        ["person", "conversation", "everybody"].map(|whose| (whose.to_owned(), uncounted.clone()));
    world.home.set("limits", limits.into_iter().collect());
    let daemon = world.home.start();
    world.ask("before").await;
    settled(&world, 1).await;
    let write = json!({ "path": "log.txt", "content": "x", "mode": "append" });
    let call = Turn::call("write_file", &write);
    // The answer comes when the disk is full: it cannot be stored, and is asked for again.
    world.playground.model().script(vec![call.clone().delayed(1_500), call, Turn::text("written")]);
    world.telegram().say(ADA, ADA, "write it");
    world.within("a question", world.playground.model().wait_for_calls(2)).await;
    settled_claim(&world).await;
    room(&daemon, Some(0));
    world.within("a word of it", world.home.logged(0, |log| log.contains(SAYS_SO))).await;
    assert_eq!(said(&world, PRIVATE).len(), 1, "something was said");
    room(&daemon, None);
    settled(&world, 2).await;
    assert_eq!(marks(&said(&world, PRIVATE), &[vec!["before"], vec!["written"]]), 0);
    let calls = "SELECT count(*) FROM transcript WHERE item LIKE '%appended 1 bytes%'";
    assert_eq!(number(&world.home, calls), Some(1));
    let again = "SELECT count(*) FROM transcript WHERE item LIKE '%outcome unknown%'";
    assert_eq!(number(&world.home, again), Some(0));
}

/// The message is stored and claimed: the model has been asked.
async fn settled_claim(world: &World) {
    let claimed = "SELECT count(*) FROM task WHERE state = 'running'";
    assert_eq!(number(&world.home, claimed), Some(1));
}
