//! Laws of questions: asked with the park, answered once and by nobody else's row, expired, withdrawn.

use selkie_channel_core::Choice;

use super::*;
use crate::{CommandEffect, NewQuestion, TapDone, TapEffect};
use selkie_domain::facts::{Mode, Trust};
use selkie_domain::ids::{InboxId, TaskId};
use selkie_domain::question::{Ask, Person, QuestionResult, QuestionState};
use selkie_domain::span::Span;
use selkie_domain::task::ParkedOn;

laws![
    a_question_is_asked_with_its_park,
    a_question_is_answered_once,
    a_tap_row_is_carried_out_once,
    an_answer_wakes_its_task_after_a_restart,
    a_question_expires_and_the_answer_is_late,
    an_answer_before_the_claim_beats_the_expiry,
    a_stop_withdraws_what_is_open,
    a_stop_withdraws_everything_however_much,
    what_nobody_waits_for_any_more_ends,
    a_stop_after_the_answer_ends_the_task,
    a_stopped_task_asks_nothing,
    a_reset_withdraws_and_ends_plan_mode,
    a_parked_conversation_goes_on,
    a_mode_is_learned_with_the_next_write,
    a_waiting_task_is_shown_in_the_mode_of_now,
    a_history_has_the_level_of_what_is_sent_of_it,
    a_question_that_is_refused_wakes_its_task,
    a_question_in_a_closed_conversation_wakes_its_task,
];

/// A question with the choices tea and coffee.
pub(super) fn asking(key: &str, n: i64, free_text: bool) -> NewQuestion {
    let choice = |id: &str, label: &str| Choice {
        id: id.to_owned(),
        label: label.to_owned(),
        description: String::new(),
    };
    NewQuestion {
        key: key.to_owned(),
        person: Person { id: PersonId::new("tg:1"), name: "Ann".to_owned() },
        ask: Ask {
            v: Ask::VERSION,
            markdown: "Tea or coffee?".to_owned(),
            choices: vec![choice("1", "Tea"), choice("2", "Coffee")],
            many: false,
            free_text,
            placeholder: String::new(),
            within: Span::seconds(100),
        },
        expires_at: at(100),
        draft: draft(n, 1),
    }
}

pub(super) fn park(asked: NewQuestion) -> Advance {
    Advance::Park {
        append: vec![said("I ask")],
        header: r#"{"asks":1}"#.to_owned(),
        on: ParkedOn::Question { key: asked.key.clone() },
        wake_at: Some(asked.expires_at),
        ask: Some(Box::new(asked)),
        seek: None,
        usage: Usage::default(),
        hand_over: true,
        now: at(1),
    }
}

/// Parks the task of a new message in conversation `n` on a question.
pub(super) async fn parked(
    ledger: &dyn Ledger,
    (n, order): (i64, i64),
    asked: NewQuestion,
) -> TaskClaim {
    let claimed = started(ledger, n, order).await;
    let committed = ledger.commit(&claimed.claim, park(asked)).await.unwrap();
    let CommitResult::Ended { queued, .. } = committed else { panic!("parked: {committed:?}") };
    assert_eq!(queued.len(), 1, "the question is said");
    claimed
}

/// Stores a tap of conversation `n`.
pub(super) async fn tapped(ledger: &dyn Ledger, n: i64, order: i64) -> InboxId {
    let accepted = push(ledger, tap_of(n, order), no_fuse()).await;
    accepted.commands[0].0
}

fn tap_of(n: i64, order: i64) -> Arrival {
    let mut inbound = message(n, order);
    inbound.key.push_str(":tap");
    inbound.what =
        What::Tap { question: "q1".to_owned(), choice: "1".to_owned(), handle: "h".to_owned() };
    arrival(inbound, Disposition::Tap)
}

fn tea() -> QuestionResult {
    QuestionResult::Chosen { choices: vec!["1".to_owned()] }
}

