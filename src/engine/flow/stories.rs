//! Stories of flow alone: its own parts run, over the real store, with a platform and a runner of its own.

use std::sync::Arc;
use std::time::Duration;

use chrono::DateTime;
use selkie_channel_core::{
    AddressReason, AllowList, Attachment, AttachmentKind, Audience, Command, ConversationId,
    Delivery, Inbound, Inbox as _, Pace, PlaceId, What,
};

use crate::delivery::account::ListenState;
use crate::delivery::settings::OutboxSettings;
use crate::flow::testing::{self, Fixture, account, message};
use crate::intake::messages;
use crate::intake::policy;
use crate::intake::policy::Policy;
use crate::intake::settings::{Pairing, Settings};
use crate::terminal::ask::Ask;
use crate::terminal::ask::AskEvent;
use crate::work;
use selkie_domain::facts::Trust;
use selkie_domain::ids::Instance;
use selkie_domain::span::Span;
use selkie_domain::task::{Lane, TaskState};
use selkie_domain::transcript::Item;
use selkie_store::read::Reader;
use selkie_store::sqlite::testing::limit_growth;
use selkie_store::{Arrival, Delivery as _, Fuse, Intake as _, Work as _};

async fn house() -> Fixture {
    let outbox = OutboxSettings { unclear_after: Span::seconds(0), ..OutboxSettings::default() };
    let pairing = Pairing::Off;
    Fixture::open(Settings { outbox, pairing, ..Settings::default() }, Pace::LIFTED).await
}

fn command(speaker: &str, name: &str) -> Inbound {
    let mut said = message(speaker, "");
    said.command = Some(Command { name: name.to_owned(), args: String::new() });
    said
}

fn in_group(mut said: Inbound) -> Inbound {
    said.conversation = ConversationId::new(account(), "tg:-100");
    said.place = PlaceId::new(account(), "tg:-100");
    (said.audience, said.addressed) = (Audience::Group, AddressReason::Mention);
    said
}

/// Stores a message as an earlier process did whose config listened to everyone.
async fn store_earlier(house: &Fixture, said: Inbound) {
    let everyone = AllowList::everyone();
    let disposition = house.rules().of(&house.account(), |today| {
        policy::dispose(&said, &Policy { allow: &everyone, ..*today })
    });
    let fuse = Fuse {
        permits: 0,
        instance: Instance("old".to_owned()),
        now: house.context.runtime.clock.now(),
    };
    let batch = vec![Arrival::new(said, disposition)];
    house.ledger.accept(batch, None, fuse).await.unwrap();
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
    assert_eq!(texts(&arrived), [messages::stopped(&[]).as_str(), "re next"]);
    let left = house.close().await;
    assert_eq!(left.tasks().await, [(TaskState::Stopped, 1), (TaskState::Done, 1)]);
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
    assert_eq!(said[0], messages::start(Trust::Owner));
    assert_eq!(
        said[1],
        messages::ids(&batch[1].speaker.id, &batch[1].place, &batch[1].conversation)
    );
    assert!(said[2].contains("Nothing is running") && said[2].contains("Store: fine"), "{said:?}");
    assert_eq!(
        said[3..],
        [messages::reset(None), messages::ASK_WHAT.to_owned(), messages::nothing_to_stop(&[])]
    );
    house.close().await;
}

#[tokio::test]
async fn an_answer_that_breaks_the_rendering_ends_its_task_and_no_other() {
    let house = house().await;
    house.hear(vec![message("tg:1", "unrenderable"), message("tg:1", "next")]).await;
    let arrived = house.platform.wait_for(2).await;
    assert_eq!(texts(&arrived), [work::messages::defect().as_str(), "re next"]);
    let left = house.close().await;
    assert_eq!(left.tasks().await, [(TaskState::Failed, 1), (TaskState::Done, 1)]);
}

#[tokio::test]
async fn at_a_pace_parts_keep_their_order() {
    let pace = Pace { per_direct: Duration::from_millis(20), ..Pace::LIFTED };
    let house = Fixture::open(Settings::default(), pace).await;
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
    assert_eq!(texts(&house.platform.wait_for(1).await), [messages::not_yours("stop")]);
    house.hear(vec![in_group(command("tg:5", "stop"))]).await;
    assert_eq!(texts(&house.platform.wait_for(2).await)[1], messages::stopped(&[]));
    house.close().await;
}

#[tokio::test]
async fn a_stopping_daemon_gives_its_tasks_back_and_that_is_no_attempt() {
    let house = house().await;
    house.hear(vec![message("tg:1", "hang")]).await;
    let platform = Arc::clone(&house.platform);
    let left = house.close().await;
    assert_eq!(left.tasks().await, [(TaskState::Waiting, 0)]);
    assert!(platform.arrived.borrow().is_empty());
}

