//! A board over the real store and a platform in memory.

use std::sync::atomic::Ordering;
use std::time::Duration;

use selkie_channel_core::{Delivery, MessageRef, Pace};

use super::*;
use crate::delivery::status_calls::sweep;
use crate::flow::testing::{self, Fixture, account};
use crate::intake::settings::{ProgressSettings, Settings};
use selkie_domain::plan::{PlanStep, StepStatus};
use selkie_domain::span::Span;
use selkie_store::conformance::{finish, finished, started};
use selkie_store::{Delivery as _, StatusChange, StatusMessages as _, StatusNote};

fn settings(after: u64) -> Settings {
    let (after, every) = (Span::seconds(after), Span::seconds(0));
    let progress = ProgressSettings { after, every, ..ProgressSettings::default() };
    Settings { progress, ..Settings::default() }
}

fn house() -> Fixture {
    testing::desk_with(settings(0), Pace::LIFTED)
}

fn claimed(task: i64, attempts: u32) -> TaskClaim {
    TaskClaim { attempts, ..testing::claimed(task, &testing::message("tg:1", "hi")) }
}

fn plan(status: StepStatus) -> Plan {
    let step = PlanStep { step: "dig".to_owned(), status };
    Plan { summary: String::new(), steps: vec![step] }
}

/// Waits until nothing of progress runs and returns what arrived.
async fn ended(house: &Fixture) -> Vec<String> {
    house.outbox.runtime.tracker.close();
    house.outbox.runtime.tracker.wait().await;
    house.platform.arrived.borrow().iter().map(|(_, text)| text.clone()).collect()
}

#[tokio::test]
async fn one_message_is_sent_edited_and_withdrawn() {
    let house = house();
    let board = TaskProgress::of(&house.outbox, &claimed(1, 1));
    board.tool(Some("running a command"));
    house.platform.wait_for(1).await;
    board.doing("half\nall");
    house.platform.wait_for(2).await;
    assert_eq!(
        house.ledger.noted_status(StatusChange::Status, TaskId(1)).await.unwrap(),
        Some(StatusNote::at(MessageRef::new("9")))
    );
    board.close();
    let wanted = ["[status] ⏳ running a command …", "[9] ⏳ running a command: `all`", "[9 gone]"];
    assert_eq!(ended(&house).await, wanted);
    assert_eq!(house.ledger.noted_status(StatusChange::Status, TaskId(1)).await.unwrap(), None);
}

#[tokio::test]
async fn a_plan_stays_as_it_stands() {
    let house = house();
    let board = TaskProgress::of(&house.outbox, &claimed(1, 1));
    board.plan(&plan(StepStatus::InProgress));
    house.platform.wait_for(1).await;
    board.plan(&plan(StepStatus::Completed));
    board.close();
    let said = ended(&house).await;
    assert_eq!(
        (said.first().unwrap(), said.last().unwrap()),
        (&"[status] ⏳ dig".into(), &"[9] ☑ dig".into())
    );
    assert!(!said.contains(&"[9 gone]".to_owned()));
    assert_eq!(house.ledger.noted_status(StatusChange::Status, TaskId(1)).await.unwrap(), None);
}

#[tokio::test]
async fn a_quick_task_shows_nothing_and_secrets_are_not_shown() {
    let quick = testing::desk_with(settings(3600), Pace::LIFTED);
    let board = TaskProgress::of(&quick.outbox, &claimed(1, 1));
    board.tool(Some("running a command"));
    board.close();
    assert!(ended(&quick).await.is_empty());
    let house = house();
    house.outbox.runtime.redactor.learn("hunter2hunter2");
    let board = TaskProgress::of(&house.outbox, &claimed(1, 1));
    board.doing("login as hunter2hunter2");
    let said = house.platform.wait_for(1).await;
    assert_eq!(said[0].1, "[status] ⏳ working: `login as [redacted]`");
}

#[tokio::test]
async fn people_are_told_that_the_model_takes_long() {
    let house = house();
    let board = TaskProgress::of(&house.outbox, &claimed(1, 1));
    board.waiting(true);
    let said = house.platform.wait_for(1).await;
    assert_eq!(said[0].1, "[status] ⏳ waiting for the language model …");
    board.waiting(false);
    board.tool(Some("running a command"));
    let said = house.platform.wait_for(2).await;
    assert_eq!(said[1].1, "[9] ⏳ running a command …");
}

#[tokio::test]
async fn a_task_that_goes_on_edits_the_message_of_its_earlier_life() {
    let house = house();
    let first = TaskProgress::of(&house.outbox, &claimed(1, 1));
    first.tool(Some("running a command"));
    house.platform.wait_for(1).await;
    first.leave();
    let second = TaskProgress::of(&house.outbox, &claimed(1, 2));
    second.tool(Some("looking through files"));
    house.platform.wait_for(2).await;
    second.close();
    let wanted = ["[status] ⏳ running a command …", "[9] ⏳ looking through files …", "[9 gone]"];
    assert_eq!(ended(&house).await, wanted);
}

