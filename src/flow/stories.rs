//! Stories of flow alone: its own parts run, over a ledger, a platform and a mind in memory.

use std::sync::atomic::Ordering;
use std::time::Duration;

use selkie_channel_core::{
    Addressed, Attachment, AttachmentKind, Audience, Command, ConversationId, Delivery, Inbound,
    Inbox as _, Pace, PlaceId, What,
};

use crate::domain::happening::Happening;
use crate::domain::span::Span;
use crate::domain::task::TaskState;
use crate::domain::transcript::Item;
use crate::flow::settings::OutboxSettings;
use crate::flow::testing::{House, account, message};
use crate::flow::{Ask, AskEvent, Hearing, Settings, words};

async fn house() -> House {
    let outbox = OutboxSettings { unclear_after: Span::seconds(0), ..OutboxSettings::default() };
    House::open(Settings { outbox, ..Settings::default() }, Pace::LIFTED).await
}

fn command(speaker: &str, name: &str) -> Inbound {
    let mut said = message(speaker, "");
    said.command = Some(Command { name: name.to_owned(), args: String::new() });
    said
}

fn in_group(mut said: Inbound) -> Inbound {
    said.conversation = ConversationId::new(account(), "tg:-100");
    said.place = PlaceId::new(account(), "tg:-100");
    (said.audience, said.addressed) = (Audience::Group, Addressed::Mention);
    said
}

fn texts(arrived: &[(String, String)]) -> Vec<&str> {
    arrived.iter().map(|(_, text)| &**text).collect()
}

#[tokio::test]
async fn every_message_is_answered_once_and_in_order() {
    let house = house().await;
    let (lanes, each) = (60, 12);
    for number in 0..each {
        let batch = (0..lanes).map(|lane| {
            let mut said = message("tg:1", &number.to_string());
            said.conversation = ConversationId::new(account(), format!("tg:lane{lane}"));
            said
        });
        let batch: Vec<_> = batch.collect();
        house.hear(batch.clone()).await;
        house.hear(batch).await;
    }
    let arrived = house.platform.wait_for(lanes * each).await;
    for lane in 0..lanes {
        let key = format!("tg:lane{lane}");
        let said: Vec<_> = arrived.iter().filter(|(c, _)| *c == key).map(|(_, t)| &**t).collect();
        let wanted: Vec<_> = (0..each).map(|n| format!("re {n}")).collect();
        assert_eq!(said, wanted);
    }
    house.close().await;
}

#[tokio::test]
async fn stop_ends_the_running_task_and_says_so_once() {
    let house = house().await;
    house.hear(vec![message("tg:1", "hang"), message("tg:1", "next")]).await;
    house.hear(vec![command("tg:1", "stop")]).await;
    let arrived = house.platform.wait_for(2).await;
    assert_eq!(texts(&arrived), [words::stopped().as_str(), "re next"]);
    let ledger = std::sync::Arc::clone(&house.ledger);
    house.close().await;
    let states: Vec<_> = ledger.state.lock().unwrap().tasks.values().map(|(_, s)| *s).collect();
    assert_eq!(states, [TaskState::Stopped, TaskState::Done]);
}

#[tokio::test]
async fn commands_are_carried_out_once_and_in_order() {
    let house = house().await;
    let batch = ["start", "id", "status", "reset", "ask", "stop"].map(|name| command("tg:1", name));
    house.hear(batch.to_vec()).await;
    house.hear(batch.to_vec()).await;
    house.hear(vec![message("tg:2", "last")]).await;
    let arrived = house.platform.wait_for(7).await;
    let said: Vec<_> = arrived.iter().filter(|(c, _)| c == "tg:1").map(|(_, t)| &**t).collect();
    assert_eq!(said[0], words::start());
    assert_eq!(said[1], words::ids(&batch[1]));
    assert!(said[2].contains("Nothing is running") && said[2].contains("Store: well"), "{said:?}");
    assert_eq!(said[3..], [words::reset(), words::ask_what(), words::nothing_to_stop()]);
    house.close().await;
}

#[tokio::test]
async fn at_a_pace_parts_keep_their_order() {
    let pace = Pace { per_direct: Duration::from_millis(20), ..Pace::LIFTED };
    let house = House::open(Settings::default(), pace).await;
    house.hear(vec![message("tg:1", "a|b|c"), message("tg:2", "x|y"), message("tg:1", "d")]).await;
    let arrived = house.platform.wait_for(6).await;
    let of = |key: &str| -> Vec<_> {
        arrived.iter().filter(|(c, _)| c == key).map(|(_, t)| t.clone()).collect()
    };
    assert_eq!(of("tg:1"), ["re a", "b", "c", "re d"]);
    assert_eq!(of("tg:2"), ["re x", "y"]);
    house.close().await;
}

