//! Laws of held answers: offered once, fetched once, let go when nobody can fetch them, expired in sight.

use selkie_channel_core::{Body, Choice, Question, ReplyWindow};

use super::*;
use crate::{DeliveryState, FetchEffect, FetchResult, HeldAnswer, Offer, Outcome};
use selkie_domain::ids::InboxId;

laws![
    an_answer_behind_a_button_is_held_and_fetched_once,
    a_tap_before_the_answer_finds_it_at_work,
    without_a_button_nothing_is_held,
    a_fresh_right_to_answer_is_used_at_once,
    a_button_that_never_arrived_lets_the_answer_go,
    what_nobody_fetches_expires_and_is_told,
    a_stop_ends_what_is_held,
    a_closed_conversation_refuses_what_is_held,
    a_lost_claim_offers_nothing,
    a_task_that_waits_in_its_lane_has_a_button_too,
    a_start_finds_the_rights_of_tasks_that_wait,
    the_button_of_an_absorbed_task_leads_to_the_answer_of_the_other,
];

fn window(token: &str) -> ReplyWindow {
    ReplyWindow { token: token.to_owned(), until: at(50), calls: 1, hold_at: Some(at(45)) }
}

fn button(key: &str, token: &str) -> Offer {
    let choice =
        Choice { id: "get".to_owned(), label: "Get".to_owned(), description: String::new() };
    let question = Question {
        key: key.to_owned(),
        markdown: "late".to_owned(),
        choices: vec![choice],
        free_text: false,
        placeholder: String::new(),
    };
    let mut draft = draft(1, 1);
    draft.outbound.body = Body::Held(question);
    draft.outbound.reply_window = Some(Box::new(window(token)));
    Offer { key: key.to_owned(), draft }
}

fn answer(parts: usize, expires: Option<i64>) -> Draft {
    Draft { expires_at: expires.map(at), ..draft(1, parts) }
}

/// A task of conversation 1 with a button, and the button's part.
async fn offered(ledger: &dyn Ledger, order: i64) -> (TaskClaim, QueuedOutbound) {
    let claimed = started(ledger, 1, order).await;
    let offer = button(&format!("h{order}"), "T1");
    let queued = ledger.hold(&claimed.claim, offer).await.unwrap().unwrap();
    assert_eq!(queued.parts.len(), 1);
    (claimed, queued)
}

/// The same, whose answer is held now.
async fn held(
    ledger: &dyn Ledger,
    order: i64,
    expires: Option<i64>,
) -> (QueuedOutbound, Vec<QueuedOutbound>) {
    let (claimed, button) = offered(ledger, order).await;
    let say = vec![answer(2, expires)];
    let queued = finished(ledger, &claimed.claim, finish("yes", say)).await;
    assert!(queued.iter().all(|q| q.parts.is_empty()), "nothing goes to the delivery worker");
    (button, queued)
}

async fn tapped(ledger: &dyn Ledger, order: i64) -> InboxId {
    let stored = push(ledger, arrival(message(1, order), Disposition::Command), no_fuse()).await;
    stored.fresh[0].row
}

async fn state(ledger: &dyn Ledger, key: &str) -> Option<HeldAnswer> {
    let elsewhere = ledger.held(&conversation(7), key).await.unwrap();
    assert_eq!(elsewhere, None, "an answer leaves its conversation for nobody");
    ledger.held(&conversation(1), key).await.unwrap()
}

async fn release(ledger: &dyn Ledger, row: InboxId, key: &str) -> Option<FetchResult> {
    let Some(HeldAnswer::Ready(said)) = state(ledger, key).await else { panic!("not ready") };
    let fresh = Part { shown: "fresh".to_owned(), ..draft(1, 1).parts.remove(0) };
    let parts = said.into_iter().map(|(id, _)| (id, vec![fresh.clone()])).collect();
    ledger.fetch(row, FetchEffect::Release { key: key.to_owned(), parts }).await.unwrap()
}

