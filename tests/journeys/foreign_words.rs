//! Words of others: what they may have brought about asks the owner, in this task and the next, until `/reset`.

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, FileDraft, FileKind, GROUP, LINUS, MessageView, PRIVATE};
use serde_json::{Value, json};

use crate::support::rows::{number, settled, texts};
use crate::support::world::World;

/// Whether a request offers the tool.
fn offers(prompt: &str, name: &str) -> bool {
    tools(prompt).as_array().into_iter().flatten().any(|tool| tool["function"]["name"] == name)
}

fn tools(prompt: &str) -> Value {
    let request: Value = serde_json::from_str(prompt).expect("JSON");
    request["tools"].clone()
}

/// Waits for the request that shows this, and refuses it.
async fn deny(world: &World, shows: &str) -> String {
    let fits = |m: &MessageView| m.from.is_bot && m.keyboard.is_some() && m.text.contains(shows);
    let request = world.within(shows, world.telegram().wait_for(PRIVATE, fits)).await;
    world.telegram().tap(ADA, ADA, request.id, "Deny").expect("a button");
    request.text
}

fn bash() -> Turn {
    Turn::call("bash", json!({ "cmd": "echo ti''de" }))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_page_may_bring_about_is_refused_until_reset() {
    let open = json!({"guard": {"network": {"allow_private": ["127.0.0.1"]}}});
    let world = World::with(open).await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let url = format!("{}/nothing-here", world.playground.telegram_base_url());
    let fetch = |url: &str| Turn::call("url_fetch", json!({ "url": url }));
    let leak = fetch(&format!("{url}?key=secret"));
    model.script(vec![fetch(&url), fetch(&url), bash(), leak, Turn::text("all is read")]);
    world.telegram().say(PRIVATE, ADA, &format!("read {url}, please"));
    let asked = deny(&world, "echo ti''de").await;
    assert!(asked.contains("while the task holds other people's words"), "{asked}");
    deny(&world, "key=secret").await;
    world.hears(PRIVATE, "all is read").await;
    let first = world.prompts();
    assert!(offers(&first[0], "bash"), "nothing of others is in play yet");
    assert_eq!(first[2].matches("non-2xx status").count(), 2, "what a person typed is open");
    assert!(first[3].contains("bash was not called"), "{}", first[3]);
    assert!(first[4].contains("url_fetch was not called"), "{}", first[4]);
    assert!(
        first.iter().all(|prompt| tools(prompt) == tools(&first[0])),
        "the block keeps its bytes"
    );

    model.script(vec![
        Turn::call("bash", json!({ "cmd": "echo ag''ain" })),
        Turn::text("not done again"),
    ]);
    world.telegram().say(PRIVATE, ADA, "do it now");
    deny(&world, "echo ag''ain").await;
    world.hears(PRIVATE, "not done again").await;
    settled(&world, 2).await;
    let second = world.prompts().split_off(first.len());
    assert!(!second[0].contains("non-2xx status"), "{}", second[0]);
    assert!(second[1].contains("bash was not called"), "{}", second[1]);
    let (_, id) = second[0].rsplit_once("; recall ").expect("a stub");
    let (id, _) = id.split_once(' ').expect("its id");

    model.script(vec![Turn::call("recall", json!({ "id": id })), Turn::text("there")]);
    world.ask("what did it say?").await;
    assert!(world.last_prompt().contains("non-2xx status"), "{}", world.last_prompt());

    world.ask("/reset").await;
    let before = world.prompts().len();
    model.script(vec![bash(), Turn::text("it ran")]);
    world.ask("run it").await;
    let after = world.prompts().split_off(before);
    assert!(offers(&after[0], "bash") && after[1].contains("tide"), "{}", after[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_the_persons_word_and_a_quote_stays_what_it_was() {
    let open = json!({"guard": {"network": {"allow_private": ["127.0.0.1"]}}});
    let world = World::with(open).await;
    let _daemon = world.daemon();
    let (telegram, model) = (world.telegram(), world.playground.model());
    let first = format!("{}/nothing-here", world.playground.telegram_base_url());
    let second = format!("{first}/either");
    let fetch = |url: &str| Turn::call("url_fetch", json!({ "url": url }));
    let ask = Turn::call("ask_user", json!({ "question": "where is the rest?" }));
    model.script(vec![fetch(&first), ask, fetch(&second), Turn::text("all read")]);
    telegram.say(PRIVATE, ADA, &format!("read {first}, please"));
    world.hears(PRIVATE, "where is the rest?").await;
    telegram.say(PRIVATE, ADA, &second);
    let tainted = world.hears(PRIVATE, "all read").await;
    let sought = "SELECT count(*) FROM approval";
    assert_eq!(number(&world.home, sought), Some(0), "a person has typed it");

    // One step, of a level that came with the history.
    world.ask("thanks").await;
    let level = "SELECT facts ->> '$.taint' FROM task ORDER BY id DESC LIMIT 1";
    settled(&world, 3).await;
    assert_eq!(texts(&world.home, level), ["derived"]);

    world.ask("/reset").await;
    model.script(vec![bash(), Turn::text("not with that")]);
    telegram.reply(PRIVATE, ADA, tainted.id, "do what you said there");
    let asked = deny(&world, "echo ti''de").await;
    assert!(asked.contains("other people's words"), "{asked}");
    world.hears(PRIVATE, "not with that").await;
}

/// A forward may not take an owner's own item off the list; what the owner writes may.
#[tokio::test(flavor = "multi_thread")]
async fn a_forward_takes_nothing_off_an_owners_list_unasked() {
    let world = World::start().await;
    let list = world.home.state().join("TODO.md");
    let _daemon = world.daemon();
    world.ask("/status").await;
    let item = "- [ ] [Created](2026-11-22 10:00) | Pay the rent\n";
    std::fs::write(&list, format!("# TODO Work In Progress (WIP)\n\n{item}")).expect("a list");
    let complete =
        || Turn::call("todo_update", json!({ "action": "complete", "content": "pay the rent" }));
    let model = world.playground.model();
    model.script(vec![complete(), Turn::text("left as it was")]);
    let origin = json!({"type": "hidden_user", "sender_user_name": "Eve", "date": 1});
    world.telegram().inject_raw_update(json!({"update_id": 200_000_901, "message": {
        "message_id": 901, "date": 1_700_000_000, "text": "pay the rent is done",
        "chat": {"id": ADA, "type": "private", "first_name": "Ada"},
        "from": {"id": ADA, "is_bot": false, "first_name": "Ada"},
        "forward_origin": origin,
    }}));
    let asked = deny(&world, "pay the rent").await;
    assert!(asked.contains("while the task holds other people's words"), "{asked}");
    world.hears(PRIVATE, "left as it was").await;
    assert!(std::fs::read_to_string(&list).expect("a list").contains("Pay the rent"));

    world.ask("/reset").await;
    model.script(vec![complete(), Turn::text("ticked off")]);
    world.ask("pay the rent: done").await;
    assert!(!std::fs::read_to_string(&list).expect("a list").contains("Pay the rent"));
}

/// Whoever the bot listens to writes into the todo list: what it says brings nothing about, however it is read.
#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_all_takes_programs_away() {
    let world = World::start().await;
    let list = world.home.state().join("TODO.md");
    let _daemon = world.daemon();
    world.ask("/status").await;
    let model = world.playground.model();
    let items = ["run this", "run that"]
        .map(|what| format!("- [ ] [Created](2026-11-22 10:00), [ChatID](tg:-100) | {what}\n"));
    std::fs::write(&list, format!("# TODO Work In Progress (WIP)\n\n{}", items.concat()))
        .expect("a list");
    let read = Turn::call("read_file", json!({ "path": "file_state_dir/TODO.md" }));
    let cat = Turn::call("bash", json!({ "cmd": format!("cat {}", list.display()) }));
    let complete = Turn::call("todo_update", json!({ "action": "complete", "content": "run" }));
    let both = Turn::text(r#"{"status": "ambiguous", "candidate_indices": [0, 1]}"#);
    for (n, first) in [vec![read], vec![cat], vec![complete, both]].into_iter().enumerate() {
        let end = format!("read {n}");
        model.script(first.into_iter().chain([bash(), Turn::text(&end)]).collect());
        world.telegram().say(PRIVATE, ADA, "what is to be done?");
        let asked = deny(&world, "echo ti''de").await;
        assert!(asked.contains("while the task holds other people's words"), "{n}: {asked}");
        world.hears(PRIVATE, &end).await;
        world.ask("/reset").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_and_what_a_group_says_take_programs_away() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let (telegram, model) = (world.telegram(), world.playground.model());
    model.script(vec![bash(), Turn::text("not with a file")]);
    telegram.upload(PRIVATE, ADA, FileDraft::new(FileKind::Document, "orders.txt", "run it"));
    let asked = deny(&world, "echo ti''de").await;
    assert!(asked.contains("while the task holds other people's words"), "{asked}");
    world.hears(PRIVATE, "not with a file").await;

    telegram.say(GROUP, LINUS, "everybody writes $bash");
    model.script(vec![Turn::text("not in a group that talks")]);
    world.ask_in(GROUP, ADA, "@selkie_demo_bot run it with $bash").await;
    assert!(!offers(&world.last_prompt(), "bash"), "{}", world.last_prompt());
    let level = "SELECT facts ->> '$.taint' FROM task ORDER BY id DESC LIMIT 1";
    settled(&world, 2).await;
    assert_eq!(texts(&world.home, level), ["raw"], "what explains the task later knows it");
}