fn answer(key: &str, given: QuestionResult) -> TapEffect {
    TapEffect::Answer { key: key.to_owned(), given, revision: Some(draft(1, 1)), otherwise: None }
}

pub(super) async fn answered(ledger: &dyn Ledger, row: InboxId, key: &str) -> TapDone {
    ledger.answer(row, answer(key, tea())).await.unwrap().unwrap()
}

async fn state(ledger: &dyn Ledger, key: &str) -> QuestionState {
    ledger.question(&account(), key).await.unwrap().unwrap().state
}

pub(super) async fn claim(ledger: &dyn Ledger, n: i64, second: i64) -> Option<TaskClaim> {
    ledger.claim(&lane(n), &instance("a"), at(second)).await.unwrap()
}

async fn a_question_is_asked_with_its_park(bed: &dyn Fixture) {
    let ledger = bed.open();
    let syncs = ledger.syncs();
    let claimed = parked(ledger.as_ref(), (1, 1), asking("q1", 1, false)).await;
    assert_eq!(ledger.syncs() - syncs, 2, "accept and park");
    drop(ledger);
    let ledger = bed.open();
    let open = ledger.open_questions(Some(&conversation(1))).await.unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!((open[0].key.as_str(), open[0].task), ("q1", claimed.claim.task));
    assert_eq!(open[0].ask, asking("q1", 1, false).ask);
    assert_eq!(open[0].message, None, "it has not arrived yet");
    assert_eq!(ledger.open_questions(None).await.unwrap(), open);
    assert!(ledger.open_questions(Some(&conversation(2))).await.unwrap().is_empty());
    assert_eq!(ledger.next_wake(at(0)).await.unwrap(), Some(at(100)));
    let due = ledger.due(&account(), &instance("a")).await.unwrap();
    assert_eq!(due.len(), 1);
    assert!(ledger.sending(due[0].id, &instance("a")).await.unwrap());
    ledger.settle(due[0].id, crate::Outcome::Sent(receipt("77"))).await.unwrap();
    let question = ledger.question(&account(), "q1").await.unwrap().unwrap();
    assert_eq!(question.message, Some(MessageRef::new("77")));
    assert!(ledger.question(&account(), "q2").await.unwrap().is_none());
    assert!(ledger.question(&AccountId::new("tg:9"), "q1").await.unwrap().is_none());
}