async fn an_answer_behind_a_button_is_held_and_fetched_once(bed: &dyn Fixture) {
    let ledger = bed.open();
    let (button, _) = held(ledger.as_ref(), 1, None).await;
    ledger.settle(button.parts[0].id, Outcome::Sent(receipt("5"))).await.unwrap();
    let (first, second) = (tapped(ledger.as_ref(), 2).await, tapped(ledger.as_ref(), 3).await);
    drop(ledger);
    let ledger = bed.open();
    assert!(ledger.due(&account(), &instance("b")).await.unwrap().is_empty(), "it waits for a tap");
    let done = release(ledger.as_ref(), first, "h1").await.unwrap();
    assert!(done.done);
    let parts: Vec<_> = done.queued.iter().flat_map(|q| &q.parts).collect();
    assert_eq!(parts.iter().map(|p| p.part.shown.as_str()).collect::<Vec<_>>(), ["fresh"]);
    assert!(parts[0].answer, "it answers who asked");
    assert_eq!(state(ledger.as_ref(), "h1").await, Some(HeldAnswer::Gone));
    let again = FetchEffect::Release { key: "h1".to_owned(), parts: Vec::new() };
    assert!(ledger.fetch(first, again.clone()).await.unwrap().is_none(), "the row is done");
    let late = ledger.fetch(second, again).await.unwrap().unwrap();
    assert!(!late.done && late.queued.is_empty(), "somebody was quicker");
    let due = ledger.due(&account(), &instance("b")).await.unwrap();
    assert_eq!(due.len(), 1, "the fresh part, once");
    let refused = Outcome::Refused { reason: "too late".to_owned(), close: false };
    ledger.settle(due[0].id, refused).await.unwrap();
    assert_eq!(state(ledger.as_ref(), "h1").await, Some(HeldAnswer::Lost));
    assert_eq!(state(ledger.as_ref(), "h9").await, None);
}

async fn a_tap_before_the_answer_finds_it_at_work(bed: &dyn Fixture) {
    let ledger = bed.open();
    let (claimed, _) = offered(ledger.as_ref(), 1).await;
    assert!(ledger.hold(&claimed.claim, button("h2", "T2")).await.unwrap().is_none(), "once");
    let at_work = state(ledger.as_ref(), "h1").await;
    assert!(matches!(at_work, Some(HeldAnswer::Working(_))), "{at_work:?}");
    let tap = tapped(ledger.as_ref(), 2).await;
    let still = FetchEffect::Say(Some(Box::new(button("h1", "T2").draft)));
    let said = ledger.fetch(tap, still.clone()).await.unwrap().unwrap();
    assert!(said.done && said.queued[0].parts.len() == 1);
    assert!(ledger.fetch(tap, still).await.unwrap().is_none(), "said once");
    finished(ledger.as_ref(), &claimed.claim, finish("yes", vec![answer(1, None)])).await;
    assert!(matches!(state(ledger.as_ref(), "h1").await, Some(HeldAnswer::Ready(_))));
}

async fn without_a_button_nothing_is_held(bed: &dyn Fixture) {
    let ledger = bed.open();
    let claimed = started(ledger.as_ref(), 1, 1).await;
    let queued = finished(ledger.as_ref(), &claimed.claim, finish("yes", vec![answer(2, None)]));
    assert_eq!(queued.await[0].parts.len(), 2);
    let swept = ledger.sweep_held(at(9)).await.unwrap();
    assert!(swept.expired.is_empty() && swept.released.is_empty() && swept.next.is_none());
}

async fn a_fresh_right_to_answer_is_used_at_once(bed: &dyn Fixture) {
    let ledger = bed.open();
    let (claimed, _) = offered(ledger.as_ref(), 1).await;
    let mut spent = answer(1, None);
    spent.outbound.reply_window = Some(Box::new(window("T1")));
    let mut fresh = answer(1, None);
    fresh.outbound.reply_window = Some(Box::new(window("T2")));
    let queued = finished(ledger.as_ref(), &claimed.claim, finish("yes", vec![spent, fresh])).await;
    assert_eq!(queued.iter().map(|q| q.parts.len()).collect::<Vec<_>>(), [0, 1]);
}

