//! Laws of what comes in while a task runs: it waits until a model has seen it, and then never waits again.

use super::*;
use crate::SeenMarks;

laws![
    what_waits_behind_a_claim_is_told,
    what_was_seen_is_the_tasks_own,
    what_nobody_has_seen_waits,
    an_edit_of_a_running_message_is_told_once,
];

fn step(seen: SeenMarks) -> Advance {
    let with = Advance::Step {
        append: vec![said("so far")],
        header: "{}".to_owned(),
        facts: None,
        usage: Usage::default(),
        durable: true,
    };
    Advance::Absorb { seen, with: Box::new(with) }
}

async fn waits(ledger: &dyn Ledger, order: i64) {
    push(ledger, task(message(1, order)), no_fuse()).await;
}

async fn what_waits_behind_a_claim_is_told(bed: &dyn Fixture) {
    let ledger = bed.open();
    let running = started(ledger.as_ref(), 1, 1).await;
    waits(ledger.as_ref(), 3).await;
    waits(ledger.as_ref(), 2).await;
    push(ledger.as_ref(), task(message(2, 1)), no_fuse()).await;
    let mut later = task(message(1, 4));
    let Disposition::Task(new) = &mut later.disposition else { panic!("no task") };
    new.not_before = Some(at(9));
    push(ledger.as_ref(), later, no_fuse()).await;
    let found = ledger.inflow(&running.claim, at(0)).await.unwrap();
    let orders: Vec<_> = found.waiting.iter().map(|w| w.heard[0].1.order).collect();
    assert_eq!(orders, [2, 3], "of this lane, in its order, when their time has come");
    let lost = Claim { number: 7, ..running.claim.clone() };
    assert!(ledger.inflow(&lost, at(0)).await.unwrap().waiting.is_empty());
}

async fn what_was_seen_is_the_tasks_own(bed: &dyn Fixture) {
    let ledger = bed.open();
    let running = started(ledger.as_ref(), 1, 1).await;
    waits(ledger.as_ref(), 2).await;
    let found = ledger.inflow(&running.claim, at(0)).await.unwrap();
    let seen = SeenMarks { tasks: vec![found.waiting[0].seen()], edits: vec![], step: 2 };
    ledger.commit(&running.claim, step(seen.clone())).await.unwrap();
    ledger.commit(&running.claim, step(seen)).await.unwrap();
    assert!(ledger.inflow(&running.claim, at(0)).await.unwrap().waiting.is_empty());
    assert_eq!(ledger.counts().await.unwrap().waiting, 0);
    let chain = ledger.trace("tg:8:-1:2").await.unwrap().remove(0);
    assert_eq!(chain.event().unwrap().disposition, "absorbed: step 2");
    assert_eq!(chain.task.unwrap().row.id, running.claim.task);
    // The process dies: the next claim knows both messages, and none of them waits.
    drop(ledger);
    let ledger = bed.open();
    assert_eq!(ledger.reclaim(&instance("b"), at(0)).await.unwrap(), 1);
    let again = ledger.claim(&lane(1), &instance("b"), at(0)).await.unwrap().unwrap();
    assert_eq!(again.heard.iter().map(|(_, m)| m.order).collect::<Vec<_>>(), [1, 2]);
    let advance = finish("both", vec![]);
    finished(ledger.as_ref(), &again.claim, advance).await;
    assert!(ledger.ready(at(9), 9).await.unwrap().is_empty());
    waits(ledger.as_ref(), 2).await;
    assert_eq!(ledger.counts().await.unwrap().waiting, 0, "redelivered, known");
}

async fn what_nobody_has_seen_waits(bed: &dyn Fixture) {
    let ledger = bed.open();
    let running = started(ledger.as_ref(), 1, 1).await;
    waits(ledger.as_ref(), 2).await;
    ledger.inflow(&running.claim, at(0)).await.unwrap();
    drop(ledger);
    let ledger = bed.open();
    ledger.reclaim(&instance("b"), at(0)).await.unwrap();
    let again = ledger.claim(&lane(1), &instance("b"), at(0)).await.unwrap().unwrap();
    assert_eq!(again.heard.len(), 1);
    let found = ledger.inflow(&again.claim, at(0)).await.unwrap();
    let seen = SeenMarks { tasks: vec![found.waiting[0].seen()], edits: vec![], step: 1 };
    let lost = Claim { number: 7, ..again.claim.clone() };
    ledger.commit(&lost, step(seen.clone())).await.unwrap();
    assert_eq!(ledger.counts().await.unwrap().waiting, 1, "a lost claim takes nothing");
    let with = Box::new(finish("both", vec![]));
    finished(ledger.as_ref(), &again.claim, Advance::Absorb { seen, with }).await;
    assert_eq!(ledger.counts().await.unwrap().waiting, 0, "with the end as well");
    let next = started(ledger.as_ref(), 1, 3).await;
    assert_eq!(next.history.len(), 1, "what was absorbed is no task of the history");
}

async fn an_edit_of_a_running_message_is_told_once(bed: &dyn Fixture) {
    let ledger = bed.open();
    let running = started(ledger.as_ref(), 1, 1).await;
    waits(ledger.as_ref(), 2).await;
    for order in [1, 2] {
        let mut edit = message(1, order);
        edit.key.push_str(":edit");
        (edit.what, edit.text) = (What::Edit, "changed".to_owned());
        push(ledger.as_ref(), arrival(edit, Disposition::Edit), no_fuse()).await;
    }
    let found = ledger.inflow(&running.claim, at(0)).await.unwrap();
    assert_eq!(found.waiting[0].heard[0].1.text, "changed", "it waits: applied");
    let [(row, edit)] = &found.edits[..] else { panic!("{:?}", found.edits) };
    assert_eq!((edit.text.as_str(), edit.order), ("changed", 1));
    let seen = SeenMarks { tasks: vec![], edits: vec![*row], step: 2 };
    ledger.commit(&running.claim, step(seen)).await.unwrap();
    assert!(ledger.inflow(&running.claim, at(0)).await.unwrap().edits.is_empty());
}
