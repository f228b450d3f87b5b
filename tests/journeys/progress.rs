//! What a long task is doing: one message, edited in place, gone with the answer; no crash leaves it, no
//! answer waits for it.

use selkie_playground::telegram::{ADA, MessageView, PRIVATE};
use selkie_playground::{Fault, FaultKind, Turn};
use serde_json::json;

use crate::support::world::World;

async fn world() -> World {
    World::with(json!({ "progress": { "after": "1ms", "every": "1ms" } })).await
}

/// A command that ends when the file is there.
fn waits_for(world: &World, file: &str) -> Turn {
    let path = world.home.folder().join(file);
    let cmd = format!("while [ ! -e {} ]; do sleep 0.02; done", path.display());
    Turn::call("bash", json!({ "cmd": cmd }))
}

fn let_go(world: &World, file: &str) {
    std::fs::write(world.home.folder().join(file), "").expect("a file");
}

/// Waits until no status message stands in Ada's chat.
async fn gone(world: &World) {
    let mut events = world.telegram().subscribe();
    let all_gone = async {
        while world.texts(PRIVATE).iter().any(|text| text.starts_with('⏳')) {
            events.recv().await.expect("the playground lives");
        }
    };
    world.within("the end of the status message", all_gone).await;
}

/// How many messages were sent without a sound: status messages alone are.
fn silent(world: &World) -> usize {
    let calls = world.telegram().calls().into_iter();
    calls.filter(|c| c.method == "sendmessage" && c.params["disable_notification"] == true).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_command_shows_what_it_does_until_the_answer_is_there() {
    let world = world().await;
    let _daemon = world.daemon();
    let script = vec![waits_for(&world, "go"), Turn::text("it ran")];
    world.playground.model().script(script);
    world.telegram().say(ADA, ADA, "run it");
    let status = world.hears(PRIVATE, "⏳ running a command …").await;
    assert!(!status.text.contains("sleep"), "no argument is shown: {}", status.text);
    let_go(&world, "go");
    world.hears(PRIVATE, "it ran").await;
    gone(&world).await;
    assert_eq!((silent(&world), world.texts(PRIVATE).len()), (1, 1));
    assert!(world.telegram().answer_counts(PRIVATE).is_clean());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_task_takes_its_status_away() {
    let world = world().await;
    let _daemon = world.daemon();
    world.playground.model().script(vec![waits_for(&world, "never")]);
    world.telegram().say(ADA, ADA, "run it");
    world.hears(PRIVATE, "⏳ running a command …").await;
    world.telegram().say(ADA, ADA, "/stop");
    gone(&world).await;
    assert_eq!(silent(&world), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_in_the_middle_leaves_no_status_behind_and_makes_no_second_one() {
    let world = world().await;
    let daemon = world.daemon();
    world.playground.model().script(vec![waits_for(&world, "go")]);
    world.telegram().say(ADA, ADA, "run it");
    let status = world.hears(PRIVATE, "⏳ running a command …").await;
    stored(&world).await;
    daemon.kill();
    // The call is answered with "outcome unknown", and the next one goes on in the same message.
    let script = vec![waits_for(&world, "go"), Turn::text("after all")];
    world.playground.model().script(script);
    let _daemon = world.daemon();
    world.asked(2).await;
    assert!(world.texts(PRIVATE).contains(&status.text), "it still runs");
    let_go(&world, "go");
    world.hears(PRIVATE, "after all").await;
    gone(&world).await;
    assert_eq!(silent(&world), 1, "the second life edits the first one's message");
}

/// Waits until the status message's id is stored.
async fn stored(world: &World) {
    let noted = async {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let db = rusqlite::Connection::open_with_flags(world.home.database(), flags).expect("db");
        let count = "SELECT count(message) FROM status_message";
        while db.query_row(count, [], |row| row.get::<_, i64>(0)).expect("a count") == 0 {
            tokio::task::yield_now().await;
        }
    };
    world.within("the status message's id", noted).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_never_waits_for_progress() {
    let world = world().await;
    let daemon = world.daemon();
    // The status message hangs for longer than anybody waits.
    let hangs = Fault::next("sendMessage", FaultKind::Delay { ms: 3_600_000 });
    world.telegram().fault(hangs);
    let script = vec![waits_for(&world, "go"), Turn::text("here it is")];
    world.playground.model().script(script);
    world.telegram().say(ADA, ADA, "run it");
    let tried = async {
        while world.telegram().counted("sendMessage") == 0 {
            tokio::task::yield_now().await;
        }
    };
    world.within("the status message's call", tried).await;
    let_go(&world, "go");
    let answer: MessageView = world.hears(PRIVATE, "here it is").await;
    assert_eq!(answer.id, 2, "nothing else was said");
    daemon.kill();
}
