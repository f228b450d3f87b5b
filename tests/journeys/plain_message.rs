//! A person writes, selkie answers: once, in order, and again after a restart with what was said before.

use selkie_playground::telegram::ADA;

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_answered_once_and_remembered_over_a_restart() {
    let world = World::start().await;
    let daemon = world.daemon();
    assert!(world.ask("hello").await.ends_with("\nhello"));
    assert!(daemon.stop().await.success());
    let _daemon = world.daemon();
    assert!(world.ask("and again").await.ends_with("\nand again"));
    assert!(world.telegram().answer_counts(ADA).is_clean());
    let requests = world.playground.model().requests();
    let last = requests.last().expect("a request").body.to_string();
    assert!(last.contains("hello") && last.contains("echo: "), "no history in {last}");
}
