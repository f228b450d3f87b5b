//! Laws of commands: carried out once, stops and interruptions, resets, and what a speaker writes in a row.

use super::*;
use crate::store::{CommandEffect, Said, StopAnswers};

laws![
    a_place_works_where_its_owner_says,
    a_command_is_carried_out_once,
    a_stop_ends_what_was_begun,
    a_stop_is_the_requesters_and_says_what_it_found,
    a_message_interrupts_its_speakers_task,
    a_speakers_messages_in_a_row_are_one_task,
    a_reset_raises_the_epoch,
];

/// Stores a command row of conversation `n`.
async fn command(ledger: &dyn Ledger, n: i64, order: i64) -> crate::domain::ids::InboxId {
    let accepted = push(ledger, arrival(message(n, order), Disposition::Command), no_fuse()).await;
    assert_eq!(accepted.commands.len(), 1);
    accepted.commands[0].0
}

/// Sets the folder of place `n` by a command.
async fn works_in(ledger: &dyn Ledger, n: i64, path: Option<&str>) {
    let order = 100 + path.map_or(0, |p| p.len() as i64);
    let row = command(ledger, n, order).await;
    let effect = CommandEffect::Workspace(path.map(str::to_owned), Some(draft(n, 1)));
    assert_eq!(ledger.command(row, effect).await.unwrap().unwrap().queued.unwrap().parts.len(), 1);
}

async fn a_place_works_where_its_owner_says(bed: &dyn Bed) {
    let ledger = bed.open();
    works_in(ledger.as_ref(), 1, Some("/a")).await;
    works_in(ledger.as_ref(), 1, Some("/bb")).await;
    assert_eq!(ledger.workspace(&conversation(1)).await.unwrap().as_deref(), Some("/bb"));
    assert_eq!(ledger.workspace(&conversation(2)).await.unwrap(), None);
    let row = command(ledger.as_ref(), 1, 1).await;
    ledger.command(row, CommandEffect::Reset(draft(1, 1))).await.unwrap();
    let claimed = started(ledger.as_ref(), 1, 2).await;
    assert_eq!(claimed.workspace.as_deref(), Some("/bb"), "a reset leaves it");
    works_in(ledger.as_ref(), 1, None).await;
    assert_eq!(ledger.workspace(&conversation(1)).await.unwrap(), None);
}

async fn a_command_is_carried_out_once(bed: &dyn Bed) {
    let ledger = bed.open();
    let row = command(ledger.as_ref(), 1, 1).await;
    let second = command(ledger.as_ref(), 1, 2).await;
    drop(ledger);
    let ledger = bed.open();
    let open = ledger.open_commands().await.unwrap();
    assert_eq!(open.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [row, second]);
    let say = || CommandEffect::Say(Some(draft(1, 2)));
    let done = ledger.command(row, say()).await.unwrap().unwrap();
    let parts = done.queued.unwrap().parts;
    assert_eq!(parts.len(), 2);
    assert!(parts[0].answer && parts[0].id < parts[1].id);
    assert!(ledger.command(row, say()).await.unwrap().is_none());
    assert_eq!(ledger.open_commands().await.unwrap().len(), 1);
    assert_eq!(ledger.due(&account(), &boot("a")).await.unwrap(), parts);
}

fn stop() -> CommandEffect {
    stop_by(None)
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
    CommandEffect::Stop { by: by.map(PersonId::new), answers: Box::new(answers) }
}

