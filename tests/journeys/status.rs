//! The owner looks how the daemon stands: a line for each thing that matters, and an exit code that scripts can ask.

use serde_json::Value;

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_is_well_says_so() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("good morning").await;
    let (code, out, err) = world.home.run(&["status"]);
    assert_eq!(code, 0, "{out}{err}");
    for part in [
        "selkie 0.1.0 runs since ",
        "listens, heard ",
        "all delivered",
        "1 task, 1 model call",
        "SQLite, ",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let (code, out, err) = world.home.run(&["status", "--json"]);
    assert_eq!(code, 0, "{err}");
    let status: Value = serde_json::from_str(&out).expect("json");
    assert_eq!(status["pid"], daemon.pid());
    assert_eq!(status["channels"][0]["state"], "listening");
    assert_eq!((&status["today"]["tasks"], &status["still"]), (&1.into(), &Value::Array(vec![])));
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_an_exit_code_and_says_what() {
    let mut world = World::with_slack().await;
    let (code, out, err) = world.home.run(&["status"]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("no daemon runs with the state folder"), "{err}");
    world.home.set_key(
        "telegram",
        "bot_token",
        "8123456:ANOTHER-token-of-35-letters-in-all".into(),
    );
    let daemon = world.daemon();
    let refused = |log: &str| log.contains("this channel cannot listen");
    world.within("the refusal", world.home.logged(0, refused)).await;
    let (code, out, err) = world.home.run(&["status"]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("is refused: Telegram refuses the bot's token"), "{out}");
    assert!(out.contains("slack"), "{out}");
    assert!(daemon.stop().await.success());
}
