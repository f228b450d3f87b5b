//! Many others want something: an owner is answered all the same, and nobody is forgotten.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use selkie_channel_core::{ConversationId, Inbound, Pace};

use crate::flow::testing::{Fixture, account, message};
use crate::intake::settings::{Pairing, Settings};
use crate::work::settings::WorkerSettings;
use selkie_domain::task::TaskState;
use selkie_store::read::Reader;

async fn house(workers: usize) -> Fixture {
    let max_concurrency = NonZeroUsize::new(workers).unwrap();
    let worker = WorkerSettings { max_concurrency };
    let pairing = Pairing::Off;
    Fixture::open(Settings { worker, pairing, ..Settings::default() }, Pace::LIFTED).await
}

/// Somebody's words in a conversation of their own.
fn apart(speaker: &str, lane: usize, text: &str) -> Inbound {
    let mut said = message(speaker, text);
    said.conversation = ConversationId::new(account(), format!("tg:lane{lane}"));
    said
}

async fn running(house: &Fixture) -> usize {
    let tasks = house.ledger.tasks(None, 99).await.unwrap();
    tasks.iter().filter(|task| task.state == TaskState::Running).count()
}

#[tokio::test]
async fn an_owner_is_answered_while_others_hold_every_other_worker() {
    let house = house(3).await;
    for lane in 0..10 {
        house.hear(vec![apart("tg:2", lane, "hang")]).await;
    }
    for lane in 20..25 {
        house.hear(vec![apart("tg:1", lane, "hello")]).await;
        house.platform.wait_for(lane - 19).await;
    }
    // Once more in a batch with others, more owners' lanes than workers.
    let more = (30..34).flat_map(|n| [apart("tg:2", n + 10, "hang"), apart("tg:1", n, "hello")]);
    house.hear(more.collect()).await;
    house.platform.wait_for(9).await;
    assert_eq!(running(&house).await, 2, "the others have what is not kept");
    let left = house.close().await;
    let states = left.tasks().await;
    let count = |state| states.iter().filter(|(s, _)| *s == state).count();
    assert_eq!((count(TaskState::Done), count(TaskState::Waiting)), (9, 14));
}

#[tokio::test]
async fn others_are_all_answered_beside_what_is_kept_for_owners() {
    let house = house(2).await;
    let batch: Vec<_> = (0..6).map(|n| apart("tg:2", n, &n.to_string())).collect();
    house.hear(batch).await;
    let arrived = house.platform.wait_for(6).await;
    let mut said: Vec<_> = arrived.iter().map(|(_, text)| text.clone()).collect();
    said.sort();
    assert_eq!(said, (0..6).map(|n| format!("re {n}")).collect::<Vec<_>>());
    house.close().await;
}

#[tokio::test]
async fn one_worker_is_everybodys() {
    let house = house(1).await;
    house.hear(vec![apart("tg:2", 1, "hello"), apart("tg:1", 2, "hello")]).await;
    house.platform.wait_for(2).await;
    house.close().await;
}

#[tokio::test]
async fn a_crowd_of_strangers_gets_a_few_hints() {
    let house = house(2).await;
    let crowd: Vec<_> = (100..200).map(|n| message(&format!("tg:{n}"), "hello?")).collect();
    house.hear(crowd.clone()).await;
    house.hear(vec![message("tg:1", "hello")]).await;
    let arrived = house.platform.wait_for(21).await;
    let hints = arrived.iter().filter(|(_, text)| text.contains("whom my owner knows")).count();
    assert_eq!(hints, 20);
    assert_eq!(arrived.iter().filter(|(_, text)| text == "re hello").count(), 1);
    house.close().await;
}

#[tokio::test]
async fn strangers_who_write_again_and_again_take_nobody_elses_code() {
    let settings = Settings { pairing: Pairing::Ask, ..Settings::default() };
    let house = Fixture::open(settings, Pace::LIFTED).await;
    // Each writes four times, as people do who get no answer.
    let crowd = (100..440).flat_map(|n| vec![message(&format!("tg:{n}"), "hello?"); 4]);
    let crowd: Vec<_> = crowd.map(|said| Inbound { key: fresh(), ..said }).collect();
    for batch in crowd.chunks(100) {
        house.hear(batch.to_vec()).await;
    }
    house.hear(vec![message("tg:1", "hello")]).await;
    let arrived = house.platform.wait_for(21).await;
    let told = arrived.iter().filter(|(_, text)| text.contains("do not know you"));
    let people: BTreeSet<_> = told.clone().map(|(to, _)| to).collect();
    assert_eq!((told.count(), people.len()), (20, 20), "as many as a minute has room for");
    house.close().await;
}

/// A key of its own.
fn fresh() -> String {
    uuid::Uuid::now_v7().to_string()
}
