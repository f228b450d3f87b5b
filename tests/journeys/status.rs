//! The owner looks how the daemon stands: a line for each thing that matters, and an exit code that scripts can ask.

use serde_json::{Value, json};

use selkie_playground::telegram::TOKEN;

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_is_well_says_so() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("good morning").await;
    let (code, out, err) = world.home.run(&["status"]);
    assert_eq!(code, 0, "{out}{err}");
    for part in [
        "selkie 0.1.0 has been running since ",
        "listens, heard ",
        "nothing to send",
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

/// What is handed to a helper says how selkie stands, and neither a secret nor what anybody said.
#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_for_a_helper_holds_no_secret_and_nobodys_words() {
    let mut world = World::start().await;
    let reminds = json!([{ "id": "x", "cron": "0 8 * * *", "remind": "call the lighthouse" }]);
    world.home.set("schedules", reminds);
    let daemon = world.daemon();
    world.ask("the lighthouse is red").await;
    let bundle = world.home.folder().join("bundle.tar.gz");
    let log = world.home.folder().join("log");
    let long = "x".repeat(600);
    std::fs::write(&log, format!("{}token {} {long}\n", world.home.log(), TOKEN)).expect("a log");
    let path = |file: &std::path::Path| file.to_str().expect("a path").to_owned();
    let asked = ["support-bundle", &path(&bundle), "--log", &path(&log), "--json"];
    let (code, out, error) = world.home.run(&asked);
    assert_eq!(code, 0, "{error}");
    let told: Value = serde_json::from_str(&out).expect("json");
    let file = std::fs::File::open(&bundle).expect("a bundle");
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let mut names = Vec::new();
    for entry in archive.entries().expect("entries") {
        let mut entry = entry.expect("an entry");
        let name = entry.path().expect("a name").display().to_string();
        let mut text = String::new();
        std::io::Read::read_to_string(&mut entry, &mut text).expect("a text");
        for secret in [TOKEN, "lighthouse"] {
            assert!(!text.contains(secret), "{name} holds {secret}: {text}");
        }
        names.push(name);
    }
    let expected =
        ["versions.json", "config.json", "doctor.json", "status.json", "store.json", "log.txt"];
    assert_eq!(names, expected);
    assert_eq!(told["holds"].as_array().map(Vec::len), Some(6));
    let (code, _, error) = world.home.run(&["support", &path(&bundle)]);
    assert!(code == 1 && error.contains("is there already"), "{error}");
    assert!(daemon.stop().await.success());
}