#[tokio::test]
async fn in_a_group_only_the_requester_or_the_owner_stops() {
    let house = house().await;
    house.hear(vec![in_group(message("tg:5", "hang"))]).await;
    house.hear(vec![in_group(command("tg:6", "stop"))]).await;
    assert_eq!(texts(&house.platform.wait_for(1).await), [words::not_yours("stop")]);
    house.hear(vec![in_group(command("tg:5", "stop"))]).await;
    assert_eq!(texts(&house.platform.wait_for(2).await)[1], words::stopped());
    house.close().await;
}

#[tokio::test]
async fn a_stopping_daemon_leaves_unfinished_tasks_running_in_the_ledger() {
    let house = house().await;
    house.hear(vec![message("tg:1", "hang")]).await;
    let (ledger, platform) =
        (std::sync::Arc::clone(&house.ledger), std::sync::Arc::clone(&house.platform));
    house.close().await;
    assert_eq!(ledger.state.lock().unwrap().tasks[&1].1, TaskState::Running);
    assert!(platform.arrived.borrow().is_empty());
}

#[tokio::test]
async fn an_unclear_answer_is_repeated_once_marked_before_what_follows() {
    let house = house().await;
    let unclear = || Delivery::Unclear { why: "cut".to_owned() };
    house.platform.trouble.lock().unwrap().push_back(unclear());
    house.hear(vec![message("tg:1", "a|b"), message("tg:1", "c")]).await;
    let arrived = house.platform.wait_for(3).await;
    assert_eq!(texts(&arrived), ["re a (possibly repeated)", "b", "re c"]);
    house.platform.trouble.lock().unwrap().extend([unclear(), unclear()]);
    house.hear(vec![message("tg:1", "d"), message("tg:1", "e")]).await;
    assert_eq!(texts(&house.platform.wait_for(4).await)[3], "re e");
    assert_eq!(house.ledger.part_states(), ["sent", "sent", "sent", "unclear", "sent"]);
    house.close().await;
}

#[tokio::test]
async fn a_closed_conversation_gets_nothing_more() {
    let house = house().await;
    let closed = Delivery::Refused { reason: "blocked".to_owned(), closed: true };
    house.platform.trouble.lock().unwrap().push_back(closed);
    house.hear(vec![message("tg:1", "a|b|c"), message("tg:2", "x")]).await;
    house.platform.wait_for(1).await;
    let (ledger, platform) =
        (std::sync::Arc::clone(&house.ledger), std::sync::Arc::clone(&house.platform));
    house.close().await;
    assert_eq!(texts(&platform.arrived.borrow()), ["re x"]);
    assert_eq!(ledger.part_states(), ["refused", "refused", "refused", "sent"]);
}

#[tokio::test]
async fn a_retry_is_waited_for_and_its_penalty_kept() {
    let house = house().await;
    let retry = Delivery::Retry { after: Duration::from_secs(3), why: "429".into(), account: true };
    house.platform.trouble.lock().unwrap().push_back(retry);
    house.hear(vec![message("tg:1", "a")]).await;
    assert_eq!(texts(&house.platform.wait_for(1).await), ["re a"]);
    assert_eq!(house.ledger.state.lock().unwrap().penalties, ["account"]);
    house.close().await;
}

#[tokio::test]
async fn a_broken_store_acknowledges_nothing_and_goes_on_when_it_is_whole() {
    let house = house().await;
    house.ledger.broken.store(true, Ordering::SeqCst);
    let said = message("tg:1", "a");
    assert!(house.inbox.accept(vec![said.clone()], None).await.is_err());
    assert!(!house.desk.health.is_whole());
    house.ledger.broken.store(false, Ordering::SeqCst);
    house.hear(vec![said]).await;
    assert_eq!(texts(&house.platform.wait_for(1).await), ["re a"]);
    house.close().await;
}

#[tokio::test]
async fn a_task_that_met_a_broken_store_goes_on_under_its_claim() {
    let house = house().await;
    house.hear(vec![message("tg:1", "break"), message("tg:1", "b")]).await;
    assert_eq!(texts(&house.platform.wait_for(2).await), ["re break", "re b"]);
    assert!(house.desk.health.is_whole());
    house.close().await;
}

#[tokio::test]
async fn a_moved_group_keeps_its_rights_and_the_owner_hears_of_it() {
    let house = house().await;
    let mut moved = in_group(message("tg:5", ""));
    let to = PlaceId::new(account(), "tg:-1009");
    moved.what = What::Moved { to: to.clone() };
    let mut said = in_group(message("tg:5", "still here?"));
    (said.conversation, said.place) = (ConversationId::new(account(), to.key()), to);
    house.hear(vec![said.clone()]).await;
    house.hear(vec![moved]).await;
    said.key = "another".to_owned();
    house.hear(vec![said]).await;
    let arrived = house.platform.wait_for(3).await;
    let of = |key: &str| arrived.iter().filter(|(c, _)| c == key).count();
    assert_eq!((of("tg:1"), of("tg:-1009")), (1, 2), "notice; hint and answer: {arrived:?}");
    assert!(arrived.iter().any(|(_, text)| text == "re still here?"));
    house.close().await;
}