async fn a_stop_is_the_requesters_and_says_what_it_found(bed: &dyn Bed) {
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

async fn a_message_interrupts_its_speakers_task(bed: &dyn Bed) {
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
    let Said::New(queued) = said else { panic!("{said:?}") };
    assert!(arrives(2, "tg:2", Trust::Allowed).await.stopping.is_empty(), "not theirs: it waits");
    assert_eq!(arrives(3, "tg:1", Trust::Allowed).await.stopping, [first.claim.task]);
    assert!(!ledger.sending(queued.parts[0].id, &boot("a")).await.unwrap(), "unsent parts, too");
    assert_eq!(ledger.counts().await.unwrap().waiting, 2, "nothing that waits is dropped");
    finished(ledger.as_ref(), &first.claim, finish("late", vec![])).await;
    let second = ledger.claim(&lane(1), &boot("a"), at(0)).await.unwrap().unwrap();
    let owner = arrives(4, "tg:9", Trust::Owner).await;
    assert_eq!(owner.stopping, [second.claim.task], "an owner interrupts everybody");
}

async fn a_speakers_messages_in_a_row_are_one_task(bed: &dyn Bed) {
    let ledger = bed.open();
    let says = async |order, second, now| {
        let mut arrival = task(message(1, order));
        let Disposition::Task(new) = &mut arrival.disposition else { panic!("no task") };
        new.gathers = Some("say:tg:1".to_owned());
        new.not_before = Some(at(second));
        push(ledger.as_ref(), arrival, Fuse { now: at(now), ..no_fuse() }).await
    };
    says(1, 2, 0).await;
    says(2, 3, 1).await;
    assert_eq!(ledger.next_wake(at(1)).await.unwrap(), Some(at(3)), "each waits for the next");
    assert_eq!(ledger.counts().await.unwrap().waiting, 1);
    says(3, 5, 3).await;
    assert_eq!(ledger.counts().await.unwrap().waiting, 2, "its time was up: a task of its own");
    let claimed = ledger.claim(&lane(1), &boot("a"), at(3)).await.unwrap().unwrap();
    assert_eq!(claimed.heard.iter().map(|(_, m)| m.order).collect::<Vec<_>>(), [1, 2]);
    for second in 4..=40 {
        says(second + 100, second + 2, second).await;
    }
    let latest = ledger.next_wake(at(40)).await.unwrap();
    assert!(ledger.counts().await.unwrap().waiting >= 2, "nobody gathers for ever: {latest:?}");
}

async fn a_stop_ends_what_was_begun(bed: &dyn Bed) {
    let ledger = bed.open();
    let idle = command(ledger.as_ref(), 1, 1).await;
    let done = ledger.command(idle, stop()).await.unwrap().unwrap();
    assert_eq!(done.queued.unwrap().parts.len(), 2, "nothing to stop");

    let long = started(ledger.as_ref(), 1, 2).await;
    let queued = finished(ledger.as_ref(), &long.claim, finish("long", vec![draft(1, 3)])).await;
    assert!(ledger.sending(queued[0].parts[0].id, &boot("a")).await.unwrap());
    let running = started(ledger.as_ref(), 1, 3).await;
    push(ledger.as_ref(), task(message(1, 4)), no_fuse()).await;
    let row = command(ledger.as_ref(), 1, 5).await;
    let done = ledger.command(row, stop()).await.unwrap().unwrap();
    assert_eq!(done.stopping, [running.claim.task]);
    assert_eq!(done.queued.unwrap().parts.len(), 1);
    assert!(!ledger.sending(queued[0].parts[1].id, &boot("a")).await.unwrap(), "withdrawn");
    let step = Advance::Step {
        append: vec![],
        header: "{}".to_owned(),
        facts: None,
        usage: Usage::default(),
        durable: false,
    };
    let told = ledger.commit(&running.claim, step).await.unwrap();
    assert!(matches!(told, Committed::Continue { stop: true, .. }));
    assert_eq!(ledger.counts().await.unwrap().waiting, 1, "what waits is not dropped");
}

async fn a_reset_raises_the_epoch(bed: &dyn Bed) {
    let ledger = bed.open();
    let first = started(ledger.as_ref(), 1, 1).await;
    finished(ledger.as_ref(), &first.claim, finish("old", vec![])).await;
    ledger.set_todos(&conversation(1), "[]".to_owned()).await.unwrap();
    let running = started(ledger.as_ref(), 1, 2).await;
    assert_eq!(running.history.len(), 1);
    let row = command(ledger.as_ref(), 1, 3).await;
    let done = ledger.command(row, CommandEffect::Reset(draft(1, 1))).await.unwrap().unwrap();
    assert_eq!(done.stopping, [running.claim.task]);
    assert_eq!(ledger.todos(&conversation(1)).await.unwrap(), None);
    finished(ledger.as_ref(), &running.claim, finish("late", vec![])).await;
    let new = started(ledger.as_ref(), 1, 4).await;
    assert!(new.history.is_empty(), "the old task wrote under its own epoch: {:?}", new.history);
    assert_eq!(ledger.conversations(1).await.unwrap()[0].epoch, 1);
}
