//! Slack: direct messages, threads, both events of a mention, redelivery, reactions, files, and trouble.

use std::time::Duration;

use selkie_playground::slack::{ADA, APP_TOKEN, BOT, BOT_TOKEN, CHANNEL, DM, GRACE, SlackMessage};
use selkie_playground::{Fault, FaultKind, Turn};
use serde_json::json;

use crate::support::rows;
use crate::support::world::World;

async fn answer(world: &World, channel: &str, ts: &str) -> SlackMessage {
    world.within("an answer", world.slack().wait_for_answer(channel, ts)).await
}

/// Asks in private and waits.
async fn ask(world: &World, text: &str) -> SlackMessage {
    let ts = world.slack().say(DM, ADA, text);
    answer(world, DM, &ts).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_direct_message_is_answered_and_no_token_is_anywhere() {
    let world = World::with_slack().await;
    let daemon = world.daemon();
    let said = ask(&world, "hello &amp; &lt;friends&gt;").await;
    assert!(said.text.ends_with("hello &amp; &lt;friends&gt;"), "{}", said.text);
    assert_eq!(said.thread, None);
    assert!(daemon.stop().await.success());
    for token in [BOT_TOKEN, APP_TOKEN] {
        assert!(!world.home.log().contains(token));
    }
    assert!(!world.home.log().contains("/slack/ws/"), "a socket's ticket is in the log");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mention_opens_a_thread_and_is_answered_once_there() {
    let world = World::with_slack().await;
    let _daemon = world.daemon();
    let root = world.slack().say(CHANNEL, GRACE, &format!("<@{BOT}> tea?"));
    let first = answer(&world, CHANNEL, &root).await;
    assert_eq!(first.thread.as_deref(), Some(root.as_str()));
    let unasked = world.slack().reply(CHANNEL, GRACE, &root, "nobody is asked");
    let again = world.slack().reply(CHANNEL, GRACE, &root, &format!("<@{BOT}> cake?"));
    let second = answer(&world, CHANNEL, &again).await;
    assert!(second.text.contains("cake?"), "{}", second.text);
    // Both events of both mentions are stored and acknowledged; each mention has one answer.
    let whole = world.slack().wait_until(|slack| (slack.envelopes() == (5, 0)).then_some(()));
    world.within("five acknowledgements", whole).await;
    assert_eq!(world.slack().answers(CHANNEL, &unasked).len(), 1);
    assert_eq!(world.slack().answers(CHANNEL, &root).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mention_is_answered_while_auth_test_hangs() {
    let world = World::with_slack().await;
    world.slack().fault(Fault::next("auth.test", FaultKind::Delay { ms: 600_000 }));
    let _daemon = world.daemon();
    let root = world.slack().say(CHANNEL, GRACE, &format!("<@{BOT}> tea?"));
    let said = answer(&world, CHANNEL, &root).await;
    assert!(said.text.contains("tea?"), "{}", said.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_look_repeats_nothing() {
    let world = World::with_slack().await;
    world.slack().fault(Fault::next("chat.postMessage", FaultKind::CutAfter));
    for _ in 0..2 {
        let busy = FaultKind::Html { status: 500 };
        world.slack().fault(Fault::next("conversations.history", busy));
    }
    let _daemon = world.daemon();
    let ts = world.slack().say(DM, ADA, "once only");
    let looked = |slack: &selkie_playground::Slack| {
        (slack.counted("conversations.history") > 2).then_some(())
    };
    world.within("three looks", world.slack().wait_until(looked)).await;
    ask(&world, "next").await;
    let answers = world.slack().answers(DM, &ts);
    assert_eq!(answers.len(), 2, "one answer each: {answers:?}");
    assert!(answers.iter().all(|message| !message.text.contains("possibly repeated")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_of_a_dead_socket_comes_again_and_is_answered_once() {
    let world = World::with_slack().await;
    world.slack().set_redelivery(Duration::from_millis(100));
    let _daemon = world.daemon();
    ask(&world, "one").await;
    world.slack().cut_sockets();
    let ts = world.slack().say(DM, ADA, "two");
    answer(&world, DM, &ts).await;
    let (_, most) = world.slack().sockets();
    world.slack().disconnect("refresh_requested");
    ask(&world, "three").await;
    assert_eq!(world.slack().answers(DM, &ts).len(), 2);
    assert!(most <= 2 && world.slack().sockets().1 <= 2, "more sockets than the settings say");
}

/// People react to what the bot said: the event is stored, acknowledged, and asks nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_persons_reaction_is_stored_and_starts_nothing() {
    let world = World::with_slack().await;
    let _daemon = world.daemon();
    let said = ask(&world, "tea?").await;
    assert!(world.slack().react(DM, ADA, &said.ts, "eyes"));
    assert!(world.slack().unreact(DM, ADA, &said.ts, "eyes"));
    let whole = world.slack().wait_until(|slack| (slack.envelopes() == (3, 0)).then_some(()));
    world.within("three acknowledgements", whole).await;
    let passed = "SELECT disposition FROM inbox WHERE disposition LIKE 'ignored%'";
    assert_eq!(rows::texts(&world.home, passed), ["ignored: asks_nothing"; 2]);
    assert_eq!(ask(&world, "and cake?").await.thread, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bot_reacts_and_sends_a_file() {
    let world = World::with_slack().await;
    let write = json!({ "path": "notes.txt", "content": "twelve bytes" });
    world.playground.model().script(vec![
        Turn::call("message_react", json!({ "emoji": "nonsense" })),
        Turn::call("message_react", json!({ "emoji": "tea" })),
        Turn::call("write_file", write),
        Turn::call("slack_send_file", json!({ "path": "notes.txt" })),
        Turn::text("done"),
    ]);
    let _daemon = world.daemon();
    let ts = world.slack().say(DM, ADA, "notes, please");
    let done = |slack: &selkie_playground::Slack| {
        slack.answers(DM, &ts).into_iter().find(|message| message.text == "done")
    };
    world.within("the last word", world.slack().wait_until(done)).await;
    let messages = world.slack().messages(DM);
    let asked = messages.iter().find(|message| message.ts == ts).unwrap();
    assert_eq!(asked.reactions, [("tea".to_owned(), BOT.to_owned())]);
    let told = || world.playground.model().requests().last().map(|asked| asked.body.to_string());
    let file = messages.iter().find_map(|message| message.files.first());
    let file = file.unwrap_or_else(|| panic!("no file; the model was told {:?}", told()));
    assert_eq!(world.slack().file(file).unwrap(), "twelve bytes");
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_are_waited_for_and_an_unclear_answer_is_looked_up() {
    let world = World::with_slack().await;
    let limited = FaultKind::TooMany { retry_after: 1 };
    let _daemon = world.daemon();
    world.slack().fault(Fault::next("chat.postMessage", limited));
    for (looks, lost) in [FaultKind::CutAfter, FaultKind::Bare].into_iter().enumerate() {
        world.slack().fault(Fault::next("chat.postMessage", lost));
        let ts = world.slack().say(DM, ADA, "once only");
        answer(&world, DM, &ts).await;
        let looked = |slack: &selkie_playground::Slack| {
            (slack.counted("conversations.history") > looks).then_some(())
        };
        world.within("a look into the history", world.slack().wait_until(looked)).await;
        let next = ask(&world, "next").await;
        assert!(next.text.ends_with("next"));
        let answers = world.slack().answers(DM, &ts);
        assert_eq!(answers.len(), 2, "one answer each, none repeated: {answers:?}");
        assert!(answers.iter().all(|message| !message.text.contains("possibly repeated")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_no_second_question() {
    let world = World::with_slack().await;
    let _daemon = world.daemon();
    let root = world.slack().say(CHANNEL, ADA, &format!("<@{BOT}> tea?"));
    answer(&world, CHANNEL, &root).await;
    world.slack().edit(CHANNEL, &root, &format!("<@{BOT}> tea and cake?"));
    ask(&world, "still there?").await;
    let quiet = world.slack().wait_until(|slack| (slack.envelopes() == (5, 0)).then_some(()));
    world.within("all acknowledgements", quiet).await;
    assert_eq!(world.slack().answers(CHANNEL, &root).len(), 1);
}
