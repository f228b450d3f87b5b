//! Laws of what belongs to one request: what one person sends at once is answered once.

use super::*;
use crate::{JoinedRequest, SeenMarks};

laws![
    a_speakers_messages_in_a_row_are_one_task,
    what_came_in_one_batch_is_one_task,
    what_comes_soon_behind_what_waits_joins_it,
    what_comes_too_late_or_from_somebody_else_is_a_task_of_its_own,
    what_joins_a_running_task_waits_for_its_first_answer,
    what_joined_a_task_that_died_joins_it_again,
    a_line_that_speaks_to_nobody_belongs_to_its_speakers_request,
    a_part_of_an_album_joins_however_late_it_comes,
    what_comes_to_a_task_that_was_read_is_not_taken_with_it,
];

fn says(order: i64, by: &str) -> Arrival {
    let mut arrival = task(message(1, order));
    let Disposition::Task(new) = &mut arrival.disposition else { panic!("no task") };
    let word = format!("say:{by}");
    new.gathers = Some(Gathering { word, ..gathering(seconds(2), NextPiece::Unknown) });
    arrival
}

fn seconds(seconds: i64) -> TimeDelta {
    TimeDelta::seconds(seconds)
}

fn now(second: i64, permits: usize) -> Fuse {
    Fuse { now: at(second), ..fuse(permits) }
}

fn orders(claimed: &TaskClaim) -> Vec<i64> {
    claimed.heard.iter().map(|(_, heard)| heard.order).collect()
}

async fn claimed(ledger: &dyn Ledger, second: i64) -> TaskClaim {
    ledger.claim(&lane(1), &instance("a"), at(second)).await.unwrap().expect("a task")
}

async fn waiting(ledger: &dyn Ledger) -> u64 {
    ledger.counts().await.unwrap().waiting
}

/// A task of Ada's that runs since its message came.
async fn runs(ledger: &dyn Ledger) -> TaskClaim {
    push(ledger, says(1, "tg:1"), now(0, 1)).await.claimed.remove(0)
}

fn answered(seen: SeenMarks) -> Advance {
    let step = Advance::Step {
        append: vec![said("so far")],
        header: "{}".to_owned(),
        facts: None,
        usage: Usage::default(),
        durable: true,
    };
    Advance::Absorb { seen, with: Box::new(step) }
}

async fn what_came_in_one_batch_is_one_task(bed: &dyn Fixture) {
    let ledger = bed.open();
    let batch = vec![says(1, "tg:1"), says(2, "tg:2"), says(3, "tg:1")];
    let accepted = ledger.accept(batch, None, now(0, 9)).await.unwrap();
    let [first] = &accepted.claimed[..] else { panic!("{:?}", accepted.claimed) };
    assert_eq!(orders(first), [1, 3]);
    assert!(accepted.joining.is_empty() && accepted.stopping.is_empty());
    assert_eq!(waiting(ledger.as_ref()).await, 1, "what another person says is theirs");
    let written = |order: i64, second: i64| {
        let mut said = says(order, "tg:3");
        said.inbound.at = at(second);
        said
    };
    let waited_there = vec![written(4, 0), written(5, 600), written(6, 601)];
    ledger.accept(waited_there, None, now(700, 9)).await.unwrap();
    assert_eq!(waiting(ledger.as_ref()).await, 3, "what was written minutes apart is two requests");
}

async fn what_comes_soon_behind_what_waits_joins_it(bed: &dyn Fixture) {
    let ledger = bed.open();
    started(ledger.as_ref(), 1, 0).await;
    for (order, second) in [(1, 0), (2, 2), (3, 4)] {
        push(ledger.as_ref(), says(order, "tg:1"), now(second, 0)).await;
    }
    assert_eq!(waiting(ledger.as_ref()).await, 1);
    push(ledger.as_ref(), says(4, "tg:1"), now(7, 0)).await;
    assert_eq!(waiting(ledger.as_ref()).await, 2, "too late");
    for second in 8..=40 {
        push(ledger.as_ref(), says(second, "tg:1"), now(second, 0)).await;
    }
    assert!(waiting(ledger.as_ref()).await > 2, "nobody's request takes in more for ever");
}

async fn what_comes_too_late_or_from_somebody_else_is_a_task_of_its_own(bed: &dyn Fixture) {
    let ledger = bed.open();
    runs(ledger.as_ref()).await;
    let late = push(ledger.as_ref(), says(2, "tg:1"), now(3, 0)).await;
    let other = push(ledger.as_ref(), says(3, "tg:2"), now(1, 0)).await;
    assert!(late.joining.is_empty() && other.joining.is_empty());
    assert_eq!(waiting(ledger.as_ref()).await, 2);
}

async fn what_joins_a_running_task_waits_for_its_first_answer(bed: &dyn Fixture) {
    let ledger = bed.open();
    let running = runs(ledger.as_ref()).await;
    let mut interrupts = says(2, "tg:1");
    let Disposition::Task(new) = &mut interrupts.disposition else { panic!("no task") };
    new.interrupts = true;
    let accepted = push(ledger.as_ref(), interrupts, now(2, 1)).await;
    let joined = JoinedRequest { task: running.claim.task, until: None };
    assert_eq!((accepted.joining, accepted.stopping), (vec![joined], vec![]));
    let third = push(ledger.as_ref(), says(3, "tg:1"), now(4, 1)).await;
    assert_eq!(third.joining, [joined], "soon behind what has joined it");
    let found = ledger.inflow(&running.claim, at(4)).await.unwrap().waiting;
    assert!(found.len() == 2 && found.iter().all(|waiting| waiting.joins));
    let tasks = vec![found[0].seen()];
    let seen = SeenMarks { tasks, edits: vec![], step: 1 };
    ledger.commit(&running.claim, answered(seen)).await.unwrap();
    let fourth = push(ledger.as_ref(), says(4, "tg:1"), now(5, 1)).await;
    assert!(fourth.joining.is_empty(), "it has answered");
    assert_eq!(waiting(ledger.as_ref()).await, 2, "what it has not seen, and what came since");
    finished(ledger.as_ref(), &running.claim, finish("both", vec![])).await;
    assert_eq!(orders(&claimed(ledger.as_ref(), 5).await), [3]);
}

