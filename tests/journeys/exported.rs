//! What `selkie export`, `sessions show` and `trace` tell of a conversation is all of it, each word with whose it is.

use selkie_playground::telegram::{ADA, GRACE};
use serde_json::{Value, json};

use crate::support::rows::{self, texts};
use crate::support::world::World;

/// Runs a command that has to go well.
fn run(world: &World, args: &[&str]) -> String {
    let (code, out, err) = world.home.run(args);
    assert_eq!(code, 0, "{args:?}: {out}{err}");
    out
}

/// Everything that is exported of Ada's private chat.
fn exported(world: &World) -> Vec<Value> {
    let all = run(world, &["export", "tg:4711", "--json"]);
    let all: Value = serde_json::from_str(&all).expect("JSON");
    all["messages"].as_array().expect("messages").clone()
}

/// The place of the entry whose text begins so.
fn place(all: &[Value], text: &str) -> usize {
    let begins = |one: &Value| one["text"].as_str().is_some_and(|it| it.starts_with(text));
    all.iter().position(begins).unwrap_or_else(|| panic!("{text}: {all:#?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_holds_every_word_with_what_answered_it() {
    tells_all(World::offline().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_out_of_a_database_holds_the_same() {
    let mut world = World::offline().await;
    world.home.keep_in_postgres();
    tells_all(world).await;
}

async fn tells_all(world: World) {
    let daemon = world.daemon();
    world.ask("note: buy milk").await;
    world.ask("/status").await;
    let sent = run(&world, &["say", "--to", "tg:4711", "coffee is ready"]);
    let message = sent.trim().rsplit(' ').next().expect("its number").to_owned();
    world.ask("hello").await;
    rows::settled(&world, 3).await;

    let all = exported(&world);
    let [noted, command, coffee, hello] =
        ["note: buy milk", "/status", "coffee is ready", "hello"].map(|text| place(&all, text));
    assert!(noted < command && command < coffee && coffee < hello, "in order: {all:#?}");
    assert!(all.iter().all(|one| one["at"].is_string()), "each has its time: {all:#?}");
    assert!(all.iter().all(|one| one.get("unanswered").is_none()), "{all:#?}");
    let answer = &all[command + 1];
    assert_eq!(
        (&answer["speaker"], &answer["cause"]),
        (&Value::Null, &json!("the answer to a command"))
    );
    assert_eq!(all[coffee]["cause"], "the owner's words, by `selkie say`");
    let used = &all[noted + 1];
    assert_eq!(used["tools"], json!(["todo_read", "todo_write"]), "{used}");
    assert!(used["text"].as_str().is_some_and(|text| text.starts_with("Noted")), "{used}");

    for read in [["export", "tg:4711"].as_slice(), &["sessions", "show", "tg:4711"]] {
        let told = run(&world, read);
        assert!(told.contains("_the answer to a command_\n\n"), "{told}");
        assert!(
            told.contains("_the owner's words, by `selkie say`_\n\n> coffee is ready\n"),
            "{told}"
        );
        assert!(told.contains("\n_used todo_read, todo_write_\n"), "{told}");
        assert!(!told.contains("unanswered"), "{told}");
    }

    let story = run(&world, &["trace", &message]);
    assert!(story.starts_with("selkie said in "), "{story}");
    assert!(
        story.contains("(tg:4711), 2") && story.contains(":\n  \"coffee is ready\"\n"),
        "{story}"
    );
    assert!(story.contains("the owner of this machine said it with `selkie say`."), "{story}");
    assert!(story.contains(&format!("arrived as message {message}\n")), "{story}");
    assert!(!story.contains("Task"), "{story}");
    let json: Value =
        serde_json::from_str(&run(&world, &["trace", &message, "--json"])).expect("JSON");
    assert_eq!((&json[0]["spoken"]["for"], &json[0]["task"]), (&json!("say"), &Value::Null));
    assert!(daemon.stop().await.success());
    assert_eq!(exported(&world), all, "without a daemon it is the same");
    assert_eq!(run(&world, &["trace", &message]), story);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schedules_words_are_nobodys_own() {
    let world = World::start().await;
    let _daemon = world.daemon();
    world.ask("hello").await;
    let prompt = ["--prompt", "what is new?", "--title", "News"];
    run(&world, &[&["schedules", "add", "--in", "1s"][..], &prompt].concat());
    world.hears(ADA, "what is new?").await;
    rows::delivered(&world, "SELECT count(*) FROM occurrence", 1).await;
    let all = exported(&world);
    let due = &all[place(&all, "what is new?")];
    assert_eq!(due["speaker"], "schedule 1 “News”", "{due}");
    assert!(due["cause"].as_str().is_some_and(|why| why.starts_with("it came due for ")), "{due}");
    let shown = run(&world, &["sessions", "show", "tg:4711"]);
    assert!(shown.contains("**schedule 1 “News”** · "), "{shown}");
    let listed = run(&world, &["trace"]);
    // Its message may stand in a line of its own.
    let newest = listed.lines().find(|line| line.starts_with("2 ")).expect("a task");
    assert!(newest.contains("schedule 1 “News”") && !newest.contains("Ada"), "{listed}");
    let story = run(&world, &["trace", "2"]);
    assert!(story.contains("\nWords of schedule 1 “News”, which belongs to "), "{story}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_pairing_code_is_told_again() {
    let world = World::with(json!({ "owners": [], "pairing": "ask" })).await;
    world.telegram().add_person(GRACE, "Grace");
    let made = run(&world, &["pair"]);
    let _daemon = world.daemon();
    let code = made.lines().find_map(|line| line.trim().strip_prefix("pair ")).expect("a code");
    world.ask(&format!("pair {code}")).await;
    let offered = world.ask_in(GRACE, GRACE, "hello?").await;
    let (_, theirs) = offered.split_once("/pair ").expect("how it is approved");
    let theirs: String = theirs.chars().take_while(char::is_ascii_alphanumeric).collect();
    world.ask(&format!("/pair {theirs}")).await;
    world.hears(GRACE, "You are let in").await;
    rows::settled(&world, 2).await;
    let keys = texts(&world.home, "SELECT key FROM inbox WHERE disposition = 'command'");
    let receipts = texts(&world.home, "SELECT message FROM part WHERE message IS NOT NULL");
    assert!(keys.len() == 2 && receipts.len() >= 4, "{keys:?} {receipts:?}");
    let traced = keys.iter().chain(&receipts).map(|name| vec!["trace", name]);
    let told = traced.chain([vec!["export", "tg:4711"], vec!["export", "tg:4712"]]);
    for read in told {
        for more in [&[][..], &["--json"]] {
            let out = run(&world, &[&read[..], more].concat());
            assert!(!out.contains(code) && !out.contains(&theirs), "{read:?}: {out}");
        }
    }
    let own = run(&world, &["export", "tg:4711"]);
    assert!(own.contains("/pair (pairing code)"), "{own}");
}
