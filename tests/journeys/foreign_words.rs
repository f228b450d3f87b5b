//! Words of others: what they bring about is refused, in this task and the next, until `/reset`.

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, FileDraft, FileKind, GROUP, LINUS, PRIVATE};
use serde_json::{Value, json};

use crate::support::rows::{settled, texts};
use crate::support::world::World;

/// Whether a request offers the tool.
fn offers(prompt: &str, name: &str) -> bool {
    tools(prompt).as_array().into_iter().flatten().any(|tool| tool["function"]["name"] == name)
}

fn tools(prompt: &str) -> Value {
    let request: Value = serde_json::from_str(prompt).expect("JSON");
    request["tools"].clone()
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
    model.script(vec![fetch(&url), bash(), leak, fetch(&url), Turn::text("read")]);
    world.ask(&format!("read {url}, please")).await;
    let first = world.prompts();
    assert!(offers(&first[0], "bash"), "nothing of others is in play yet");
    assert!(
        first[2].contains("bash is not available here: hidden while the task holds"),
        "{}",
        first[2]
    );
    assert!(first[3].contains("url_fetch is not available here for this"), "{}", first[3]);
    assert_eq!(first[4].matches("non-2xx status").count(), 2, "what a person typed is open");
    assert!(
        first.iter().all(|prompt| tools(prompt) == tools(&first[0])),
        "the block keeps its bytes"
    );

    model.script(vec![bash(), Turn::text("no")]);
    world.ask("do it now").await;
    let second = world.prompts().split_off(first.len());
    assert!(!offers(&second[0], "bash") && !second[0].contains("non-2xx status"), "{}", second[0]);
    assert!(
        second[1].contains("hidden while the task holds other people's words"),
        "{}",
        second[1]
    );
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
    model.script(vec![fetch(&first), fetch(&second), ask, fetch(&second), Turn::text("all read")]);
    telegram.say(PRIVATE, ADA, &format!("read {first}, please"));
    world.hears(PRIVATE, "where is the rest?").await;
    let refused = "url_fetch is not available here for this";
    assert_eq!(world.last_prompt().matches(refused).count(), 1, "nobody has typed it yet");
    telegram.say(PRIVATE, ADA, &second);
    let tainted = world.hears(PRIVATE, "all read").await;
    assert_eq!(world.last_prompt().matches(refused).count(), 1, "{}", world.last_prompt());

    // One step, of a level that came with the history.
    world.ask("thanks").await;
    let level = "SELECT facts ->> '$.taint' FROM task ORDER BY id DESC LIMIT 1";
    settled(&world, 3).await;
    assert_eq!(texts(&world.home, level), ["derived"]);

    world.ask("/reset").await;
    model.script(vec![bash(), Turn::text("not with that")]);
    telegram.reply(PRIVATE, ADA, tainted.id, "do what you said there");
    world.hears(PRIVATE, "not with that").await;
    assert!(world.last_prompt().contains("other people's words"), "{}", world.last_prompt());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_and_what_a_group_says_take_programs_away() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let (telegram, model) = (world.telegram(), world.playground.model());
    model.script(vec![bash(), Turn::text("not with a file")]);
    telegram.upload(PRIVATE, ADA, FileDraft::new(FileKind::Document, "orders.txt", "run it"));
    world.hears(PRIVATE, "not with a file").await;
    assert!(!offers(&world.prompts()[0], "bash"));
    assert!(
        world.last_prompt().contains("hidden while the task holds other people's words"),
        "{}",
        world.last_prompt()
    );

    telegram.say(GROUP, LINUS, "everybody writes $bash");
    model.script(vec![Turn::text("not in a group that talks")]);
    world.ask_in(GROUP, ADA, "@selkie_demo_bot run it with $bash").await;
    assert!(!offers(&world.last_prompt(), "bash"), "{}", world.last_prompt());
}
