//! SIGTERM: what runs may end, what hangs goes on at the next start, and everybody is answered once.

use rustix::process::Signal;
use selkie_playground::telegram::{ADA, PRIVATE};
use selkie_playground::{Fault, FaultKind, Turn};

use crate::support::once::{marks, said};
use crate::support::rows::{HEARD, number, settled, texts};
use crate::support::world::World;

/// More often than a task may be cut off by crashes.
const STOPS: u64 = 4;

#[tokio::test(flavor = "multi_thread")]
async fn a_running_task_ends_and_its_answer_leaves_before_the_process_does() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.playground.model().script(vec![Turn::text("worth the wait").delayed(500)]);
    world.telegram().say(ADA, ADA, "take your time");
    world.within("a question", world.playground.model().wait_for_calls(1)).await;
    assert!(daemon.stop().await.success());
    assert_eq!(marks(&said(&world, PRIVATE), &[vec!["worth the wait"]]), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_task_goes_on_at_the_next_start_however_often() {
    let world = World::start().await;
    let model = world.playground.model();
    // Longer than anybody waits.
    let hangs = Turn::text("too late").delayed(3_600_000);
    model.script(vec![hangs; usize::try_from(STOPS).expect("a few")]);
    world.telegram().say(ADA, ADA, "hello");
    for stop in 1..=STOPS {
        let from = world.home.log().len();
        let daemon = world.daemon();
        world.within("a question", model.wait_for_calls(stop)).await;
        daemon.ask_to_stop();
        world.within("a stop", world.home.logged(from, |log| log.contains("stopping"))).await;
        // The second signal stands for the end of the time that a task is given.
        assert!(daemon.stop().await.success());
        assert_eq!(said(&world, PRIVATE), Vec::<String>::new());
    }
    let _last = world.daemon();
    settled(&world, 1).await;
    assert_eq!(marks(&said(&world, PRIVATE), &[vec!["hello"]]), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_when_the_signal_comes_is_begun_by_the_next_start() {
    let world = World::start().await;
    let daemon = world.daemon();
    let model = world.playground.model();
    model.script_for("the first", vec![Turn::text("in time").delayed(1_500)]);
    world.telegram().say(ADA, ADA, "the first");
    world.within("a question", model.wait_for_calls(1)).await;
    for text in ["the second", "the third"] {
        world.telegram().say(ADA, ADA, text);
    }
    let stored = |_: &str| number(&world.home, HEARD) == Some(3);
    world.within("three messages", world.home.logged(0, stored)).await;
    assert!(daemon.stop().await.success());
    assert_eq!(marks(&said(&world, PRIVATE), &[vec!["in time"]]), 0);
    assert_eq!(model.calls(), 1, "nothing was begun after the signal");
    let states = texts(&world.home, "SELECT state || attempts FROM task ORDER BY id");
    assert_eq!(states, ["done1", "waiting0", "waiting0"]);
    let _next = world.daemon();
    settled(&world, 3).await;
    let all = [vec!["in time"], vec!["the second"], vec!["the third"]];
    assert_eq!(marks(&said(&world, PRIVATE), &all), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_does_not_wait_for_what_cannot_leave_for_long() {
    let world = World::start().await;
    let first = world.daemon();
    world.telegram().fault(Fault::next("sendMessage", FaultKind::TooMany { retry_after: 600 }));
    world.telegram().say(ADA, ADA, "a patient one");
    let waits =
        |log: &str| log.contains("will be tried again") && log.contains("receipt is stored");
    world.within("a penalty", world.home.logged(0, waits)).await;
    // Behind it in its lane, and in no hurry of its own.
    world.telegram().say(ADA, ADA, "another one");
    world.within("a second question", world.playground.model().wait_for_calls(2)).await;
    assert!(first.stop().await.success());
    let log = world.home.log();
    assert!(log.contains("what cannot be sent now is sent at the next start"), "{log}");
    let queued = texts(&world.home, "SELECT state FROM part ORDER BY id");
    assert_eq!(queued, ["queued", "queued"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hang_up_signal_does_not_end_it_also_while_it_ends() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.playground.model().script(vec![Turn::text("worth the wait").delayed(4_000)]);
    world.telegram().say(ADA, ADA, "take your time");
    world.within("a question", world.playground.model().wait_for_calls(1)).await;
    for (signal, name) in [(Signal::USR1, "SIGUSR1"), (Signal::USR2, "SIGUSR2")] {
        daemon.signal(signal);
        world.within("a word of it", world.home.logged(0, |log| log.contains(name))).await;
    }
    daemon.signal(Signal::HUP);
    let reloaded = |log: &str| log.contains("the config was reloaded");
    world.within("the reload", world.home.logged(0, reloaded)).await;
    daemon.ask_to_stop();
    world.within("the end", world.home.logged(0, |log| log.contains("stopping: "))).await;
    daemon.signal(Signal::HUP);
    assert!(daemon.gone().await.success());
    assert_eq!(marks(&said(&world, PRIVATE), &[vec!["worth the wait"]]), 0);
    assert!(!world.home.log().contains("a second signal: "), "{}", world.home.log());
}
