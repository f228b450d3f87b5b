//! Whoever asks flow for something may be gone before it is done: what was claimed is worked on, what was
//! stored is sent, and nothing is left behind.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use selkie_channel_core::{Inbox as _, Pace};

use crate::delivery::say::say;
use crate::flow::testing::{Fixture, account, message};
use crate::intake::settings::Settings;
use crate::terminal::ask::Ask;
use crate::terminal::ask::AskEvent;
use crate::terminal::ask::Reply;
use selkie_domain::task::TaskState;
use selkie_store::read::Reader;

/// More than the most places at which any of these futures waits.
const MANY: usize = 40;

async fn house() -> Fixture {
    Fixture::open(Settings::default(), Pace::LIFTED).await
}

/// Polls a future so often and drops it where it waits then; `None` when it had not ended by that.
async fn cut<T>(after: usize, future: impl Future<Output = T>) -> Option<T> {
    let (mut future, mut polls) = (pin!(future), 0);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => {
            polls += 1;
            if polls >= after { Poll::Ready(None) } else { Poll::Pending }
        }
    })
    .await
}

fn ask(text: &str) -> Ask {
    Ask { workspace: "/tmp".into(), text: text.to_owned(), terminal: true, ..Ask::default() }
}

/// Waits until everything that was begun before has ended.
async fn settled(house: &Fixture) {
    let idle = async {
        // What was just handed over gives its verbs to the writer first.
        for _ in 0..99 {
            tokio::task::yield_now().await;
        }
        loop {
            // Behind whatever is still on its way to the writer.
            house.ledger.healthy().await.unwrap();
            let counts = house.ledger.counts().await.unwrap();
            if counts.waiting + counts.running + counts.parked + counts.queued + counts.sending == 0
            {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), idle).await;
    assert!(waited.is_ok(), "left behind: {:?}", house.ledger.counts().await);
}

/// Does it cut off after 1, 2, 3 … polls, until it ends by itself.
async fn everywhere(mut one: impl AsyncFnMut(usize) -> bool) {
    for after in 1..MANY {
        if one(after).await {
            assert!(after > 1, "it never waited");
            return;
        }
    }
    panic!("it does not end");
}

#[tokio::test]
async fn a_receiver_that_is_dropped_anywhere_leaves_no_message_behind() {
    let house = house().await;
    let mut sent = 0;
    everywhere(async |after| {
        let batch = vec![message("tg:1", "one"), message("tg:2", "two")];
        let ended = cut(after, house.inbox.accept(batch.clone(), None)).await.is_some();
        // Not acknowledged, as far as the platform knows: it comes again.
        house.hear(batch).await;
        sent += 2;
        house.platform.wait_for(sent).await;
        settled(&house).await;
        assert_eq!(house.platform.arrived.borrow().len(), sent, "cut after {after}");
        ended
    })
    .await;
    let tasks = house.close().await.tasks().await;
    assert!(tasks.iter().all(|task| *task == (TaskState::Done, 1)), "{tasks:?}");
}

#[tokio::test]
async fn whoever_asks_and_hangs_up_leaves_no_task_behind() {
    let house = house().await;
    // With one that would never end and one that would wait for an answer for an hour.
    for text in ["hello", "hang", "ask me"] {
        for after in 1..MANY {
            let asked = async {
                let mut events = house.flow.ask(ask(text)).await.unwrap();
                while let Some(event) = events.recv().await {
                    if matches!(event, AskEvent::Ended(_) | AskEvent::Asked(_)) {
                        break;
                    }
                }
            };
            // An answer comes by itself; what hangs is always cut.
            let ended = tokio::time::timeout(Duration::from_millis(300), cut(after, asked)).await;
            settled(&house).await;
            if !matches!(ended, Ok(None)) {
                break;
            }
        }
    }
    let (sender, mut events) = (&house.flow, Vec::new());
    let mut stream = sender.ask(ask("and now?")).await.unwrap();
    while let Some(event) = stream.recv().await {
        events.push(event);
    }
    assert!(events.contains(&AskEvent::Said("re and now?".to_owned())), "{events:?}");
    house.close().await;
}

#[tokio::test]
async fn an_answer_at_the_terminal_that_is_cut_off_is_given_or_not() {
    let house = house().await;
    everywhere(async |after| {
        let mut events = house.flow.ask(ask("ask me")).await.unwrap();
        let question = loop {
            match events.recv().await.unwrap() {
                AskEvent::Asked(question) => break question,
                _ => continue,
            }
        };
        let ended = cut(after, house.flow.answer(&question, ask("tea"))).await.is_some();
        let again = house.flow.answer(&question, ask("tea")).await.unwrap();
        assert!(matches!(again, Reply::Taken | Reply::Closed), "{again:?}");
        let mut last = None;
        while let Some(event) = events.recv().await {
            last = Some(event);
        }
        assert_eq!(last, Some(AskEvent::Ended("done".to_owned())), "cut after {after}");
        settled(&house).await;
        ended
    })
    .await;
    house.close().await;
}

#[tokio::test]
async fn words_that_are_stored_are_sent_though_nobody_waits_for_the_receipt() {
    let house = house().await;
    everywhere(async |after| {
        let text = format!("by hand {after}");
        let ended = cut(after, say(&house.flow.outbox, "tg:1", &text)).await.is_some();
        let key = format!("k{after}");
        let noticed = cut(after, house.inbox.notice(&account(), &key, &text)).await.is_some();
        house.platform.wait_for(2 * after).await;
        settled(&house).await;
        let arrived = house.platform.arrived.borrow().clone();
        let said = arrived.iter().filter(|(_, said)| *said == text).count();
        assert_eq!(said, 2, "cut after {after}: {arrived:?}");
        ended && noticed
    })
    .await;
    house.close().await;
}

#[tokio::test]
async fn a_daemon_that_ends_begins_nothing_and_loses_nothing() {
    for after in 1..5 {
        let house = house().await;
        // One runs, and two wait: for its lane, and for a worker.
        house.hear(vec![message("tg:1", "hang"), message("tg:1", "next")]).await;
        house.context.runtime.stop.receivers.cancel();
        cut(after, house.inbox.accept(vec![message("tg:2", "late")], None)).await;
        house.ledger.healthy().await.unwrap();
        settle_claims(&house).await;
        let left = house.close().await;
        let states = left.tasks().await;
        let waiting = (TaskState::Waiting, 0);
        assert_eq!(states[1..], [waiting, waiting], "{states:?}");
        assert_eq!(states[0].0, TaskState::Waiting, "given back at the end");
    }
}

/// Waits until a claim that was made in the last moment is given back.
async fn settle_claims(house: &Fixture) {
    let given_back = async {
        while house.ledger.counts().await.unwrap().waiting < 2 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), given_back).await.unwrap();
}

