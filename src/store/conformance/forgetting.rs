//! Laws of places that are forgotten: nothing that was said there is stored any more, and nothing of another place goes.

use chrono::DateTime as Moment;

use super::approving::{OWNERS, parked, sought};
use super::*;
use crate::settings::Since;
use crate::{CommandEffect, Outcome};
use selkie_domain::ids::PartId;

laws![
    what_an_owner_was_asked_for_goes_when_it_has_arrived,
    what_came_of_a_forgotten_request_is_not_told,
    an_answer_on_its_way_goes_when_it_has_arrived,
    what_was_said_in_a_forgotten_place_is_nowhere,
    what_a_running_task_writes_goes_when_it_has_ended,
    another_place_is_not_touched,
];

/// Nothing is too old.
fn since() -> Since {
    let begin = Moment::UNIX_EPOCH;
    Since { transcripts: begin, inbox: begin, outbox: begin, keys: begin, cache: begin }
}

pub async fn forget(ledger: &dyn Ledger, n: i64, order: i64) -> Vec<selkie_domain::ids::TaskId> {
    let said = arrival(message(n, order), Disposition::Command);
    let row = push(ledger, said, no_fuse()).await.fresh[0].row;
    let done =
        ledger.command(row, CommandEffect::Forget(Some(draft(n, 1)))).await.unwrap().unwrap();
    for part in done.queued.unwrap().parts {
        ledger.settle(part.id, Outcome::Sent(receipt("900"))).await.unwrap();
    }
    done.stopping
}

/// Does what the janitor does, until nothing is left to do.
pub async fn swept(ledger: &dyn Ledger) {
    while ledger.forget_old(since()).await.unwrap() > 0 {}
}

/// Everything that is stored of some messages of a place, as JSON.
async fn stored(ledger: &dyn Ledger, n: i64, orders: &[i64]) -> String {
    let mut text = String::new();
    for order in orders {
        let chains = ledger.trace(&format!("tg:8:-{n}:{order}")).await.unwrap();
        text.push_str(&serde_json::to_string(&chains).unwrap());
    }
    text
}

/// A message is answered, and its answer has arrived.
async fn answered(ledger: &dyn Ledger, n: i64, order: i64) {
    let claimed = started(ledger, n, order).await;
    let queued =
        finished(ledger, &claimed.claim, finish("a secret answer", vec![draft(n, 1)])).await;
    for part in queued.iter().flat_map(|queued| &queued.parts) {
        ledger.settle(part.id, Outcome::Sent(receipt(&format!("5{order}")))).await.unwrap();
    }
}

async fn what_was_said_in_a_forgotten_place_is_nowhere(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    answered(ledger, 1, 1).await;
    push(ledger, arrival(message(1, 2), Disposition::Context), no_fuse()).await;
    push(ledger, task(message(1, 3)), no_fuse()).await;
    assert!(stored(ledger, 1, &[1, 2, 3]).await.contains("text 1"));
    forget(ledger, 1, 4).await;
    swept(ledger).await;
    let left = stored(ledger, 1, &[1, 2, 3, 4]).await;
    for word in ["text 1", "text 2", "text 3", "text 4", "secret"] {
        assert!(!left.contains(word), "{word}: {left}");
    }
    let again = push(ledger, task(message(1, 1)), fuse(1)).await;
    assert_eq!((again.known, again.claimed.len()), (1, 0), "its key is known still");
    let next = started(ledger, 1, 5).await;
    assert!(next.history.is_empty() && next.context.is_empty());
    assert_eq!(next.heard.len(), 1, "what waited before is not answered");
}

async fn what_a_running_task_writes_goes_when_it_has_ended(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let running = started(ledger, 1, 1).await;
    answered(ledger, 2, 1).await;
    let stopping = forget(ledger, 1, 2).await;
    assert_eq!(stopping, [running.claim.task]);
    swept(ledger).await;
    let mut end = finish("a secret answer", vec![]);
    let Advance::Finish { end: how, .. } = &mut end else { unreachable!() };
    *how = End::Stopped;
    finished(ledger, &running.claim, end).await;
    swept(ledger).await;
    let left = stored(ledger, 1, &[1, 2]).await;
    assert!(!left.contains("secret") && !left.contains("text 1"), "{left}");
}

async fn another_place_is_not_touched(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    answered(ledger, 1, 1).await;
    answered(ledger, 2, 1).await;
    let before = stored(ledger, 2, &[1]).await;
    forget(ledger, 1, 2).await;
    swept(ledger).await;
    assert_eq!(stored(ledger, 2, &[1]).await, before);
    let next = started(ledger, 2, 2).await;
    assert_eq!(next.history.len(), 1);
}

/// Whether the part of an outbound with only one part is stored: what stands before the one behind it.
async fn is_stored(ledger: &dyn Ledger, part: PartId) -> bool {
    ledger.before(PartId(part.0 + 1)).await.unwrap().is_some()
}

async fn what_an_owner_was_asked_for_goes_when_it_has_arrived(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    parked(ledger, 1, sought("a1")).await;
    let asked = ledger.due(&account(), &instance("a")).await.unwrap().remove(0).id;
    assert!(ledger.sending(asked, &instance("a")).await.unwrap());
    forget(ledger, 1, 20).await;
    swept(ledger).await;
    assert!(ledger.is_forgetting().await.unwrap(), "the request is on its way");
    ledger.settle(asked, Outcome::Sent(receipt("77"))).await.unwrap();
    let row = ledger.approval("a1").await.unwrap().unwrap();
    let outcome = ledger.say_once(&row.notice(&row.asked[0]), draft(OWNERS, 1)).await;
    let outcome = outcome.unwrap().unwrap().parts.remove(0).id;
    swept(ledger).await;
    assert!(is_stored(ledger, asked).await, "so is what came of it");
    ledger.settle(outcome, Outcome::Sent(receipt("78"))).await.unwrap();
    swept(ledger).await;
    assert!(!is_stored(ledger, asked).await && !is_stored(ledger, outcome).await);
    assert_eq!(ledger.approval("a1").await.unwrap(), None);
    assert!(!ledger.is_forgetting().await.unwrap());
}

async fn what_came_of_a_forgotten_request_is_not_told(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    parked(ledger, 1, sought("a1")).await;
    let asked = ledger.due(&account(), &instance("a")).await.unwrap().remove(0).id;
    ledger.settle(asked, Outcome::Sent(receipt("77"))).await.unwrap();
    let row = ledger.approval("a1").await.unwrap().unwrap();
    forget(ledger, 1, 20).await;
    swept(ledger).await;
    let told = ledger.say_once(&row.notice(&row.asked[0]), draft(OWNERS, 1)).await.unwrap();
    assert!(told.is_none(), "it would hold the words again");
}

async fn an_answer_on_its_way_goes_when_it_has_arrived(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let claimed = started(ledger, 1, 1).await;
    let end = finish("a secret answer", vec![draft(1, 1)]);
    let part = finished(ledger, &claimed.claim, end).await[0].parts[0].id;
    assert!(ledger.sending(part, &instance("a")).await.unwrap());
    forget(ledger, 1, 2).await;
    swept(ledger).await;
    assert!(is_stored(ledger, part).await && ledger.is_forgetting().await.unwrap());
    ledger.settle(part, Outcome::Sent(receipt("77"))).await.unwrap();
    swept(ledger).await;
    assert!(!is_stored(ledger, part).await && !ledger.is_forgetting().await.unwrap());
}