#[tokio::test]
async fn what_waits_for_approval_says_so_at_once_and_goes_on_in_the_same_message() {
    let house = testing::desk_with(settings(3600), Pace::LIFTED);
    let kept = KeptProgress::default();
    let first = Arc::new(TaskProgress::of(&house.outbox, &claimed(1, 1)));
    kept.keep(TaskId(1), &first);
    drop(first);
    kept.waits(TaskId(1), asked_for_approval("running a command"));
    house.platform.wait_for(1).await;
    let second = kept.take(TaskId(1)).unwrap();
    kept.waits(TaskId(1), "too late".to_owned());
    second.goes_on(true);
    house.platform.wait_for(2).await;
    second.close();
    let asked =
        "[status] ⏳ I asked an owner for approval (running a command); I go on when they answer.";
    assert_eq!(ended(&house).await, [asked, "[9] ⏳ approved: going on …", "[9 gone]"]);
}

#[tokio::test]
async fn what_was_decided_before_it_was_shown_is_not_shown() {
    let pace = Pace { per_direct: Duration::from_millis(1), ..Pace::LIFTED };
    let house = testing::desk_with(settings(3600), pace);
    house.account().waiting.fetch_add(1, Ordering::Relaxed);
    let kept = KeptProgress::default();
    let progress = Arc::new(TaskProgress::of(&house.outbox, &claimed(1, 1)));
    kept.keep(TaskId(1), &progress);
    kept.waits(TaskId(1), asked_for_approval("running a command"));
    kept.take(TaskId(1)).unwrap().goes_on(false);
    house.account().waiting.fetch_sub(1, Ordering::Relaxed);
    progress.close();
    assert!(ended(&house).await.is_empty());
}

#[tokio::test]
async fn whose_message_may_be_there_unknown_sends_no_second_one() {
    let house = house();
    house.ledger.note_status(StatusChange::Status, TaskId(1), StatusNote::default()).await.unwrap();
    let board = TaskProgress::of(&house.outbox, &claimed(1, 2));
    board.tool(Some("running a command"));
    board.close();
    assert!(ended(&house).await.is_empty());
    assert_eq!(house.ledger.noted_status(StatusChange::Status, TaskId(1)).await.unwrap(), None);
}

#[tokio::test]
async fn what_a_crash_left_standing_is_taken_away() {
    let house = house();
    let task = started(&*house.ledger, 1, 1).await;
    house
        .ledger
        .note_status(StatusChange::Status, task.claim.task, StatusNote::at(MessageRef::new("41")))
        .await
        .unwrap();
    sweep(Arc::clone(&house.outbox)).await;
    assert!(house.platform.arrived.borrow().is_empty(), "its task goes on");
    finished(&*house.ledger, &task.claim, finish("yes", vec![])).await;
    sweep(Arc::clone(&house.outbox)).await;
    assert_eq!(house.platform.wait_for(1).await[0].1, "[41 gone]");
    assert!(house.ledger.stray_statuses(StatusChange::Status).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_answer_that_waits_goes_first() {
    let pace = Pace { per_direct: Duration::from_millis(1), ..Pace::LIFTED };
    let house = testing::desk_with(settings(0), pace);
    let speech = &house.account().waiting;
    speech.fetch_add(1, Ordering::Relaxed);
    let board = TaskProgress::of(&house.outbox, &claimed(1, 1));
    board.tool(Some("running a command"));
    board.close();
    assert!(ended(&house).await.is_empty(), "it ended before anybody was silent");
}

#[tokio::test]
async fn a_limit_that_progress_meets_holds_for_all_and_is_stored() {
    let house = house();
    let (why, account_wide) = (String::new(), false);
    let limit = Delivery::Retry { after: Duration::from_secs(3600), why, account: account_wide };
    house.platform.trouble.lock().unwrap().push_back(limit);
    let board = TaskProgress::of(&house.outbox, &claimed(1, 1));
    board.tool(Some("running a command"));
    let now = house.outbox.runtime.clock.now();
    while house.ledger.penalties(&account(), now).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    board.close();
    assert!(ended(&house).await.is_empty());
    assert_eq!(
        house.ledger.noted_status(StatusChange::Status, TaskId(1)).await.unwrap(),
        None,
        "nothing was sent"
    );
}

#[tokio::test]
async fn a_message_that_somebody_deleted_is_not_sent_again() {
    let house = house();
    let board = TaskProgress::of(&house.outbox, &claimed(1, 1));
    board.tool(Some("running a command"));
    house.platform.wait_for(1).await;
    let gone = Delivery::Refused { reason: "message to edit not found".to_owned(), closed: false };
    house.platform.trouble.lock().unwrap().push_back(gone);
    board.doing("more");
    while house.ledger.noted_status(StatusChange::Status, TaskId(1)).await.unwrap().is_some() {
        tokio::task::yield_now().await;
    }
    board.doing("and more");
    board.close();
    assert_eq!(ended(&house).await, ["[status] ⏳ running a command …"]);
}