/// Everything that is said to who asks, to the end.
async fn told(house: &Fixture, text: &str) -> Vec<AskEvent> {
    let mut stream = house.flow.ask(ask(text)).await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = stream.recv().await {
        if !matches!(event, AskEvent::Progress(_)) {
            events.push(event);
        }
    }
    events
}

#[tokio::test]
async fn a_command_in_the_terminal_is_carried_out_and_not_asked() {
    let house = house().await;
    let ended = AskEvent::Ended("done".to_owned());
    for (text, expected) in [
        ("/reset", "A fresh start"),
        ("/plan off", "Plan mode was not on"),
        ("/status", "Nothing is running"),
        ("/ps", "No programs"),
        ("/workspace /srv", "your current folder"),
    ] {
        let events = told(&house, text).await;
        let [AskEvent::Said(said), end] = &events[..] else { panic!("{text}: {events:?}") };
        assert!(said.contains(expected) && *end == ended, "{text}: {events:?}");
    }
    let path = told(&house, "/etc/hosts").await;
    assert_eq!(path[0], AskEvent::Said("re /etc/hosts".to_owned()));
    assert_eq!(house.close().await.tasks().await, [(TaskState::Done, 1)]);
}

#[tokio::test]
async fn who_asks_in_a_folder_with_an_open_question_does_not_answer_it() {
    let house = house().await;
    let mut events = house.flow.ask(ask("ask free")).await.unwrap();
    let question = loop {
        if let AskEvent::Asked(question) = events.recv().await.unwrap() {
            break question;
        }
    };
    assert_eq!(told(&house, "hello").await[0], AskEvent::Said("re hello".to_owned()));
    let status = told(&house, "/status").await;
    let waits = |event: &AskEvent| matches!(event, AskEvent::Said(t) if t.contains("One question"));
    assert!(waits(&status[0]), "{status:?}");
    assert_eq!(house.flow.answer(&question, ask("milk")).await.unwrap(), Reply::Taken);
    while let Some(event) = events.recv().await {
        if let AskEvent::Said(said) = event {
            assert!(said.contains("milk"), "{said}");
        }
    }
    house.close().await;
}