#[tokio::test]
async fn a_stranger_gets_one_hint_and_no_task() {
    let house = house().await;
    house.hear(vec![message("tg:66", "hi")]).await;
    house.hear(vec![message("tg:66", "hello?"), command("tg:66", "id")]).await;
    house.hear(vec![message("tg:1", "hi")]).await;
    house.platform.wait_for(2).await;
    let ledger = std::sync::Arc::clone(&house.ledger);
    house.close().await;
    let state = ledger.state.lock().unwrap();
    assert_eq!(state.parts.len(), 2);
    assert!(state.parts[&1].0.part.shown.contains(r#"allowed_chat_ids: ["tg:66"]"#));
    assert_eq!(state.tasks.len(), 1);
}

#[tokio::test]
async fn bad_ends_are_honest_lines() {
    let house = house().await;
    let asked = ["panic", "silence", "poison", "fine"].map(|text| message("tg:1", text));
    house.hear(asked.to_vec()).await;
    let arrived = house.platform.wait_for(4).await;
    let wanted = [words::defect(), words::empty_answer(), words::poison(4), "re fine".to_owned()];
    assert_eq!(texts(&arrived), wanted);
    let ledger = std::sync::Arc::clone(&house.ledger);
    house.close().await;
    let state = ledger.state.lock().unwrap();
    // The question of a task without an answer of its own stays in the history.
    assert!(matches!(state.tasks[&1].0.transcript[..], [Item::Heard(_), Item::Said { .. }]));
}

#[tokio::test]
async fn a_speaking_tool_learns_what_became_of_its_words() {
    let house = house().await;
    house.hear(vec![message("tg:1", "speak")]).await;
    let arrived = house.platform.wait_for(2).await;
    assert_eq!(texts(&arrived), ["by a tool", r#"Sent(Some(MessageRef("9")))"#]);
    let refusal = Delivery::Refused { reason: "too big".to_owned(), closed: false };
    house.platform.trouble.lock().unwrap().push_back(refusal);
    house.hear(vec![message("tg:1", "speak")]).await;
    assert_eq!(texts(&house.platform.wait_for(3).await)[2], r#"Refused("too big")"#);
    house.close().await;
}

#[tokio::test]
async fn files_come_into_the_conversations_own_folder() {
    let house = house().await;
    let file = |handle: &str, name: &str| Attachment {
        handle: handle.to_owned(),
        kind: AttachmentKind::Document,
        name: name.to_owned(),
        mime: Some("text/plain".to_owned()),
        size: None,
    };
    let mut said = message("tg:1", "read: ");
    said.attachments = vec![
        file("one", "../../a.txt"),
        file("two!", "a.txt"),
        file("gone", "b.txt"),
        Attachment { size: Some(5000), ..file("big", "c.txt") },
    ];
    house.hear(vec![said]).await;
    let arrived = house.platform.wait_for(1).await;
    insta::assert_snapshot!(arrived[0].1.replace(") ", ")\n"), @r#"
        re read: file_cache_dir/c1/in/a.txt (document, text/plain, 3 bytes)
        file_cache_dir/c1/in/a-2.txt (document, text/plain, 4 bytes)
        b.txt (could not be fetched: the platform has lost it)
        c.txt (could not be fetched: it has 5000 bytes, and at most 1000 are fetched)
        "#);
    let stored = house.cache.path().join("c1/in");
    assert_eq!(std::fs::read_to_string(stored.join("a.txt")).unwrap(), "one");
    assert_eq!(std::fs::read_to_string(stored.join("a-2.txt")).unwrap(), "two!");
    assert_eq!(std::fs::read_dir(stored).unwrap().count(), 2);
    house.close().await;
}

#[tokio::test]
async fn asking_in_the_terminal_streams_to_the_end() {
    let house = house().await;
    let ask = Ask { workspace: "/w".into(), text: "hello".to_owned(), terminal: true };
    let mut events = house.flow.ask(ask).await.unwrap();
    let mut all = Vec::new();
    while let Some(event) = events.recv().await {
        all.push(event);
    }
    assert!(all.iter().any(|e| matches!(e, AskEvent::Happening(Happening::Started { .. }))));
    assert!(all.contains(&AskEvent::Said("re hello".to_owned())));
    assert_eq!(all.last(), Some(&AskEvent::Ended { state: "done".to_owned() }));
    house.close().await;
}

#[tokio::test]
async fn channels_tell_how_they_stand() {
    let house = house().await;
    house.hear(vec![message("tg:1", "a")]).await;
    let states = house.flow.channels();
    assert_eq!(states.iter().map(|s| s.name).collect::<Vec<_>>(), ["cli", "test"]);
    assert_eq!((&states[0].hearing, &states[1].hearing), (&Hearing::Off, &Hearing::Listening));
    assert!(states[0].heard_ago.is_none() && states[1].heard_ago.is_some());
    house.close().await;
}