#[tokio::test]
async fn who_is_not_listened_to_any_more_is_not_answered() {
    let house = testing::desk();
    for who in ["tg:66", "tg:2"] {
        store_earlier(&house, message(who, "and me?")).await;
    }
    house.begin().await;
    let arrived = house.platform.wait_for(1).await;
    let ignored = house.context.storage.ledger.tasks(None, 9).await.unwrap().pop().unwrap();
    assert_eq!(arrived, [("tg:2".to_owned(), "re and me?".to_owned())]);
    let left = house.close().await;
    assert_eq!(left.tasks().await, [(TaskState::Failed, 1), (TaskState::Done, 1)]);
    let ignored = left.ledger.task(ignored.id).await.unwrap().unwrap();
    assert_eq!(ignored.row.why.as_deref(), Some("ignored: not_allowed any more"));
    assert!(ignored.transcript.is_empty(), "no history of it");
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
    let left = house.close().await;
    assert_eq!(left.parts().await, ["repeated", "sent", "sent", "unclear", "sent"]);
}

#[tokio::test]
async fn a_part_that_follows_goes_out_with_the_message_before_it_or_not_at_all() {
    let house = house().await;
    house.hear(vec![message("tg:1", "a|+b|+c")]).await;
    let arrived = house.platform.wait_for(3).await;
    assert_eq!(texts(&arrived), ["re a", "+b to 9", "+c to 9"]);
    let refused = Delivery::Refused { reason: "no".to_owned(), closed: false };
    house.platform.trouble.lock().unwrap().push_back(refused);
    house.hear(vec![message("tg:1", "d|+e|+f"), message("tg:1", "g")]).await;
    assert_eq!(texts(&house.platform.wait_for(4).await)[3], "re g");
    let left = house.close().await;
    let parts = ["sent", "sent", "sent", "refused", "refused", "refused", "sent"];
    assert_eq!(left.parts().await, parts);
}

#[tokio::test]
async fn a_closed_conversation_gets_nothing_more() {
    let house = house().await;
    let closed = Delivery::Refused { reason: "blocked".to_owned(), closed: true };
    house.platform.trouble.lock().unwrap().push_back(closed);
    house.hear(vec![message("tg:1", "a|b|c"), message("tg:2", "x")]).await;
    house.platform.wait_for(1).await;
    let platform = Arc::clone(&house.platform);
    let left = house.close().await;
    assert_eq!(texts(&platform.arrived.borrow()), ["re x"]);
    assert_eq!(left.parts().await, ["refused", "refused", "refused", "sent"]);
}

#[tokio::test]
async fn a_retry_is_waited_for_and_its_penalty_kept() {
    let house = house().await;
    let retry = Delivery::Retry { after: Duration::from_secs(3), why: "429".into(), account: true };
    house.platform.trouble.lock().unwrap().push_back(retry);
    house.hear(vec![message("tg:1", "a")]).await;
    assert_eq!(texts(&house.platform.wait_for(1).await), ["re a"]);
    let penalties = house.ledger.penalties(&account(), DateTime::UNIX_EPOCH).await.unwrap();
    assert_eq!(penalties.iter().map(|(scope, _)| &**scope).collect::<Vec<_>>(), ["account"]);
    house.close().await;
}

#[tokio::test]
async fn a_broken_store_acknowledges_nothing_and_goes_on_when_it_is_whole() {
    let house = house().await;
    limit_growth(&house.ledger, 0).await;
    let long = "a".repeat(200_000);
    let said = message("tg:1", &long);
    assert!(house.inbox.accept(vec![said.clone()], None).await.is_err());
    assert!(!house.context.storage.health.is_whole());
    limit_growth(&house.ledger, 10_000).await;
    house.hear(vec![said]).await;
    assert_eq!(texts(&house.platform.wait_for(1).await), [format!("re {long}")]);
    house.close().await;
}

