//! Laws of delivery: marks, outcomes, standing, what the next task is told.

use super::*;
use crate::{DeliveryState, Outcome};
use selkie_domain::ids::PartId;

laws![
    a_part_is_marked_before_it_is_sent,
    a_dead_boots_mark_is_unclear,
    due_parts_keep_the_order_of_rows,
    a_part_knows_how_the_one_before_it_stands,
    an_outcome_moves_the_part,
    another_call_takes_a_parts_place,
    a_part_is_repeated_once,
    a_refusal_may_close_the_conversation,
    a_moved_part_takes_its_place_along,
    standing_follows_the_parts,
    penalties_outlive_a_restart,
];

/// Queues `parts` parts as the answer of a fresh task of conversation `n`.
async fn queued(ledger: &dyn Ledger, n: i64, order: i64, parts: usize) -> Vec<PartId> {
    let claimed = started(ledger, n, order).await;
    let queued = finished(ledger, &claimed.claim, finish("yes", vec![draft(n, parts)])).await;
    queued[0].parts.iter().map(|p| p.id).collect()
}

async fn a_part_is_marked_before_it_is_sent(bed: &dyn Fixture) {
    let ledger = bed.open();
    let parts = queued(ledger.as_ref(), 1, 1, 1).await;
    assert!(ledger.sending(parts[0], &instance("a")).await.unwrap());
    assert!(!ledger.sending(parts[0], &instance("a")).await.unwrap(), "it is being sent");
    assert!(ledger.due(&account(), &instance("a")).await.unwrap().is_empty());
    let standing = ledger.settle(parts[0], Outcome::Sent(receipt("5"))).await.unwrap();
    assert_eq!(standing, DeliveryState::Delivered { message: Some(MessageRef::new("5")) });
    assert!(!ledger.sending(parts[0], &instance("a")).await.unwrap(), "it was sent");
    assert!(!ledger.sending(PartId(999), &instance("a")).await.unwrap(), "there is no such part");
}

async fn a_dead_boots_mark_is_unclear(bed: &dyn Fixture) {
    let ledger = bed.open();
    let parts = queued(ledger.as_ref(), 1, 1, 2).await;
    ledger.sending(parts[0], &instance("a")).await.unwrap();
    drop(ledger);
    let ledger = bed.open();
    let due = ledger.due(&account(), &instance("b")).await.unwrap();
    assert_eq!(due.iter().map(|p| p.unclear).collect::<Vec<_>>(), [true, false]);
    assert_eq!((due[0].id, due[0].attempts), (parts[0], 1));
    assert!(due[0].not_before.is_some(), "to be decided at once");
    assert_eq!(ledger.counts().await.unwrap().unclear, 1);
}

async fn a_part_knows_how_the_one_before_it_stands(bed: &dyn Fixture) {
    let ledger = bed.open();
    let other = queued(ledger.as_ref(), 2, 1, 1).await;
    let parts = queued(ledger.as_ref(), 1, 1, 3).await;
    let before = async |part| ledger.before(part).await.unwrap();
    assert_eq!((before(other[0]).await, before(parts[0]).await), (None, None));
    assert_eq!(before(parts[1]).await, Some(DeliveryState::Open));
    ledger.sending(parts[0], &instance("a")).await.unwrap();
    ledger.settle(parts[0], Outcome::Sent(receipt("5"))).await.unwrap();
    let message = Some(MessageRef::new("5"));
    assert_eq!(before(parts[1]).await, Some(DeliveryState::Delivered { message }));
    ledger.settle(parts[1], Outcome::LeftUnclear).await.unwrap();
    assert_eq!(before(parts[2]).await, Some(DeliveryState::Unclear));
}

async fn due_parts_keep_the_order_of_rows(bed: &dyn Fixture) {
    let ledger = bed.open();
    let mut expected = Vec::new();
    for order in 1..=3 {
        expected.extend(queued(ledger.as_ref(), order, 1, 2).await);
    }
    let due = ledger.due(&account(), &instance("a")).await.unwrap();
    assert_eq!(due.iter().map(|p| p.id).collect::<Vec<_>>(), expected);
    assert!(expected.is_sorted());
    assert!(ledger.due(&AccountId::new("tg:9"), &instance("a")).await.unwrap().is_empty());
}