async fn a_button_that_never_arrived_lets_the_answer_go(bed: &dyn Fixture) {
    let ledger = bed.open();
    let (button, _) = held(ledger.as_ref(), 1, None).await;
    assert!(ledger.sweep_held(at(1)).await.unwrap().released.is_empty(), "it is on its way");
    let refused = Outcome::Refused { reason: "dead".to_owned(), close: false };
    ledger.settle(button.parts[0].id, refused).await.unwrap();
    let released = ledger.sweep_held(at(1)).await.unwrap().released;
    assert_eq!(released.len(), 1);
    assert_eq!(released[0].parts.len(), 2);
    assert_eq!(ledger.due(&account(), &instance("a")).await.unwrap().len(), 2);
    assert!(ledger.sweep_held(at(1)).await.unwrap().released.is_empty(), "once");
    // One of which nobody can tell whether it arrived keeps nobody waiting.
    let (button, _) = held(ledger.as_ref(), 2, None).await;
    ledger.settle(button.parts[0].id, Outcome::LeftUnclear).await.unwrap();
    assert_eq!(ledger.sweep_held(at(1)).await.unwrap().released.len(), 1);
}

async fn what_nobody_fetches_expires_and_is_told(bed: &dyn Fixture) {
    let ledger = bed.open();
    let (button, queued) = held(ledger.as_ref(), 1, Some(20)).await;
    ledger.settle(button.parts[0].id, Outcome::Sent(receipt("5"))).await.unwrap();
    let early = ledger.sweep_held(at(19)).await.unwrap();
    assert!(early.expired.is_empty());
    assert_eq!(early.next, Some(at(20)));
    let swept = ledger.sweep_held(at(20)).await.unwrap();
    assert_eq!((swept.expired, swept.next), (vec![queued[0].outbound], None));
    assert_eq!(state(ledger.as_ref(), "h1").await, Some(HeldAnswer::Lost));
    let next = started(ledger.as_ref(), 1, 2).await;
    assert_eq!(next.undelivered, ["hello 0", "hello 1"]);
    let tap = tapped(ledger.as_ref(), 3).await;
    let late = FetchEffect::Release { key: "h1".to_owned(), parts: Vec::new() };
    assert!(!ledger.fetch(tap, late).await.unwrap().unwrap().done);
}

async fn a_stop_ends_what_is_held(bed: &dyn Fixture) {
    let ledger = bed.open();
    held(ledger.as_ref(), 1, None).await;
    let stop = tapped(ledger.as_ref(), 2).await;
    let effect = super::interrupting::stop_by(None);
    let done = ledger.command(stop, effect).await.unwrap().unwrap();
    assert_eq!(done.queued.unwrap().parts.len(), 1, "there was something to stop");
    assert_eq!(state(ledger.as_ref(), "h1").await, Some(HeldAnswer::Lost));
}

async fn a_closed_conversation_refuses_what_is_held(bed: &dyn Fixture) {
    let ledger = bed.open();
    let (_, queued) = held(ledger.as_ref(), 1, None).await;
    let closed = Disposition::Closed("blocked".to_owned());
    push(ledger.as_ref(), arrival(message(1, 2), closed), no_fuse()).await;
    let chain = ledger.trace("1").await.unwrap();
    let said = chain[0].outbounds.iter().find(|o| o.id == queued[0].outbound).unwrap();
    assert_eq!(said.standing, DeliveryState::Refused { reason: "blocked".to_owned() });
}

