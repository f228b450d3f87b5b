//! `selkie ask` beside other work: two questions at once, and what waits for a daemon that is not there.

use std::process::Stdio;

use selkie_playground::Turn;
use selkie_playground::telegram::ADA;

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn two_who_ask_in_one_folder_read_each_their_own_answer() {
    let world = World::start().await;
    let _daemon = world.daemon();
    world.ask("is the daemon there?").await;
    let model = world.playground.model();
    model.script_for("first question", vec![Turn::text("first answer").delayed(700)]);
    let first = world.home.command(&["ask", "the first question"]).stdout(Stdio::piped()).spawn();
    world.asked(2).await;
    let (code, out, err) = world.home.run(&["ask", "and mine"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.ends_with("and mine\n") && !out.contains("first answer"), "{out}");
    let first = first.and_then(std::process::Child::wait_with_output).expect("selkie runs");
    assert_eq!(String::from_utf8_lossy(&first.stdout), "first answer\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn ask_without_a_daemon_leaves_the_chats_to_the_daemon() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.playground.model().script(vec![Turn::text("never").delayed(600_000)]);
    let message = world.telegram().say(ADA, ADA, "wait for me");
    world.asked(1).await;
    daemon.kill();
    let (code, out, err) = world.home.run(&["ask", "alone"]);
    assert!(code == 0 && out.ends_with("alone\n"), "{code}: {out}{err}");
    let _daemon = world.daemon();
    assert!(world.answer(ADA, message).await.ends_with("wait for me"));
    world.ask("the end").await;
    assert!(world.telegram().tally(ADA).is_clean(), "{:?}", world.texts(ADA));
}

#[tokio::test(flavor = "multi_thread")]
async fn ask_without_a_daemon_sends_nothing_that_waits_for_a_chat() {
    let world = World::start().await;
    let daemon = world.daemon();
    let fault = selkie_playground::FaultKind::TooMany { retry_after: 2 };
    world.telegram().fault(selkie_playground::Fault::next("sendMessage", fault));
    let message = world.telegram().say(ADA, ADA, "not sent yet");
    world.asked(1).await;
    daemon.kill();
    let (code, out, err) = world.home.run(&["ask", "alone"]);
    assert!(code == 0 && out.ends_with("alone\n"), "{code}: {out}{err}");
    let _daemon = world.daemon();
    assert!(world.answer(ADA, message).await.ends_with("not sent yet"));
    assert!(world.telegram().tally(ADA).is_clean(), "{:?}", world.texts(ADA));
}
