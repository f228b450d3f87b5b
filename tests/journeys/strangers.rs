//! Who is listened to: an empty list means nobody, an owner lets in by a button, owners always, and
//! `["*"]` everyone, loudly and with little to use.

use selkie_playground::telegram::{ADA, GRACE, GROUP};
use serde_json::json;

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_list_means_nobody_and_a_button_lets_in() {
    let world = World::with_allowed(json!([])).await;
    world.telegram().add_person(GRACE, "Grace");
    let daemon = world.daemon();
    let told = world.ask_in(GRACE, GRACE, "hello?").await;
    assert_eq!(told, "I only talk to people whom my owner knows. I have told them that you wrote.");
    let request = world.hears(ADA, "Grace (tg:4712) has written to me").await;
    world.telegram().say(GRACE, GRACE, "hello??");
    world.telegram().say(GROUP, GRACE, "talk among people");
    let told = world.ask_in(GROUP, GRACE, "@selkie_demo_bot hello?").await;
    assert_eq!(told, "I do not talk in this group: only my owner can change that.");
    let line = world.hears(ADA, "add \"tg:-100200300\" to telegram.allowed_chat_ids").await;
    assert!(line.text.contains("Grace (tg:4712) has spoken to me in"), "{}", line.text);
    world.telegram().say(GROUP, GRACE, "@selkie_demo_bot hello??");
    assert!(world.ask("the owner is heard").await.ends_with("the owner is heard"));
    assert!(daemon.stop().await.success());
    let _daemon = world.daemon();
    world.telegram().say(GRACE, GRACE, "and after a restart?");
    world.ask("still heard").await;
    assert_eq!(world.playground.model().calls(), 2, "only the owner's words reach the model");
    let told = (world.texts(GRACE).len(), world.texts(GROUP).len());
    assert_eq!(told, (1, 1), "one sentence in each place, once for ever");
    assert_eq!(world.texts(ADA).len(), 4, "and the owner was asked once");
    // Nobody else's tap does it; two of the owner's do it once.
    world.telegram().tap(ADA, GRACE, request.id, "Let in").expect("a button");
    world.telegram().tap(ADA, ADA, request.id, "Let in").expect("a button");
    world.hears(GRACE, "You are let in").await;
    world.hears(ADA, "✔ Grace (tg:4712) is let in.").await;
    world.telegram().say(GRACE, GRACE, "am I heard?");
    world.hears(GRACE, "\nam I heard?").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_is_asked_about_five_a_day_and_ignores_for_good() {
    let world = World::with_allowed(json!([])).await;
    let _daemon = world.daemon();
    for n in 0..8 {
        let person = 5_000 + n;
        world.telegram().add_person(person, &format!("Guest {n}"));
        world.ask_in(person, person, "hello?").await;
    }
    world.hears(ADA, "More people whom I do not know have written").await;
    let asked = world.texts(ADA).iter().filter(|text| text.contains("has written to me")).count();
    assert_eq!((asked, world.texts(ADA).len()), (5, 6));
    let request = world.hears(ADA, "Guest 2 (tg:5002) has written to me").await;
    world.telegram().tap(ADA, ADA, request.id, "Ignore").expect("a button");
    world.hears(ADA, "Guest 2 (tg:5002) is ignored").await;
    let (_, listed, _) = world.home.run(&["pair", "list"]);
    assert!(!listed.contains("Guest 2") && listed.contains("Guest 7"), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_owner_the_hint_says_which_line_lets_in() {
    let mut world = World::with_allowed(json!([])).await;
    world.home.set("owners", json!([]));
    world.telegram().add_person(GRACE, "Grace");
    let _daemon = world.daemon();
    let hint = world.ask_in(GRACE, GRACE, "hello?").await;
    assert!(hint.contains("allowed_chat_ids: [\"tg:4712\"]"), "{hint}");
    let hint = world.ask_in(GROUP, GRACE, "@selkie_demo_bot hello?").await;
    assert!(hint.contains("tg:-100200300") && hint.contains("tg:4712"), "{hint}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_their_id_is_told_it_after_the_sentence_too() {
    let world = World::with_allowed(json!([])).await;
    world.telegram().add_person(GRACE, "Grace");
    let _daemon = world.daemon();
    world.ask_in(GRACE, GRACE, "hello?").await;
    for command in ["/id", "/start", "/id"] {
        let told = world.ask_in(GRACE, GRACE, command).await;
        assert!(told.contains("tg:4712"), "{command}: {told}");
    }
    // A few times a day are enough.
    world.telegram().say(GRACE, GRACE, "/id");
    world.ask("the owner is heard").await;
    assert_eq!(world.texts(GRACE).len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_line_of_the_hint_lets_in() {
    let world = World::with_allowed(json!(["tg:4712", GROUP.chat])).await;
    world.telegram().add_person(GRACE, "Grace");
    let _daemon = world.daemon();
    assert!(world.ask_in(GRACE, GRACE, "hello").await.ends_with("hello"));
    let text = "@selkie_demo_bot good day";
    assert!(world.ask_in(GROUP, GRACE, text).await.ends_with("good day"));
}

#[tokio::test(flavor = "multi_thread")]
async fn everyone_is_let_in_loudly_and_strangers_have_notes_and_replies_alone() {
    let world = World::with_allowed(json!(["*"])).await;
    world.telegram().add_person(GRACE, "Grace");
    let _daemon = world.daemon();
    assert!(world.ask_in(GRACE, GRACE, "hello").await.ends_with("hello"));
    let loud = world.home.log();
    let loud = loud.lines().find(|l| l.contains("WARN") && l.contains("EVERYONE"));
    assert!(loud.is_some(), "no warning in the log:\n{}", world.home.log());
    let expected = [
        "ask_user",
        "memory_write",
        "message_react",
        "plan_create",
        "plan_enter",
        "plan_exit",
        "telegram_send_file",
        "telegram_send_photo",
        "telegram_send_voice",
        "think",
        "todo_read",
        "todo_update",
        "todo_write",
    ];
    assert_eq!(tools(&world), expected);
    let why = world.ask_in(GRACE, GRACE, "/tools why write_file").await;
    assert!(why.contains("hidden for strangers"), "{why}");
    world.ask("hello").await;
    let owners = tools(&world);
    assert!(owners.iter().any(|t| t == "write_file"), "{owners:?}");
}

/// The tools of the last request, sorted.
fn tools(world: &World) -> Vec<String> {
    let request = world.playground.model().requests().pop().expect("a request").body;
    let all = request["tools"].as_array().expect("tools").iter();
    let mut names: Vec<_> =
        all.map(|t| t["function"]["name"].as_str().expect("a name").to_owned()).collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_who_asks_for_a_hidden_tool_reads_why() {
    let mut world = World::with_allowed(json!(["*"])).await;
    world.home.set("llm", json!({"provider": "offline"}));
    world.telegram().add_person(GRACE, "Grace");
    let _daemon = world.daemon();
    let answer = world.ask_in(GRACE, GRACE, "read notes.txt").await;
    assert_eq!(
        answer,
        "read_file is not available here: hidden for strangers: they get answers and notes, and nothing else"
    );
    assert!(world.ask_in(GRACE, GRACE, "note: tea").await.contains("Noted: tea (1)."));
    assert!(!world.home.cache().join("notes.txt").exists());
}