async fn what_joined_a_task_that_died_joins_it_again(bed: &dyn Fixture) {
    let ledger = bed.open();
    let running = runs(ledger.as_ref()).await;
    assert!(!running.has_joined);
    push(ledger.as_ref(), says(2, "tg:1"), now(1, 1)).await;
    drop(ledger);
    let ledger = bed.open();
    ledger.reclaim(&instance("b"), at(9)).await.unwrap();
    let again = ledger.claim(&lane(1), &instance("b"), at(9)).await.unwrap().unwrap();
    assert_eq!((orders(&again), again.has_joined), (vec![1], true));
    let found = ledger.inflow(&again.claim, at(9)).await.unwrap().waiting;
    assert!(found.len() == 1 && found[0].joins);
}

async fn a_line_that_speaks_to_nobody_belongs_to_its_speakers_request(bed: &dyn Fixture) {
    let ledger = bed.open();
    let line = |order, by: &str| {
        let Arrival { inbound, disposition: Disposition::Task(new), .. } = says(order, by) else {
            panic!("no task")
        };
        Arrival { belongs: Some(new), ..Arrival::new(inbound, Disposition::Context) }
    };
    let before = push(ledger.as_ref(), line(1, "tg:1"), now(0, 9)).await;
    assert!(before.claimed.is_empty(), "there is no request");
    let batch = vec![says(2, "tg:1"), line(3, "tg:1"), line(4, "tg:2")];
    let accepted = ledger.accept(batch, None, now(1, 9)).await.unwrap();
    let [first] = &accepted.claimed[..] else { panic!("{:?}", accepted.claimed) };
    assert_eq!(orders(first), [2, 3]);
    let joining = push(ledger.as_ref(), line(5, "tg:1"), now(2, 9)).await.joining;
    assert_eq!(joining[0].task, first.claim.task);
    assert_eq!(waiting(ledger.as_ref()).await, 1);
    let chain = ledger.trace("tg:8:-1:4").await.unwrap().remove(0);
    assert_eq!(chain.event().unwrap().disposition, "context", "another person's");
}

async fn a_part_of_an_album_joins_however_late_it_comes(bed: &dyn Fixture) {
    let ledger = bed.open();
    let part = |order| {
        let mut arrival = says(order, "tg:1");
        arrival.inbound.album = Some("album".to_owned());
        arrival
    };
    let first = push(ledger.as_ref(), part(1), now(0, 1)).await.claimed.remove(0);
    let late = push(ledger.as_ref(), part(2), now(20, 1)).await;
    assert_eq!(late.joining[0].task, first.claim.task);
    let text = push(ledger.as_ref(), says(3, "tg:1"), now(24, 1)).await;
    assert!(text.joining.is_empty(), "no part of it");
}

async fn what_comes_to_a_task_that_was_read_is_not_taken_with_it(bed: &dyn Fixture) {
    let ledger = bed.open();
    let running = started(ledger.as_ref(), 1, 0).await;
    push(ledger.as_ref(), says(1, "tg:1"), now(0, 0)).await;
    let seen = ledger.inflow(&running.claim, at(1)).await.unwrap().waiting.remove(0).seen();
    push(ledger.as_ref(), says(2, "tg:1"), now(1, 0)).await;
    let seen = SeenMarks { tasks: vec![seen], edits: vec![], step: 2 };
    ledger.commit(&running.claim, answered(seen)).await.unwrap();
    assert_eq!(waiting(ledger.as_ref()).await, 1);
    finished(ledger.as_ref(), &running.claim, finish("the first", vec![])).await;
    let next = claimed(ledger.as_ref(), 1).await;
    assert_eq!((next.claim.task != running.claim.task, orders(&next)), (true, vec![2]));
}

async fn a_speakers_messages_in_a_row_are_one_task(bed: &dyn Fixture) {
    let ledger = bed.open();
    let says = async |order, second, now| {
        let mut arrival = task(message(1, order));
        let Disposition::Task(new) = &mut arrival.disposition else { panic!("no task") };
        new.gathers = Some(gathering(TimeDelta::zero(), NextPiece::Expected));
        new.not_before = Some(at(second));
        push(ledger.as_ref(), arrival, Fuse { now: at(now), ..no_fuse() }).await
    };
    says(1, 2, 0).await;
    says(2, 3, 1).await;
    assert_eq!(ledger.next_wake(at(1)).await.unwrap(), Some(at(3)), "each waits for the next");
    assert_eq!(ledger.counts().await.unwrap().waiting, 1);
    says(3, 5, 3).await;
    assert_eq!(ledger.counts().await.unwrap().waiting, 2, "its time was up: a task of its own");
    let claimed = ledger.claim(&lane(1), &instance("a"), at(3)).await.unwrap().unwrap();
    assert_eq!(claimed.heard.iter().map(|(_, m)| m.order).collect::<Vec<_>>(), [1, 2]);
    for second in 4..=40 {
        says(second + 100, second + 2, second).await;
    }
    let latest = ledger.next_wake(at(40)).await.unwrap();
    assert!(ledger.counts().await.unwrap().waiting >= 2, "nobody gathers for ever: {latest:?}");
}