async fn an_outcome_moves_the_part(bed: &dyn Fixture) {
    let ledger = bed.open();
    let part = queued(ledger.as_ref(), 1, 1, 1).await[0];
    ledger.sending(part, &instance("a")).await.unwrap();
    let retry = Outcome::Retry { at: at(9), why: "429".to_owned() };
    assert_eq!(ledger.settle(part, retry).await.unwrap(), DeliveryState::Open);
    let due = ledger.due(&account(), &instance("a")).await.unwrap().remove(0);
    assert_eq!((due.not_before, due.unclear, due.attempts), (Some(at(9)), false, 1));
    ledger.sending(part, &instance("a")).await.unwrap();
    let unclear = Outcome::Unclear { decide_at: at(30), why: "reset".to_owned() };
    assert_eq!(ledger.settle(part, unclear).await.unwrap(), DeliveryState::Open);
    let due = ledger.due(&account(), &instance("a")).await.unwrap().remove(0);
    assert_eq!((due.not_before, due.unclear, due.attempts), (Some(at(30)), true, 2));
    assert_eq!(ledger.settle(part, Outcome::LeftUnclear).await.unwrap(), DeliveryState::Unclear);
    assert!(ledger.due(&account(), &instance("a")).await.unwrap().is_empty());
    let next = started(ledger.as_ref(), 1, 2).await;
    assert_eq!(next.undelivered, ["hello 0"]);
    finished(ledger.as_ref(), &next.claim, finish("yes", vec![])).await;
    assert!(started(ledger.as_ref(), 1, 3).await.undelivered.is_empty(), "told once");
    // Proof that comes late is taken all the same.
    let late = ledger.settle(part, Outcome::Sent(receipt("6"))).await.unwrap();
    assert!(matches!(late, DeliveryState::Delivered { .. }));
}

async fn another_call_takes_a_parts_place(bed: &dyn Fixture) {
    let ledger = bed.open();
    let part = queued(ledger.as_ref(), 1, 1, 1).await[0];
    ledger.sending(part, &instance("a")).await.unwrap();
    let other = Box::new(Part { call: serde_json::json!("other"), ..draft(1, 1).parts.remove(0) });
    let instead = Outcome::Instead { part: other, why: "the first form is dead".to_owned() };
    assert_eq!(ledger.settle(part, instead).await.unwrap(), DeliveryState::Open);
    let due = ledger.due(&account(), &instance("a")).await.unwrap().remove(0);
    assert_eq!((due.part.call, due.unclear), (serde_json::json!("other"), false));
    assert!(ledger.sending(part, &instance("a")).await.unwrap());
    ledger.settle(part, Outcome::Sent(receipt("5"))).await.unwrap();
    let chain = ledger.trace("1").await.unwrap();
    assert_eq!(chain[0].outbounds[0].parts[0].state, "sent", "nothing was repeated");
}

async fn a_part_is_repeated_once(bed: &dyn Fixture) {
    let ledger = bed.open();
    let part = queued(ledger.as_ref(), 1, 1, 1).await[0];
    let marked = || {
        Box::new(Part { shown: "(possibly repeated)".to_owned(), ..draft(1, 1).parts.remove(0) })
    };
    ledger.sending(part, &instance("a")).await.unwrap();
    let unclear = || Outcome::Unclear { decide_at: at(30), why: "reset".to_owned() };
    ledger.settle(part, unclear()).await.unwrap();
    assert_eq!(ledger.settle(part, Outcome::Repeat(marked())).await.unwrap(), DeliveryState::Open);
    let due = ledger.due(&account(), &instance("a")).await.unwrap().remove(0);
    assert_eq!((due.part.shown.as_str(), due.unclear), ("(possibly repeated)", false));
    ledger.sending(part, &instance("a")).await.unwrap();
    ledger.settle(part, unclear()).await.unwrap();
    let again = ledger.settle(part, Outcome::Repeat(marked())).await.unwrap();
    assert_eq!(again, DeliveryState::Unclear, "once is all");
    ledger.settle(part, Outcome::Sent(receipt("7"))).await.unwrap();
    let chain = ledger.trace("1").await.unwrap();
    assert_eq!(chain[0].outbounds[0].parts[0].state, "repeated");
}

