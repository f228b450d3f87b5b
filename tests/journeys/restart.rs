//! The daemon is asked to end while a task runs, again and again: the task goes on each time, and no
//! restart counts as one of its attempts.

use selkie_playground::Turn;
use selkie_playground::telegram::ADA;
use serde_json::Value;

use crate::support::world::World;

/// One more than the crashes after which a task is given up.
const RESTARTS: u64 = 4;

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_that_was_asked_for_is_no_attempt() {
    let world = World::start().await;
    let model = world.playground.model();
    let never = || Turn::text("too late").delayed(600_000);
    model.script((0..RESTARTS).map(|_| never()).collect());
    let message = world.telegram().say(ADA, ADA, "be patient");
    for asked in 1..=RESTARTS {
        let daemon = world.daemon();
        world.within("the model's call", model.wait_for_calls(asked)).await;
        assert!(daemon.hurry().await.success());
    }
    let daemon = world.daemon();
    assert!(world.answer(ADA, message).await.ends_with("\nbe patient"));
    assert!(daemon.stop().await.success());
    let (code, out, err) = world.home.run(&["trace", &message.to_string(), "--json"]);
    assert_eq!(code, 0, "{err}");
    let chain: Value = serde_json::from_str(&out).expect("json");
    assert_eq!(chain[0]["task"]["attempts"], 1, "{out}");
    assert!(world.telegram().answer_counts(ADA).is_clean());
}
