//! Laws of what ends: a stop is the requester's, a message interrupts its speaker's task.

use super::*;
use crate::{CommandEffect, SayResult, StopAnswers};
use selkie_domain::ids::InboxId;

laws![a_stop_is_the_requesters_and_says_what_it_found, a_message_interrupts_its_speakers_task,];

async fn command(ledger: &dyn Ledger, n: i64, order: i64) -> InboxId {
    let accepted = push(ledger, arrival(message(n, order), Disposition::Command), no_fuse()).await;
    accepted.commands[0].0
}

/// A stop whose answer has one part when something was stopped, two when nothing was there, three when it
/// is somebody else's, four when it was over.
pub(super) fn stop_by(by: Option<&str>) -> CommandEffect {
    let answers = StopAnswers {
        stopped: draft(1, 1),
        idle: draft(1, 2),
        refused: draft(1, 3),
        finished: draft(1, 4),
    };
    CommandEffect::Stop { by: by.map(PersonId::new), also: Vec::new(), answers: Box::new(answers) }
}

async fn a_stop_is_the_requesters_and_says_what_it_found(bed: &dyn Fixture) {
    let ledger = bed.open();
    let mut order = 0;
    let mut stops = async |by: Option<&str>| {
        order += 1;
        let row = command(ledger.as_ref(), 1, 100 + order).await;
        let done = ledger.command(row, stop_by(by)).await.unwrap().unwrap();
        (done.stopping, done.queued.unwrap().parts.len())
    };
    // The facts of every task here are Ann's, `tg:1`.
    let running = started(ledger.as_ref(), 1, 1).await;
    assert_eq!(stops(Some("tg:2")).await, (vec![], 3), "hers, not theirs");
    assert_eq!(stops(Some("tg:1")).await, (vec![running.claim.task], 1));
    finished(ledger.as_ref(), &running.claim, finish("late", vec![draft(1, 1)])).await;
    assert_eq!(stops(Some("tg:2")).await, (vec![], 3), "what is unsent is hers, too");
    assert_eq!(stops(Some("tg:1")).await, (vec![], 1));
    assert_eq!(stops(Some("tg:1")).await, (vec![], 4), "already finished");
    assert_eq!(stops(None).await, (vec![], 4));
}

async fn a_message_interrupts_its_speakers_task(bed: &dyn Fixture) {
    let ledger = bed.open();
    let arrives = async |order, speaker: &str, trust| {
        let mut arrival = task(message(1, order));
        let Disposition::Task(new) = &mut arrival.disposition else { panic!("no task") };
        new.interrupts = true;
        new.facts.speaker = Some(PersonId::new(speaker));
        new.facts.trust = trust;
        push(ledger.as_ref(), arrival, fuse(1)).await
    };
    let first = arrives(1, "tg:1", Trust::Allowed).await.claimed.remove(0);
    let said = ledger.say(&first.claim, "c1.0", draft(1, 2)).await.unwrap();
    let SayResult::New(queued) = said else { panic!("{said:?}") };
    assert!(arrives(2, "tg:2", Trust::Allowed).await.stopping.is_empty(), "not theirs: it waits");
    assert_eq!(arrives(3, "tg:1", Trust::Allowed).await.stopping, [first.claim.task]);
    assert!(
        !ledger.sending(queued.parts[0].id, &instance("a")).await.unwrap(),
        "unsent parts, too"
    );
    assert_eq!(ledger.counts().await.unwrap().waiting, 2, "nothing that waits is dropped");
    finished(ledger.as_ref(), &first.claim, finish("late", vec![])).await;
    let second = ledger.claim(&lane(1), &instance("a"), at(0)).await.unwrap().unwrap();
    let owner = arrives(4, "tg:9", Trust::Owner).await;
    assert_eq!(owner.stopping, [second.claim.task], "an owner interrupts everybody");
}
