//! Commands: answered at once and without the model, also while a task hangs; carried out once.

use selkie_playground::telegram::{ADA, GRACE, GROUP, MessageView, TOPIC};
use selkie_playground::{Fault, FaultKind, Turn};
use serde_json::json;

use crate::support::world::World;

/// Longer than any test waits.
const FOR_EVER: u64 = 600_000;

#[tokio::test(flavor = "multi_thread")]
async fn every_command_is_answered_without_the_model() {
    let world = World::start().await;
    let _daemon = world.daemon();
    for (command, expected) in [
        ("/start", "Hello!"),
        ("/help", "/reset"),
        ("/id", "tg:4711"),
        ("/status", "Nothing is running"),
        ("/tools why message_react", "message_react"),
        ("/tools why bash", "bash is available here: no rule hides it"),
        ("/tools nonsense here", "/tools why NAME"),
        ("/stop", "Nothing is running here."),
        ("/reset", "A fresh start"),
        ("/ask", "Put your question after the command"),
        ("/remindme in 5m tea", "There is no command remindme. Did you mean /remind?"),
    ] {
        let answer = world.ask(command).await;
        assert!(answer.contains(expected), "{command} was answered with: {answer}");
    }
    assert!(world.telegram().answer_counts(ADA).is_clean());
    // A list that may need several messages.
    world.ask("/tools").await;
    world.hears(ADA, "• write_file").await;
    assert_eq!(world.playground.model().calls(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_task_is_seen_by_status_and_ended_by_stop() {
    let world = World::start().await;
    let _daemon = world.daemon();
    world.playground.model().script(vec![Turn::text("too late").delayed(FOR_EVER)]);
    world.telegram().say(ADA, ADA, "hang");
    world.asked(1).await;
    world.telegram().say(ADA, ADA, "and this waits");
    world.telegram().say(ADA, ADA, "/status");
    let status = world.hears(ADA, "waiting.").await.text;
    assert!(status.contains("has run for") && status.contains("1 waiting"), "{status}");
    world.telegram().say(ADA, ADA, "/stop");
    world.hears(ADA, "Stopped. I will still answer messages that are waiting.").await;
    world.hears(ADA, "echo: ").await;
    assert!(world.last_prompt().contains("and this waits"));
    assert_eq!(world.texts(ADA).len(), 3, "a stopped task says nothing: {:?}", world.texts(ADA));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_cancels_what_was_not_sent_yet() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    world.telegram().fault(Fault::next("sendMessage", FaultKind::Delay { ms: 3_000 }).after(2));
    world.telegram().say(ADA, ADA, "long 40000");
    world.hears(ADA, "Line 60 ").await;
    world.telegram().say(ADA, ADA, "/stop");
    world.hears(ADA, "Stopped.").await;
    let texts = world.texts(ADA);
    assert!(texts.len() <= 4, "{} messages of 10 parts went out", texts.len());
    assert!(texts.last().expect("an answer").starts_with("Stopped."), "{texts:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_forgets_history_and_list_and_ends_what_hangs() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let list = json!({"todos": [{"id": "1", "title": "secret plan", "status": "pending"}]});
    model.script(vec![Turn::call("todo_write", list), Turn::text("noted")]);
    assert_eq!(world.ask("remember the plan").await, "noted");
    model.script(vec![Turn::text("too late").delayed(FOR_EVER)]);
    world.telegram().say(ADA, ADA, "a very private matter");
    world.asked(3).await;
    world.telegram().say(ADA, ADA, "/reset");
    world.hears(ADA, "A fresh start").await;
    model.script(vec![Turn::call("todo_read", json!({})), Turn::text("it is empty")]);
    world.telegram().say(ADA, ADA, "what is on my list?");
    world.hears(ADA, "it is empty").await;
    let prompt = world.last_prompt();
    assert!(prompt.contains("Todo list is empty."), "{prompt}");
    assert!(!prompt.contains("secret plan") && !prompt.contains("private matter"), "{prompt}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_that_comes_again_resets_once() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    world.ask("note: one").await;
    let reset = json!({
        "update_id": 200_000_000,
        "message": {
            "message_id": 900, "date": 1_700_000_000, "text": "/reset",
            "chat": {"id": ADA, "type": "private", "first_name": "Ada"},
            "from": {"id": ADA, "is_bot": false, "first_name": "Ada"},
            "entities": [{"type": "bot_command", "offset": 0, "length": 6}],
        },
    });
    world.telegram().inject_raw_update(reset.clone());
    world.hears(ADA, "A fresh start").await;
    assert!(world.ask("note: two").await.contains("Noted: two (1)."));
    // As after a lost acknowledgement, with another message behind it.
    world.telegram().inject_raw_update(reset);
    let list = world.ask("tell me my list").await;
    assert!(list.contains("1. two"), "the list was reset again: {list}");
    let resets = world.texts(ADA).iter().filter(|t| t.contains("A fresh start")).count();
    assert_eq!(resets, 1, "{:?}", world.texts(ADA));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_owner_passes_on_or_quotes_is_text_and_commands_nothing() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let (folder, mut id) = (std::env::temp_dir().canonicalize().expect("a folder"), 900);
    let set = format!("/workspace {}", folder.display());
    let whole =
        |kind: &str| json!([{"type": kind, "offset": 0, "length": set.encode_utf16().count()}]);
    let origin = json!({"type": "hidden_user", "sender_user_name": "Eve", "date": 1});
    for with in [
        json!({"forward_origin": origin}),
        json!({"via_bot": {"id": 9, "is_bot": true, "first_name": "Inline"}}),
        json!({"entities": whole("blockquote")}),
        json!({"entities": whole("pre")}),
        json!({"entities": whole("code")}),
        json!({"entities": whole("spoiler")}),
    ] {
        id += 1;
        let mut message = json!({
            "message_id": id, "date": 1_700_000_000, "text": set,
            "chat": {"id": ADA, "type": "private", "first_name": "Ada"},
            "from": {"id": ADA, "is_bot": false, "first_name": "Ada"},
        });
        for (key, value) in with.as_object().expect("fields") {
            message[key] = value.clone();
        }
        let said = world.said(ADA).len();
        world
            .telegram()
            .inject_raw_update(json!({"update_id": 200_000_000 + id, "message": message}));
        // The stand-in repeats what it was asked: an answer that comes late would pass for the next one.
        world.says_more_than(ADA, said).await;
        assert!(world.last_prompt().contains(&set), "{with}");
    }
    let now = world.ask("/workspace").await;
    assert!(!now.contains(&*folder.to_string_lossy()), "{now}");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_groups_ask_is_answered_and_others_cannot_end_what_they_did_not_begin() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let answer = world.ask_in(GROUP, GRACE, "/ask@selkie_demo_bot what now?").await;
    assert!(answer.ends_with("what now?"), "{answer}");
    assert!(world.ask_in(GROUP, GRACE, "/id").await.contains("tg:-100200300"));
    world.playground.model().script(vec![Turn::text("too late").delayed(FOR_EVER)]);
    let asked = world.playground.model().calls();
    world.telegram().say(GROUP, ADA, "/ask hang");
    world.asked(asked + 1).await;
    for command in ["/stop", "/reset"] {
        let refused = world.ask_in(GROUP, GRACE, command).await;
        assert!(refused.starts_with("In a group, only"), "{command}: {refused}");
    }
    let stopped = world.ask_in(GROUP, ADA, "/stop").await;
    assert!(stopped.starts_with("Stopped."), "{stopped}");
    assert!(world.texts(TOPIC).is_empty());
}

/// Words that can only mean a request are no question for the model.
#[tokio::test(flavor = "multi_thread")]
async fn approve_without_a_request_is_answered_and_asks_no_model() {
    let world = World::start().await;
    let daemon = world.daemon();
    assert_eq!(
        world.ask("approve abcdef").await,
        "Nothing with the code abcdef is waiting for your approval."
    );
    assert_eq!(world.ask("deny").await, "Nothing is waiting for your approval.");
    assert!(world.playground.model().requests().is_empty());
    assert!(world.ask("approve of it?").await.ends_with("approve of it?"));
    assert!(daemon.stop().await.success());
}

/// `/dance@our_bot` is for nobody else; `/dance` may be.
#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_command_with_the_bots_name_is_answered_in_a_group() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.telegram().say(GROUP, GRACE, "/dance");
    world.telegram().say(GROUP, GRACE, "/dance@selkie_demo_bot");
    let told = |m: &MessageView| m.text.starts_with("There is no command dance.");
    world.within("an answer", world.telegram().wait_for(GROUP, told)).await;
    let bots = world.telegram().messages(GROUP).into_iter().filter(|m| m.from.is_bot);
    assert_eq!(bots.count(), 1, "nobody has asked it for the first one");
    assert!(world.playground.model().requests().is_empty());
    assert!(daemon.stop().await.success());
}