async fn a_question_is_answered_once(bed: &dyn Fixture) {
    let ledger = bed.open();
    let asked = parked(ledger.as_ref(), (1, 1), asking("q1", 1, false)).await;
    let first = tapped(ledger.as_ref(), 1, 2).await;
    let second = tapped(ledger.as_ref(), 1, 3).await;
    let done = answered(ledger.as_ref(), first, "q1").await;
    assert!(done.done);
    assert_eq!(done.ready, Some(lane(1)));
    let part = &done.queued.unwrap().parts[0];
    assert!(!part.answer, "a changed message is no answer that may be repeated");
    let late = answered(ledger.as_ref(), second, "q1").await;
    assert!(!late.done && late.queued.is_none() && late.ready.is_none(), "a double tap");
    let awake = claim(ledger.as_ref(), 1, 5).await.unwrap();
    assert_eq!((awake.claim.task, awake.attempts), (asked.claim.task, 1));
    let settled = awake.settled.unwrap();
    assert_eq!(settled.question.state, QuestionState::Answered);
    assert_eq!(settled.question.given, Some(tea()));
    assert_eq!(settled.by.unwrap().order, 2);
    assert!(awake.open.is_empty(), "its own question");
    assert_eq!(awake.header.as_deref(), Some(r#"{"asks":1}"#));
    let unknown = tapped(ledger.as_ref(), 1, 4).await;
    assert!(!answered(ledger.as_ref(), unknown, "q7").await.done);
}

async fn a_tap_row_is_carried_out_once(bed: &dyn Fixture) {
    let ledger = bed.open();
    parked(ledger.as_ref(), (1, 1), asking("q1", 1, false)).await;
    let row = tapped(ledger.as_ref(), 1, 2).await;
    let again = push(ledger.as_ref(), tap_of(1, 2), no_fuse()).await;
    assert_eq!((again.known, again.commands.len()), (1, 0), "redelivered");
    drop(ledger);
    let ledger = bed.open();
    let open = ledger.open_commands().await.unwrap();
    assert_eq!(open.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [row]);
    assert!(answered(ledger.as_ref(), row, "q1").await.done);
    assert!(ledger.answer(row, answer("q1", tea())).await.unwrap().is_none());
    assert!(ledger.open_commands().await.unwrap().is_empty());
    let nothing = tapped(ledger.as_ref(), 9, 1).await;
    assert!(!ledger.answer(nothing, TapEffect::Nothing).await.unwrap().unwrap().done);
    assert_eq!(ledger.conversations(9).await.unwrap().len(), 1, "a tap makes no conversation");
}

async fn an_answer_wakes_its_task_after_a_restart(bed: &dyn Fixture) {
    let ledger = bed.open();
    let asked = parked(ledger.as_ref(), (1, 1), asking("q1", 1, false)).await;
    drop(ledger);
    let ledger = bed.open();
    assert_eq!(ledger.reclaim(&instance("b"), at(2)).await.unwrap(), 0, "it has no claim");
    let row = tapped(ledger.as_ref(), 1, 2).await;
    answered(ledger.as_ref(), row, "q1").await;
    drop(ledger);
    let ledger = bed.open();
    let awake = ledger.claim(&lane(1), &instance("b"), at(3)).await.unwrap().unwrap();
    assert_eq!(awake.claim.task, asked.claim.task);
    // It dies before anything of the answer is stored: the next claim finds the answer again.
    ledger.reclaim(&instance("c"), at(4)).await.unwrap();
    let again = ledger.claim(&lane(1), &instance("c"), at(5)).await.unwrap().unwrap();
    assert_eq!(again.settled.unwrap().question.given, Some(tea()));
    assert_eq!(again.attempts, 2);
}

async fn a_question_expires_and_the_answer_is_late(bed: &dyn Fixture) {
    let ledger = bed.open();
    let asked = parked(ledger.as_ref(), (1, 1), asking("q1", 1, false)).await;
    assert!(claim(ledger.as_ref(), 1, 99).await.is_none());
    let awake = claim(ledger.as_ref(), 1, 100).await.unwrap();
    assert_eq!(awake.claim.task, asked.claim.task);
    let settled = awake.settled.unwrap();
    assert_eq!(settled.question.state, QuestionState::Expired);
    assert_eq!((settled.question.given, settled.by), (Some(QuestionResult::Expired), None));
    let row = tapped(ledger.as_ref(), 1, 2).await;
    assert!(!answered(ledger.as_ref(), row, "q1").await.done);
    assert_eq!(state(ledger.as_ref(), "q1").await, QuestionState::Expired);
}

async fn an_answer_before_the_claim_beats_the_expiry(bed: &dyn Fixture) {
    let ledger = bed.open();
    parked(ledger.as_ref(), (1, 1), asking("q1", 1, false)).await;
    // Its time is over and nobody has told the model yet.
    let row = tapped(ledger.as_ref(), 1, 200).await;
    assert!(answered(ledger.as_ref(), row, "q1").await.done);
    let awake = claim(ledger.as_ref(), 1, 200).await.unwrap();
    assert_eq!(awake.settled.unwrap().question.state, QuestionState::Answered);
}

/// Stores and carries out a command of conversation `n`.
async fn command(
    ledger: &dyn Ledger,
    (n, order): (i64, i64),
    effect: CommandEffect,
) -> Vec<String> {
    let accepted = push(ledger, arrival(message(n, order), Disposition::Command), no_fuse()).await;
    let done = ledger.command(accepted.commands[0].0, effect).await.unwrap().unwrap();
    done.withdrawn.into_iter().map(|q| q.key).collect()
}

fn stop() -> CommandEffect {
    super::interrupting::stop_by(None)
}

async fn task_state(ledger: &dyn Ledger, task: TaskId) -> &'static str {
    ledger.task(task).await.unwrap().unwrap().row.state.name()
}

async fn a_stop_withdraws_what_is_open(bed: &dyn Fixture) {
    let ledger = bed.open();
    let asked = parked(ledger.as_ref(), (1, 1), asking("q1", 1, false)).await;
    let other = parked(ledger.as_ref(), (2, 1), asking("q2", 2, false)).await;
    assert_eq!(command(ledger.as_ref(), (1, 2), stop()).await, ["q1"]);
    assert_eq!(task_state(ledger.as_ref(), asked.claim.task).await, "stopped");
    assert_eq!(state(ledger.as_ref(), "q1").await, QuestionState::Withdrawn);
    assert_eq!(state(ledger.as_ref(), "q2").await, QuestionState::Open, "another conversation's");
    assert_eq!(task_state(ledger.as_ref(), other.claim.task).await, "parked");
    let row = tapped(ledger.as_ref(), 1, 3).await;
    assert!(!answered(ledger.as_ref(), row, "q1").await.done, "the stop was first");
    assert!(claim(ledger.as_ref(), 1, 500).await.is_none());
    assert!(command(ledger.as_ref(), (1, 4), stop()).await.is_empty());
}

async fn a_stop_withdraws_everything_however_much(bed: &dyn Fixture) {
    const MANY: i64 = 130;
    let ledger = bed.open();
    for order in 1..=MANY {
        parked(ledger.as_ref(), (1, order), asking(&format!("q{order}"), 1, false)).await;
    }
    let withdrawn = command(ledger.as_ref(), (1, MANY + 1), stop()).await;
    assert_eq!(withdrawn.len(), 130, "each has buttons to be taken off");
    for order in 1..=MANY {
        assert_eq!(state(ledger.as_ref(), &format!("q{order}")).await, QuestionState::Withdrawn);
    }
    assert_eq!(ledger.counts().await.unwrap().parked, 0);
}

async fn what_nobody_waits_for_any_more_ends(bed: &dyn Fixture) {
    let ledger = bed.open();
    let asked = parked(ledger.as_ref(), (1, 1), asking("q1", 1, false)).await;
    let runs = started(ledger.as_ref(), 1, 2).await;
    push(ledger.as_ref(), task(message(1, 3)), no_fuse()).await;
    let waits = ledger.tasks(None, 1).await.unwrap()[0].id;
    let tasks = [asked.claim.task, runs.claim.task, waits];
    let mut withdrawn = Vec::new();
    for task in tasks {
        let done = ledger.abandon(task).await.unwrap();
        assert_eq!(done.stopping.len(), 1);
        withdrawn.extend(done.withdrawn.into_iter().map(|question| question.key));
    }
    assert_eq!(withdrawn, ["q1"]);
    assert_eq!(task_state(ledger.as_ref(), asked.claim.task).await, "stopped");
    assert!(ledger.ready(at(5), 9).await.unwrap().is_empty(), "nothing waits in the lane");
    let told = ledger.commit(&runs.claim, park(asking("q2", 1, false))).await.unwrap();
    assert!(matches!(told, CommitResult::Continue { stop: true, .. }), "its worker ends it");
    finished(ledger.as_ref(), &runs.claim, finish("too late", vec![])).await;
    for task in tasks {
        assert!(ledger.abandon(task).await.unwrap().stopping.is_empty(), "it has ended");
    }
}

async fn a_stop_after_the_answer_ends_the_task(bed: &dyn Fixture) {
    let ledger = bed.open();
    let asked = parked(ledger.as_ref(), (1, 1), asking("q1", 1, false)).await;
    let row = tapped(ledger.as_ref(), 1, 2).await;
    assert!(answered(ledger.as_ref(), row, "q1").await.done);
    assert!(command(ledger.as_ref(), (1, 3), stop()).await.is_empty(), "nothing is open");
    assert_eq!(task_state(ledger.as_ref(), asked.claim.task).await, "stopped");
    assert!(claim(ledger.as_ref(), 1, 5).await.is_none());
}

async fn a_stopped_task_asks_nothing(bed: &dyn Fixture) {
    let ledger = bed.open();
    let claimed = started(ledger.as_ref(), 1, 1).await;
    command(ledger.as_ref(), (1, 2), stop()).await;
    let told = ledger.commit(&claimed.claim, park(asking("q1", 1, false))).await.unwrap();
    assert!(matches!(told, CommitResult::Continue { stop: true, .. }));
    assert!(ledger.question(&account(), "q1").await.unwrap().is_none());
}

async fn a_reset_withdraws_and_ends_plan_mode(bed: &dyn Fixture) {
    let ledger = bed.open();
    ledger.set_mode(&conversation(1), Mode::Plan).await.unwrap();
    let asked = parked(ledger.as_ref(), (1, 1), asking("q1", 1, false)).await;
    assert_eq!(asked.facts.mode, Mode::Plan);
    let stored = ledger.task(asked.claim.task).await.unwrap().unwrap();
    assert_eq!(stored.facts.mode, Mode::Plan, "who looks at it later sees the shape it had");
    let reset = CommandEffect::Reset(draft(1, 1));
    assert_eq!(command(ledger.as_ref(), (1, 2), reset).await, ["q1"]);
    assert_eq!(task_state(ledger.as_ref(), asked.claim.task).await, "stopped");
    assert_eq!(ledger.mode(&conversation(1)).await.unwrap(), Mode::Normal);
}

async fn a_parked_conversation_goes_on(bed: &dyn Fixture) {
    let ledger = bed.open();
    let asking_task = started(ledger.as_ref(), 1, 1).await;
    push(ledger.as_ref(), task(message(1, 2)), no_fuse()).await;
    let committed = ledger.commit(&asking_task.claim, park(asking("q1", 1, false))).await.unwrap();
    let CommitResult::Ended { next, .. } = committed else { panic!("parked: {committed:?}") };
    let next = next.unwrap();
    assert_eq!(next.heard[0].1.order, 2, "the lane is handed over");
    assert_eq!(next.open.len(), 1, "it is told what is open");
    assert!(next.settled.is_none());
    let row = tapped(ledger.as_ref(), 1, 3).await;
    let done = answered(ledger.as_ref(), row, "q1").await;
    assert_eq!(done.ready, None, "the lane is busy");
    finished(ledger.as_ref(), &next.claim, finish("between", vec![])).await;
    let awake = claim(ledger.as_ref(), 1, 5).await.unwrap();
    assert_eq!(awake.claim.task, asking_task.claim.task);
    assert_eq!(awake.history, [vec![said("between")]]);
}

async fn a_mode_is_learned_with_the_next_write(bed: &dyn Fixture) {
    let ledger = bed.open();
    assert_eq!(ledger.mode(&conversation(1)).await.unwrap(), Mode::Normal);
    let claimed = started(ledger.as_ref(), 1, 1).await;
    assert_eq!(claimed.facts.mode, Mode::Normal);
    let step = || Advance::Step {
        append: vec![],
        header: "{}".to_owned(),
        facts: None,
        usage: Usage::default(),
        durable: false,
    };
    ledger.set_mode(&conversation(1), Mode::Plan).await.unwrap();
    let told = ledger.commit(&claimed.claim, step()).await.unwrap();
    assert!(matches!(told, CommitResult::Continue { stop: false, mode: Mode::Plan, .. }));
    let off = CommandEffect::Mode(Mode::Normal, Some(draft(1, 1)));
    command(ledger.as_ref(), (1, 2), off).await;
    let told = ledger.commit(&claimed.claim, step()).await.unwrap();
    assert!(matches!(told, CommitResult::Continue { stop: false, mode: Mode::Normal, .. }));
}

async fn a_waiting_task_is_shown_in_the_mode_of_now(bed: &dyn Fixture) {
    let ledger = bed.open();
    let first = started(ledger.as_ref(), 1, 1).await;
    push(ledger.as_ref(), task(message(1, 2)), no_fuse()).await;
    ledger.set_mode(&conversation(1), Mode::Plan).await.unwrap();
    let all = ledger.tasks(Some(&conversation(1)), 2).await.unwrap();
    let waiting = all.iter().find(|row| row.id != first.claim.task).unwrap();
    let mode = async |task| ledger.task(task).await.unwrap().unwrap().facts.mode;
    assert_eq!(mode(waiting.id).await, Mode::Plan);
    assert_eq!(mode(first.claim.task).await, Mode::Normal, "it learns it with its next write");
}

async fn a_history_has_the_level_of_what_is_sent_of_it(bed: &dyn Fixture) {
    let ledger = bed.open();
    let of = async |trust| ledger.level(&conversation(1), trust).await.unwrap();
    let level = async || of(Trust::Stranger).await;
    assert_eq!(of(Trust::Owner).await, Taint::Clean);
    let first = started(ledger.as_ref(), 1, 1).await;
    assert_eq!(first.asked_by, None);
    let trust = first.facts.trust;
    finished(ledger.as_ref(), &first.claim, finish("clean", vec![])).await;
    assert_eq!((of(trust).await, level().await), (Taint::Clean, Taint::Clean));
    let of_more = if trust < Trust::Owner { Taint::Raw } else { Taint::Clean };
    assert_eq!(
        of(Trust::Owner).await,
        of_more,
        "to whoever is trusted more these are others' words"
    );
    let second = started(ledger.as_ref(), 1, 2).await;
    assert_eq!(second.asked_by, Some(trust));
    let mut end = finish("out of a page", vec![]);
    let Advance::Finish { append, .. } = &mut end else { unreachable!() };
    *append = vec![Item::said("out of a page", Taint::Raw)];
    finished(ledger.as_ref(), &second.claim, end).await;
    assert_eq!(level().await, Taint::Derived);
    command(ledger.as_ref(), (1, 3), CommandEffect::Reset(draft(1, 1))).await;
    assert_eq!(level().await, Taint::Clean, "a reset begins without it");
}

async fn a_question_that_is_refused_wakes_its_task(bed: &dyn Fixture) {
    let ledger = bed.open();
    let asked = parked(ledger.as_ref(), (1, 1), asking("q1", 1, false)).await;
    let due = ledger.due(&account(), &instance("a")).await.unwrap();
    let refused = crate::Outcome::Refused { reason: "too long".to_owned(), close: false };
    ledger.settle(due[0].id, refused).await.unwrap();
    assert_eq!(ledger.ready(at(2), 9).await.unwrap(), [lane(1)]);
    let awake = claim(ledger.as_ref(), 1, 2).await.unwrap();
    assert_eq!(awake.claim.task, asked.claim.task);
    let why = "too long".to_owned();
    assert_eq!(awake.settled.unwrap().question.given, Some(QuestionResult::NotAsked { why }));
}

async fn a_question_in_a_closed_conversation_wakes_its_task(bed: &dyn Fixture) {
    let ledger = bed.open();
    let claimed = started(ledger.as_ref(), 1, 1).await;
    let closed = arrival(message(1, 2), Disposition::Closed("kicked".to_owned()));
    push(ledger.as_ref(), closed, no_fuse()).await;
    let committed = ledger.commit(&claimed.claim, park(asking("q1", 1, false))).await.unwrap();
    let CommitResult::Ended { next, .. } = committed else { panic!("parked: {committed:?}") };
    let awake = next.expect("it goes on at once");
    assert_eq!(awake.claim.task, claimed.claim.task);
    assert_eq!(awake.settled.unwrap().question.state, QuestionState::Withdrawn);
}
