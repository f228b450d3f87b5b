//! Laws of reminders: found when they were said, settled once, and said again by one schedule.

use super::scheduling::{firing, kept, new};
use super::*;
use crate::{
    FiringResult, Location, NewSchedule, OccurrenceAction, Outcome, ReminderRow, ScheduleRow,
    Settle, SettleResult, States, TaskRequest, Which,
};
use selkie_domain::ids::InboxId;
use selkie_domain::reminder::{ReminderId, ReminderState};
use selkie_domain::schedule::{Action, Schedule};
use selkie_domain::words::Words;

laws![
    a_reminder_is_found_when_it_was_said,
    a_reminder_is_settled_once,
    a_reminder_is_said_again_by_one_schedule,
    a_reminder_is_not_settled_where_nothing_can_say_it_again,
];

/// A schedule of conversation 1 that reminds of milk.
fn reminder(key: &str, next: i64) -> NewSchedule {
    let new = new(key, 1, next);
    let action = Action::Remind { markdown: "milk".to_owned() };
    NewSchedule { schedule: Schedule { action, ..new.schedule }, ..new }
}

/// Has a schedule come due, and its task end with what it says.
async fn said(ledger: &dyn Ledger, row: &ScheduleRow, due: i64) -> ReminderId {
    let cause = Cause::Occurrence { schedule: row.id(), at: at(due) };
    let facts = Facts { trigger: Trigger::Scheduled, ..facts() };
    let words =
        Words { fixed: true, ..Words::said(PersonId::new("tg:1"), at(due), "milk".to_owned()) };
    let Location { conversation, place, title } = new("", 1, 0).location;
    let does = OccurrenceAction::Task(Box::new(TaskRequest {
        location: Location { conversation, place, title },
        order: at(due).timestamp_micros(),
        task: NewTask::new(cause, facts),
        words,
    }));
    let fired = ledger.fire(firing(row, due, None, does), fuse(1)).await.unwrap();
    let FiringResult::Task(made) = fired else { panic!("a task is made") };
    let claimed = made.claimed.unwrap();
    assert_eq!(claimed.words.as_ref().map(|words| words.at), Some(at(due)), "names it on a button");
    let queued = finished(ledger, &claimed.claim, finish("milk", vec![draft(1, 2)])).await;
    for (part, id) in queued[0].parts.iter().zip(["10", "11"]) {
        ledger.settle(part.id, Outcome::Sent(receipt(id))).await.unwrap();
    }
    ReminderId { schedule: row.id(), at: at(due) }
}

async fn read(ledger: &dyn Ledger, id: ReminderId) -> ReminderRow {
    ledger.reminder(id).await.unwrap().unwrap()
}

/// Stores a tap.
async fn tap(ledger: &dyn Ledger, order: i64) -> InboxId {
    let (question, choice, handle) = ("r1t1".to_owned(), "done".to_owned(), String::new());
    let inbound = Inbound { what: What::Tap { question, choice, handle }, ..message(1, order) };
    push(ledger, arrival(inbound, Disposition::Tap), no_fuse()).await.fresh[0].row
}

fn done(id: ReminderId, row: Option<InboxId>) -> Settle {
    Settle { row, id, again: None, revision: row.map(|_| draft(1, 1)) }
}

fn again(id: ReminderId, row: Option<InboxId>, next: i64) -> Settle {
    Settle { again: Some(Box::new(reminder("again", next))), ..done(id, row) }
}