async fn a_lost_claim_offers_nothing(bed: &dyn Fixture) {
    let ledger = bed.open();
    let claimed = started(ledger.as_ref(), 1, 1).await;
    finished(ledger.as_ref(), &claimed.claim, finish("yes", vec![])).await;
    assert!(ledger.hold(&claimed.claim, button("h1", "T1")).await.unwrap().is_none());
    assert_eq!(state(ledger.as_ref(), "h1").await, None);
}

async fn a_task_that_waits_in_its_lane_has_a_button_too(bed: &dyn Fixture) {
    let ledger = bed.open();
    let first = started(ledger.as_ref(), 1, 1).await;
    let row = push(ledger.as_ref(), task(message(1, 2)), no_fuse()).await.fresh[0].row;
    let running = push(ledger.as_ref(), task(message(2, 9)), fuse(1)).await.fresh[0].row;
    assert!(ledger.hold_waiting(running, button("h9", "T9")).await.unwrap().is_none(), "it runs");
    let offered = ledger.hold_waiting(row, button("h2", "T2")).await.unwrap().unwrap();
    assert_eq!(offered.parts.len(), 1);
    assert!(ledger.hold_waiting(row, button("h3", "T2")).await.unwrap().is_none(), "once");
    let at_work = state(ledger.as_ref(), "h2").await;
    assert!(matches!(at_work, Some(HeldAnswer::Working(_))), "{at_work:?}");
    finished(ledger.as_ref(), &first.claim, finish("one", vec![answer(1, None)])).await;
}

/// A message of conversation 1 that brings a right to answer, behind a running task.
async fn waits(ledger: &dyn Ledger, order: i64, token: &str) -> InboxId {
    let mut inbound = message(1, order);
    inbound.reply_window = Some(window(token));
    push(ledger, task(inbound), no_fuse()).await.fresh[0].row
}

async fn a_start_finds_the_rights_of_tasks_that_wait(bed: &dyn Fixture) {
    let ledger = bed.open();
    started(ledger.as_ref(), 1, 1).await;
    push(ledger.as_ref(), task(message(1, 2)), no_fuse()).await;
    let row = waits(ledger.as_ref(), 3, "T3").await;
    let with_button = waits(ledger.as_ref(), 4, "T4").await;
    ledger.hold_waiting(with_button, button("h4", "T4")).await.unwrap().unwrap();
    drop(ledger);
    let ledger = bed.open();
    let found = ledger.rights_waiting().await.unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, row);
    assert_eq!(found[0].1.reply_window, Some(window("T3")));
}

async fn the_button_of_an_absorbed_task_leads_to_the_answer_of_the_other(bed: &dyn Fixture) {
    let ledger = bed.open();
    let running = started(ledger.as_ref(), 1, 1).await;
    let row = waits(ledger.as_ref(), 2, "T2").await;
    let queued = ledger.hold_waiting(row, button("h2", "T2")).await.unwrap().unwrap();
    let part = queued.parts[0].id;
    ledger.sending(part, &instance("a")).await.unwrap();
    ledger.settle(part, Outcome::Sent(receipt("9"))).await.unwrap();
    let waiting = ledger.inflow(&running.claim, at(0)).await.unwrap().waiting[0].seen();
    let seen = crate::SeenMarks { tasks: vec![waiting], edits: vec![], step: 2 };
    let end = Box::new(finish("both", vec![answer(1, None)]));
    let behind = async || ledger.held(&conversation(1), "h2").await.unwrap();
    let step = Advance::Step {
        append: Vec::new(),
        header: "{}".to_owned(),
        facts: None,
        usage: Usage::default(),
        durable: false,
    };
    let absorbed = Advance::Absorb { seen, with: Box::new(step) };
    ledger.commit(&running.claim, absorbed).await.unwrap();
    assert_eq!(behind().await, Some(HeldAnswer::Working(running.claim.task)));
    finished(ledger.as_ref(), &running.claim, *end).await;
    assert_eq!(behind().await, Some(HeldAnswer::Gone), "the other's answer is theirs");
}