async fn a_refusal_may_close_the_conversation(bed: &dyn Fixture) {
    let ledger = bed.open();
    let parts = queued(ledger.as_ref(), 1, 1, 3).await;
    ledger.sending(parts[0], &instance("a")).await.unwrap();
    let refused = Outcome::Refused { reason: "blocked".to_owned(), close: true };
    let standing = ledger.settle(parts[0], refused).await.unwrap();
    assert_eq!(standing, DeliveryState::Refused { reason: "blocked".to_owned() });
    assert!(ledger.due(&account(), &instance("a")).await.unwrap().is_empty(), "all are refused");
    let rows = ledger.conversations(1).await.unwrap();
    assert_eq!(rows[0].closed.as_deref(), Some("blocked"));
    let next = started(ledger.as_ref(), 1, 2).await;
    assert_eq!(next.undelivered, ["hello 0", "hello 1", "hello 2"]);
}

async fn a_moved_part_takes_its_place_along(bed: &dyn Fixture) {
    let ledger = bed.open();
    let part = queued(ledger.as_ref(), 1, 1, 1).await[0];
    ledger.sending(part, &instance("a")).await.unwrap();
    let moved = Outcome::Moved { to: place(5), part: Box::new(draft(5, 1).parts.remove(0)) };
    assert_eq!(ledger.settle(part, moved).await.unwrap(), DeliveryState::Open);
    let due = ledger.due(&account(), &instance("a")).await.unwrap().remove(0);
    assert_eq!((due.id, due.part.conversation), (part, conversation(5)));
    let next = started(ledger.as_ref(), 5, 2).await;
    assert_eq!(next.history.len(), 1, "the history came along");
}

async fn standing_follows_the_parts(bed: &dyn Fixture) {
    let ledger = bed.open();
    let parts = queued(ledger.as_ref(), 1, 1, 2).await;
    let sent = ledger.settle(parts[0], Outcome::Sent(receipt("1"))).await.unwrap();
    assert_eq!(sent, DeliveryState::Open);
    let refused = Outcome::Refused { reason: "too long".to_owned(), close: false };
    let partly = ledger.settle(parts[1], refused).await.unwrap();
    assert_eq!(partly, DeliveryState::Partly { reason: "too long".to_owned() });
    let late = queued(ledger.as_ref(), 1, 2, 1).await;
    assert_eq!(ledger.settle(late[0], Outcome::Expired).await.unwrap(), DeliveryState::Expired);
    let retry = Outcome::Retry { at: at(1), why: "late".to_owned() };
    let still = ledger.settle(late[0], retry).await.unwrap();
    assert_eq!(still, DeliveryState::Expired, "what has ended does not come back");
    assert!(ledger.settle(PartId(999), Outcome::Expired).await.is_err());
}

async fn penalties_outlive_a_restart(bed: &dyn Fixture) {
    let ledger = bed.open();
    ledger.penalty(&account(), "tg:-1", at(10)).await.unwrap();
    ledger.penalty(&account(), "", at(5)).await.unwrap();
    ledger.penalty(&account(), "", at(20)).await.unwrap();
    drop(ledger);
    let ledger = bed.open();
    let all = ledger.penalties(&account(), at(9)).await.unwrap();
    assert_eq!(all, [(String::new(), at(20)), ("tg:-1".to_owned(), at(10))]);
    assert_eq!(ledger.penalties(&account(), at(10)).await.unwrap().len(), 1);
    assert!(ledger.penalties(&AccountId::new("tg:9"), at(0)).await.unwrap().is_empty());
}