async fn a_reminder_is_found_when_it_was_said(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let first = kept(ledger, reminder("a", 60)).await;
    let id = ReminderId { schedule: first.id(), at: at(60) };
    assert_eq!(ledger.reminder(id).await.unwrap(), None, "it has not come due");
    let id = said(ledger, &first, 60).await;
    let row = read(ledger, id).await;
    assert_eq!((row.id, row.settled, row.schedule.id()), (id, None, first.id()));
    assert_eq!(row.message, Some(MessageRef::new("11")), "the last message has the buttons");
    let second = kept(ledger, reminder("b", 90)).await;
    let later = said(ledger, &second, 90).await;
    let prompt = kept(ledger, new("prompt", 1, 120)).await;
    said(ledger, &prompt, 120).await;
    let other = ReminderId { schedule: prompt.id(), at: at(120) };
    assert_eq!(ledger.reminder(other).await.unwrap(), None, "it is none");
    let newest = ledger.reminders_in(&conversation(1), 9).await.unwrap();
    assert_eq!(newest.iter().map(|row| row.id).collect::<Vec<_>>(), [later, id]);
    assert_eq!(ledger.reminders_in(&conversation(1), 1).await.unwrap().len(), 1);
    assert!(ledger.reminders_in(&conversation(2), 9).await.unwrap().is_empty());
}

async fn a_reminder_is_settled_once(bed: &dyn Fixture) {
    let ledger = bed.open();
    let row = kept(ledger.as_ref(), reminder("a", 60)).await;
    let id = said(ledger.as_ref(), &row, 60).await;
    let (first, second) = (tap(ledger.as_ref(), 5).await, tap(ledger.as_ref(), 6).await);
    let settled = ledger.settle_reminder(done(id, Some(first))).await.unwrap();
    assert!(matches!(&settled, SettleResult::Settled(Some(queued)) if queued.parts.len() == 1));
    drop(ledger);
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let repeated = ledger.settle_reminder(done(id, Some(first))).await.unwrap();
    assert!(matches!(repeated, SettleResult::Repeated), "{repeated:?}");
    let late = ledger.settle_reminder(again(id, Some(second), 90)).await.unwrap();
    assert!(matches!(late, SettleResult::Late), "{late:?}");
    let words = ledger.settle_reminder(done(id, None)).await.unwrap();
    assert!(matches!(words, SettleResult::Late), "{words:?}");
    assert_eq!(read(ledger, id).await.settled, Some(ReminderState::Done));
    let all = ledger
        .schedules(&Which { limit: 9, states: States::ALL, ..Which::default() })
        .await
        .unwrap();
    assert_eq!(all.len(), 1, "nothing says it again");
}

async fn a_reminder_is_said_again_by_one_schedule(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let row = kept(ledger, reminder("a", 60)).await;
    let id = said(ledger, &row, 60).await;
    let first = tap(ledger, 5).await;
    for (tap, next) in [(Some(first), 600), (Some(first), 700), (None, 800)] {
        ledger.settle_reminder(again(id, tap, next)).await.unwrap();
    }
    assert_eq!(read(ledger, id).await.settled, Some(ReminderState::Again { at: at(600) }));
    let active = ledger.schedules(&Which { limit: 9, ..Which::default() }).await.unwrap();
    let found: Vec<_> = active.iter().map(|row| (row.key.as_str(), row.next_at)).collect();
    assert_eq!(found, [("again", Some(at(600)))]);
    assert_eq!(ledger.next_due().await.unwrap(), Some(at(600)));
    let unknown = ReminderId { at: at(61), ..id };
    let settled = ledger.settle_reminder(done(unknown, None)).await.unwrap();
    assert!(matches!(settled, SettleResult::Late), "{settled:?}");
}

async fn a_reminder_is_not_settled_where_nothing_can_say_it_again(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let row = kept(ledger, reminder("a", 60)).await;
    let id = said(ledger, &row, 60).await;
    kept(ledger, new("other", 2, 600)).await;
    let mut settle = again(id, None, 600);
    settle.again.as_mut().unwrap().most = 1;
    let full = ledger.settle_reminder(settle).await.unwrap();
    assert!(matches!(full, SettleResult::Full), "{full:?}");
    assert_eq!(read(ledger, id).await.settled, None);
    let settled = ledger.settle_reminder(done(id, None)).await.unwrap();
    assert!(matches!(settled, SettleResult::Settled(None)), "{settled:?}");
}