#[tokio::test]
async fn a_task_that_met_a_broken_store_goes_on_under_its_claim() {
    let house = house().await;
    house.hear(vec![message("tg:1", "break"), message("tg:1", "b")]).await;
    assert_eq!(texts(&house.platform.wait_for(2).await), ["re break", "re b"]);
    assert!(house.context.storage.health.is_whole());
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
async fn a_stranger_gets_one_hint_and_their_id_and_no_task() {
    let house = house().await;
    house.hear(vec![message("tg:66", "hi")]).await;
    house.hear(vec![message("tg:66", "hello?"), command("tg:66", "id")]).await;
    house.hear(vec![message("tg:1", "hi")]).await;
    house.platform.wait_for(3).await;
    let platform = Arc::clone(&house.platform);
    let left = house.close().await;
    let arrived = platform.arrived.borrow();
    assert_eq!(arrived.len(), 3);
    assert!(texts(&arrived).iter().any(|t| t.contains("Your id is `tg:66`")));
    drop(arrived);
    assert_eq!(left.tasks().await, [(TaskState::Done, 1)]);
}

#[tokio::test]
async fn bad_ends_are_honest_lines() {
    let house = house().await;
    let asked = ["panic", "silence", "fine"].map(|text| message("tg:1", text));
    house.hear(asked.to_vec()).await;
    let arrived = house.platform.wait_for(3).await;
    assert_eq!(
        texts(&arrived),
        [work::messages::defect(), work::messages::DONE.to_owned(), "re fine".to_owned()]
    );
    let left = house.close().await;
    let first = left.ledger.trace("1").await.unwrap().pop().unwrap().task.unwrap();
    // The question of a task without an answer of its own stays in the history.
    assert!(matches!(first.transcript[..], [Item::Received(_), Item::Said { .. }]));
}

#[tokio::test]
async fn a_task_that_takes_the_process_down_is_given_up_at_its_fourth_claim() {
    let house = testing::desk();
    store_earlier(&house, message("tg:1", "poison")).await;
    let lane = Lane::of(&message("tg:1", "").conversation);
    let now = house.context.runtime.clock.now();
    for instance in ["x", "y", "z"].map(|name| Instance(name.to_owned())) {
        house.ledger.reclaim(&instance, now).await.unwrap();
        house.ledger.claim(&lane, &instance, now).await.unwrap().unwrap();
    }
    house.begin().await;
    assert_eq!(texts(&house.platform.wait_for(1).await), [work::messages::poison(4)]);
    assert_eq!(house.close().await.tasks().await, [(TaskState::Failed, 4)]);
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
async fn what_was_judged_is_sent_and_its_copy_goes_with_the_receipt() {
    let house = house().await;
    let outbox = house.cache.path().join("outbox");
    let retry = Delivery::Retry { after: Duration::ZERO, why: "429".into(), account: false };
    house.platform.trouble.lock().unwrap().push_back(retry);
    house.hear(vec![message("tg:1", "swap")]).await;
    let arrived = house.platform.wait_for(2).await;
    assert_eq!(texts(&arrived), ["judged", r#"Sent(Some(MessageRef("9")))"#]);
    assert_eq!(std::fs::read_dir(&outbox).unwrap().count(), 0);
    house.close().await;
    let next = testing::desk();
    let orphan = next.cache.path().join("outbox/1-of-a-dead-process/a.txt");
    std::fs::create_dir_all(orphan.parent().unwrap()).unwrap();
    std::fs::write(&orphan, "x").unwrap();
    next.begin().await;
    assert!(!orphan.exists());
    next.close().await;
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
        duration: None,
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
        re read: file_cache_dir/c1/in/1/a.txt (document, text/plain, 3 bytes)
        one file_cache_dir/c1/in/1/a-2.txt (document, text/plain, 4 bytes)
        two! b.txt (could not be fetched: the platform has lost it)
        c.txt (could not be fetched: it has 5000 bytes, and at most 1000 are fetched)
        "#);
    let stored = house.cache.path().join("c1/in/1");
    assert_eq!(std::fs::read_to_string(stored.join("a.txt")).unwrap(), "one");
    assert_eq!(std::fs::read_to_string(stored.join("a-2.txt")).unwrap(), "two!");
    assert_eq!(std::fs::read_dir(stored).unwrap().count(), 2);
    house.close().await;
}

#[tokio::test]
async fn asking_in_the_terminal_streams_to_the_end() {
    let house = house().await;
    let ask =
        Ask { workspace: "/w".into(), text: "hello".to_owned(), terminal: true, ..Ask::default() };
    let mut events = house.flow.ask(ask).await.unwrap();
    let mut all = Vec::new();
    while let Some(event) = events.recv().await {
        all.push(event);
    }
    assert!(
        all.iter().any(|e| matches!(e, AskEvent::Progress(it) if it["happening"] == "started"))
    );
    assert!(all.contains(&AskEvent::Said("re hello".to_owned())));
    assert_eq!(all.last(), Some(&AskEvent::Ended("done".to_owned())));
    house.close().await;
}

#[tokio::test]
async fn channels_tell_how_they_stand() {
    let house = house().await;
    house.hear(vec![message("tg:1", "a")]).await;
    let states = house.flow.channels();
    assert_eq!(states.iter().map(|s| s.name).collect::<Vec<_>>(), ["cli", "test"]);
    assert_eq!(
        (&states[0].hearing, &states[1].hearing),
        (&ListenState::Off, &ListenState::Listening)
    );
    assert!(states[0].heard_ago.is_none() && states[1].heard_ago.is_some());
    house.close().await;
}
