//! Laws of schedules: kept once, changed as they were read, each time carried out once, and what becomes of it told.

use super::*;
use crate::read::Origin;
use crate::spoken::NamedSchedule;
use crate::{
    Change, DeliveryState, FiringRecord, FiringResult, KeepResult, LastTime, Location, MissedTimes,
    NewSchedule, OccurrenceAction, Outcome, ScheduleRow, Since, States, TaskRequest, Turn, Usual,
    Wait, Which,
};
use selkie_domain::ids::{ScheduleId, TaskId};
use selkie_domain::schedule::{Action, Maker, OccurrenceState, Schedule, ScheduleState, Terms};
use selkie_domain::words::Words;

laws![
    a_schedule_is_kept_once_for_its_key,
    a_maker_has_so_many_and_no_more,
    a_change_is_of_what_was_read,
    what_is_due_comes_in_order_of_time,
    a_time_makes_one_task_and_sets_the_next,
    a_time_fires_once_however_often_the_store_is_opened,
    a_time_is_passed_over_while_the_one_before_waits,
    words_go_out_and_their_delivery_is_told,
    a_schedules_words_are_told_as_its_own,
    what_comes_due_by_hand_is_not_under_way_and_stays_as_it_is,
    what_a_removed_schedule_has_begun_ends,
    what_is_not_shown_is_counted,
    missed_times_are_one_line,
    a_schedule_moves_with_its_place,
    old_times_are_forgotten_and_what_is_active_stays,
    what_a_schedules_tasks_have_used_is_added_up,
    a_schedule_waits_for_its_next_day_until_it_is_resumed,
    a_next_time_is_set_anew_with_the_clocks,
    what_a_key_begins_with_is_found_and_begins_anew,
    what_a_clock_that_was_ahead_has_written_is_brought_back,
    a_time_that_was_carried_out_is_passed_over_in_silence,
];

fn resume(schedule: &Schedule, next: i64, now: i64) -> Change {
    Change::Resume { schedule: Box::new(schedule.clone()), next_at: Some(at(next)), now: at(now) }
}

/// A schedule of conversation `n` that comes due so many seconds after the start of the test.
pub fn new(key: &str, n: i64, next: i64) -> NewSchedule {
    NewSchedule {
        key: key.to_owned(),
        location: Location {
            conversation: conversation(n),
            place: place(n),
            title: "Folder".to_owned(),
        },
        schedule: Schedule {
            v: Schedule::VERSION,
            title: key.to_owned(),
            when: "every 1h".to_owned(),
            zone: "Europe/Berlin".to_owned(),
            action: Action::Prompt { prompt: "tell me".to_owned(), model: None, effort: None },
            maker: Maker {
                person: PersonId::new("tg:1"),
                name: "Ann".to_owned(),
                trust: Trust::Owner,
                taint: Taint::Clean,
                is_cleared: true,
            },
            terms: Terms::default(),
        },
        next_at: Some(at(next)),
        most: 9,
        now: at(0),
    }
}

pub async fn kept(ledger: &dyn Ledger, new: NewSchedule) -> ScheduleRow {
    match ledger.schedule(new).await.unwrap() {
        KeepResult::New(row) => row,
        other => panic!("it should be new: {other:?}"),
    }
}

async fn read(ledger: &dyn Ledger, id: ScheduleId) -> ScheduleRow {
    ledger.schedule_of(id).await.unwrap().unwrap()
}

fn task_of(row: &ScheduleRow, due: i64) -> OccurrenceAction {
    let cause = Cause::Occurrence { schedule: row.id(), at: at(due) };
    let facts = Facts { trust: Trust::Owner, trigger: Trigger::Scheduled, ..facts() };
    let words = Words {
        person: PersonId::new("tg:1"),
        name: "Ann".to_owned(),
        at: at(due),
        text: "tell me".to_owned(),
        note: String::new(),
        fixed: false,
        agent: None,
    };
    let Location { conversation, place, title } = new("", 1, 0).location;
    OccurrenceAction::Task(Box::new(TaskRequest {
        location: Location { conversation, place, title },
        order: at(due).timestamp_micros(),
        task: NewTask::new(cause, facts),
        words,
    }))
}

pub fn firing(
    row: &ScheduleRow,
    due: i64,
    next: Option<i64>,
    does: OccurrenceAction,
) -> FiringRecord {
    let next_at = next.map(at);
    let (turn, missed) = (Some(Turn { at: at(due), does }), Vec::new());
    let last = Some(LastTime { at: at(due), local: format!("day {due}") });
    FiringRecord { of: row.version, turn, missed, last, next_at, wait: None, by_hand: false }
}

/// Fires a task of one time and returns it.
async fn fired(ledger: &dyn Ledger, row: &ScheduleRow, due: i64, next: Option<i64>) -> TaskId {
    let firing = firing(row, due, next, task_of(row, due));
    match ledger.fire(firing, no_fuse()).await.unwrap() {
        FiringResult::Task(made) => made.task,
        other => panic!("it should have made a task: {other:?}"),
    }
}

async fn states(ledger: &dyn Ledger, id: ScheduleId) -> Vec<(i64, OccurrenceState)> {
    let times = ledger.occurrences(id, 9).await.unwrap();
    times.into_iter().map(|time| ((time.at - at(0)).num_seconds(), time.state)).collect()
}

async fn a_schedules_words_are_told_as_its_own(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let row = kept(ledger, new("News", 1, 60)).await;
    let task = fired(ledger, &row, 60, Some(120)).await;
    let typed = started(ledger, 2, 1).await;
    finished(ledger, &typed.claim, finish("yes", vec![])).await;
    let claimed = ledger.claim(&lane(1), &instance("a"), at(60)).await.unwrap().unwrap();
    finished(ledger, &claimed.claim, finish("no news", vec![])).await;
    let named = Some(NamedSchedule { id: row.id(), name: "News".to_owned() });
    let said = ledger.said(&conversation(1), true, 9).await.unwrap();
    assert_eq!(said.iter().map(|one| &one.schedule).collect::<Vec<_>>(), [&named]);
    let typed = ledger.said(&conversation(2), true, 9).await.unwrap();
    assert_eq!(typed[0].schedule, None, "a person's are the person's");
    let tasks = ledger.tasks(None, 9).await.unwrap();
    assert_eq!(tasks.iter().map(|one| &one.schedule).collect::<Vec<_>>(), [&None, &named]);
    assert_eq!(ledger.tasks(Some(&conversation(1)), 9).await.unwrap()[0].schedule, named);
    let chains = ledger.trace(&task.to_string()).await.unwrap();
    let Origin::Words { schedule, .. } = &chains[0].origin else { panic!("{chains:?}") };
    assert_eq!((schedule, &chains[0].task.as_ref().unwrap().row.schedule), (&named, &named));
}

async fn a_schedule_is_kept_once_for_its_key(bed: &dyn Fixture) {
    let ledger = bed.open();
    let row = kept(ledger.as_ref(), new("a", 1, 60)).await;
    assert_eq!((row.schedule.clone(), row.next_at), (new("a", 1, 60).schedule, Some(at(60))));
    assert_eq!((row.conversation.clone(), row.place.clone()), (conversation(1), place(1)));
    assert_eq!((row.state, row.fired, row.closed.clone()), (ScheduleState::Active, 0, None));
    drop(ledger);
    let ledger = bed.open();
    let again = ledger.schedule(new("a", 1, 90)).await.unwrap();
    assert_eq!(again, KeepResult::Known(row.clone()), "as it was");
    let all = ledger.schedules(&Which { limit: 9, ..Which::default() }).await.unwrap();
    assert_eq!(all, [row]);
}

async fn a_maker_has_so_many_and_no_more(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let two = |key: &str, n: i64| NewSchedule { most: 2, ..new(key, n, 60) };
    let first = kept(ledger, two("a", 1)).await;
    kept(ledger, two("b", 2)).await;
    assert_eq!(ledger.schedule(two("c", 3)).await.unwrap(), KeepResult::Full, "wherever they are");
    let mut other = two("c", 3);
    other.schedule.maker.person = PersonId::new("tg:2");
    kept(ledger, other).await;
    ledger.reschedule(first.version, Change::Remove).await.unwrap().unwrap();
    kept(ledger, two("d", 1)).await;
    let of =
        |person: &str| Which { person: Some(PersonId::new(person)), limit: 9, ..Which::default() };
    let keys = async |which: Which| {
        let rows = ledger.schedules(&which).await.unwrap();
        rows.into_iter().map(|row| row.key).collect::<Vec<_>>()
    };
    assert_eq!(keys(of("tg:1")).await, ["b", "d"]);
    assert_eq!(keys(Which { states: States::ALL, ..of("tg:1") }).await, ["b", "d", "a"]);
    let here = |n: i64| Which { conversation: Some(conversation(n)), limit: 9, ..Which::default() };
    assert_eq!(keys(here(3)).await, ["c"]);
    assert!(keys(here(77)).await.is_empty(), "nothing was ever heard there");
}

async fn a_change_is_of_what_was_read(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let row = kept(ledger, new("a", 1, 60)).await;
    let pause = Change::Pause { why: "a holiday".to_owned() };
    let paused = ledger.reschedule(row.version, pause.clone()).await.unwrap().unwrap();
    assert_eq!((paused.state, paused.why.as_str()), (ScheduleState::Paused, "a holiday"));
    assert_eq!(ledger.reschedule(row.version, pause.clone()).await.unwrap(), None, "read before");
    assert_eq!(ledger.reschedule(paused.version, pause).await.unwrap(), None, "it is paused");
    assert!(ledger.due_schedules(at(99), 9).await.unwrap().is_empty());
    assert_eq!(ledger.next_due().await.unwrap(), None);
    let resume = resume(&row.schedule, 120, 90);
    let resumed = ledger.reschedule(paused.version, resume).await.unwrap().unwrap();
    assert_eq!((resumed.state, resumed.why.as_str()), (ScheduleState::Active, ""));
    assert_eq!(ledger.next_due().await.unwrap(), Some(at(120)));
    let mut other = row.schedule.clone();
    other.title = "other".to_owned();
    let amend = Change::Amend { schedule: Box::new(other.clone()), next_at: Some(at(180)) };
    let amended = ledger.reschedule(resumed.version, amend).await.unwrap().unwrap();
    assert_eq!((amended.schedule.clone(), amended.next_at), (other, Some(at(180))));
    let removed = ledger.reschedule(amended.version, Change::Remove).await.unwrap().unwrap();
    assert_eq!((removed.state, removed.next_at), (ScheduleState::Removed, None));
    assert_eq!(ledger.reschedule(removed.version, Change::Remove).await.unwrap(), None);
    assert_eq!(read(ledger, row.id()).await, removed, "it can still be looked at");
}

async fn what_is_due_comes_in_order_of_time(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    for (key, next) in [("late", 90), ("soon", 30), ("next", 60)] {
        kept(ledger, new(key, 1, next)).await;
    }
    assert_eq!(ledger.next_due().await.unwrap(), Some(at(30)));
    let due = async |now: i64, limit: usize| {
        let rows = ledger.due_schedules(at(now), limit).await.unwrap();
        rows.into_iter().map(|row| row.key).collect::<Vec<_>>()
    };
    assert!(due(29, 9).await.is_empty());
    assert_eq!(due(60, 9).await, ["soon", "next"]);
    assert_eq!(due(99, 1).await, ["soon"]);
}

async fn a_time_makes_one_task_and_sets_the_next(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let row = kept(ledger, new("a", 1, 60)).await;
    let fire = firing(&row, 60, Some(120), task_of(&row, 60));
    let FiringResult::Task(made) = ledger.fire(fire.clone(), fuse(1)).await.unwrap() else {
        panic!("a task is made")
    };
    let claimed = made.claimed.unwrap();
    assert_eq!(claimed.words.as_ref().map(|words| words.text.as_str()), Some("tell me"));
    assert_eq!((claimed.facts.trigger, claimed.facts.trust), (Trigger::Scheduled, Trust::Owner));
    assert!(matches!(ledger.fire(fire, fuse(1)).await.unwrap(), FiringResult::Stale));
    assert_eq!(states(ledger, row.id()).await, [(60, OccurrenceState::Running)]);
    finished(ledger, &claimed.claim, finish("yes", vec![draft(1, 1)])).await;
    assert_eq!(states(ledger, row.id()).await, [(60, OccurrenceState::Ran)]);
    let delivered = |times: Vec<crate::Occurrence>| times[0].delivered.clone();
    let times = ledger.occurrences(row.id(), 9).await.unwrap();
    assert_eq!(delivered(times), Some(DeliveryState::Open), "apart from having run");
    let now = read(ledger, row.id()).await;
    assert_eq!((now.next_at, now.fired, now.state), (Some(at(120)), 1, ScheduleState::Active));
    fired(ledger, &now, 120, None).await;
    let last = read(ledger, row.id()).await;
    assert_eq!((last.next_at, last.fired, last.state), (None, 2, ScheduleState::Ended));
    let history = states(ledger, row.id()).await;
    assert_eq!(history, [(120, OccurrenceState::Due), (60, OccurrenceState::Ran)]);
}

async fn a_time_fires_once_however_often_the_store_is_opened(bed: &dyn Fixture) {
    let ledger = bed.open();
    let row = kept(ledger.as_ref(), new("a", 1, 60)).await;
    let task = fired(ledger.as_ref(), &row, 60, Some(120)).await;
    drop(ledger);
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    assert!(ledger.due_schedules(at(60), 9).await.unwrap().is_empty());
    let again = firing(&row, 60, Some(120), task_of(&row, 60));
    assert!(matches!(ledger.fire(again, fuse(1)).await.unwrap(), FiringResult::Stale));
    let claimed = ledger.claim(&lane(1), &instance("b"), at(70)).await.unwrap().unwrap();
    assert_eq!(claimed.claim.task, task);
}

async fn a_time_is_passed_over_while_the_one_before_waits(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let busy = started(ledger, 1, 5).await;
    let row = kept(ledger, new("a", 1, 60)).await;
    fired(ledger, &row, 60, Some(120)).await;
    let now = read(ledger, row.id()).await;
    let second = firing(&now, 120, Some(180), task_of(&now, 120));
    let FiringResult::Skipped(why) = ledger.fire(second, fuse(1)).await.unwrap() else {
        panic!("the first still waits")
    };
    let skipped = OccurrenceState::Skipped { why };
    let history = states(ledger, row.id()).await;
    assert_eq!(history, [(120, skipped), (60, OccurrenceState::Due)]);
    let now = read(ledger, row.id()).await;
    assert_eq!((now.fired, now.next_at), (1, Some(at(180))));
    finished(ledger, &busy.claim, finish("yes", vec![])).await;
    let waited = ledger.claim(&lane(1), &instance("a"), at(130)).await.unwrap().unwrap();
    finished(ledger, &waited.claim, finish("yes", vec![])).await;
    fired(ledger, &now, 180, Some(240)).await;
}

async fn words_go_out_and_their_delivery_is_told(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let row = kept(ledger, new("a", 1, 60)).await;
    let say = firing(&row, 60, None, OccurrenceAction::Say(Box::new(draft(1, 1))));
    let FiringResult::Said(queued) = ledger.fire(say, no_fuse()).await.unwrap() else {
        panic!("words are said")
    };
    let times = ledger.occurrences(row.id(), 9).await.unwrap();
    let found = (times[0].state.clone(), times[0].delivered.clone(), times[0].task);
    assert_eq!(found, (OccurrenceState::Ran, Some(DeliveryState::Open), None));
    ledger.settle(queued.parts[0].id, Outcome::Sent(receipt("77"))).await.unwrap();
    let times = ledger.occurrences(row.id(), 9).await.unwrap();
    let message = Some(MessageRef::new("77"));
    assert_eq!(times[0].delivered, Some(DeliveryState::Delivered { message }));
}

async fn what_comes_due_by_hand_is_not_under_way_and_stays_as_it_is(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let row = kept(ledger, new("a", 1, 60)).await;
    let hand = |row: &ScheduleRow, now: i64| FiringRecord {
        by_hand: true,
        ..firing(row, now, Some(60), task_of(row, now))
    };
    let FiringResult::Task(made) = ledger.fire(hand(&row, 5), fuse(1)).await.unwrap() else {
        panic!("a task is made")
    };
    let row = read(ledger, row.id()).await;
    assert_eq!((row.state, row.next_at), (ScheduleState::Active, Some(at(60))));
    assert!(matches!(ledger.fire(hand(&row, 6), fuse(1)).await.unwrap(), FiringResult::UnderWay));
    assert_eq!(read(ledger, row.id()).await, row, "nothing was written");
    finished(ledger, &made.claimed.unwrap().claim, finish("yes", vec![])).await;
    let pause = Change::Pause { why: "a holiday".to_owned() };
    let paused = ledger.reschedule(row.version, pause).await.unwrap().unwrap();
    let FiringResult::Task(_) = ledger.fire(hand(&paused, 7), fuse(1)).await.unwrap() else {
        panic!("a task is made")
    };
    let now = read(ledger, row.id()).await;
    assert_eq!((now.state, now.why.as_str()), (ScheduleState::Paused, "a holiday"));
    assert_eq!(now.next_at, paused.next_at);
}

async fn what_a_removed_schedule_has_begun_ends(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let busy = started(ledger, 1, 5).await;
    for (key, change) in [("a", Change::Remove), ("w", Change::Withdraw)] {
        let row = kept(ledger, new(key, 1, 60)).await;
        fired(ledger, &row, 60, Some(120)).await;
        let row = read(ledger, row.id()).await;
        ledger.reschedule(row.version, change).await.unwrap().unwrap();
        let failed = OccurrenceState::Failed { why: "its schedule was removed".to_owned() };
        assert_eq!(states(ledger, row.id()).await, [(60, failed)]);
    }
    finished(ledger, &busy.claim, finish("yes", vec![])).await;
    assert!(ledger.claim(&lane(1), &instance("a"), at(70)).await.unwrap().is_none());
    // One that takes its own schedule away goes on.
    let own = kept(ledger, new("b", 1, 60)).await;
    let firing = firing(&own, 60, Some(120), task_of(&own, 60));
    let FiringResult::Task(made) = ledger.fire(firing, fuse(1)).await.unwrap() else {
        panic!("a task is made")
    };
    let row = read(ledger, own.id()).await;
    ledger.reschedule(row.version, Change::RemoveBy(made.task)).await.unwrap().unwrap();
    finished(ledger, &made.claimed.unwrap().claim, finish("yes", vec![])).await;
    assert_eq!(states(ledger, own.id()).await, [(60, OccurrenceState::Ran)]);
}

async fn what_is_not_shown_is_counted(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    for (key, n) in [("a", 1), ("b", 1), ("c", 2)] {
        kept(ledger, new(key, n, 60)).await;
    }
    let gone = kept(ledger, new("d", 1, 60)).await;
    ledger.reschedule(gone.version, Change::Remove).await.unwrap().unwrap();
    let all = Which { limit: 1, states: States::ALL, ..Which::default() };
    let here = Which { conversation: Some(conversation(1)), states: States::OPEN, ..all.clone() };
    let kept = Which { states: States::KEPT, ..all.clone() };
    let removed = Which { states: States::REMOVED, ..all.clone() };
    for (which, many) in [(all, 4), (here, 2), (kept, 3), (removed, 1)] {
        assert_eq!(ledger.how_many_schedules(&which).await.unwrap(), many, "{which:?}");
        assert_eq!(ledger.schedules(&which).await.unwrap().len(), 1);
    }
}

async fn missed_times_are_one_line(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let row = kept(ledger, new("a", 1, 60)).await;
    let why = "nobody was there".to_owned();
    let missed = MissedTimes { first: at(60), last: at(180), times: 3, why: why.clone() };
    let skip = OccurrenceAction::Skip("too late".to_owned());
    let fire = FiringRecord {
        missed: vec![missed],
        wait: Some(Wait::ForSomebody("over its budget".to_owned())),
        ..firing(&row, 240, Some(300), skip)
    };
    assert!(matches!(ledger.fire(fire, fuse(1)).await.unwrap(), FiringResult::Skipped(_)));
    let times = ledger.occurrences(row.id(), 9).await.unwrap();
    let now = read(ledger, row.id()).await;
    let resume = resume(&now.schedule, 300, 250);
    let resumed = ledger.reschedule(now.version, resume).await.unwrap().unwrap();
    let only_missed = FiringRecord {
        turn: None,
        ..firing(&resumed, 300, None, OccurrenceAction::Skip(String::new()))
    };
    assert!(matches!(ledger.fire(only_missed, fuse(1)).await.unwrap(), FiringResult::Missed));
    assert_eq!(ledger.occurrences(row.id(), 9).await.unwrap().len(), times.len());
    let [last, missed] = &times[..] else { panic!("two lines: {times:?}") };
    assert_eq!((missed.at, missed.until, missed.times), (at(60), Some(at(180)), 3));
    assert_eq!(missed.state, OccurrenceState::Skipped { why });
    assert_eq!(last.state, OccurrenceState::Skipped { why: "too late".to_owned() });
    assert_eq!((now.state, now.why.as_str()), (ScheduleState::Paused, "over its budget"));
    assert_eq!((now.fired, now.next_at), (0, Some(at(300))));
    assert_eq!(read(ledger, row.id()).await.state, ScheduleState::Ended);
}

async fn a_schedule_moves_with_its_place(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    push(ledger, arrival(message(1, 1), Disposition::Context), no_fuse()).await;
    let row = kept(ledger, new("a", 1, 60)).await;
    push(ledger, arrival(message(5, 2), Disposition::Context), no_fuse()).await;
    let young = kept(ledger, new("b", 5, 60)).await;
    let news = arrival(message(1, 3), Disposition::Moved(place(5)));
    push(ledger, news, no_fuse()).await;
    for id in [row.id(), young.id()] {
        assert_eq!(read(ledger, id).await.conversation, conversation(5));
    }
}

async fn old_times_are_forgotten_and_what_is_active_stays(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let over = kept(ledger, new("over", 1, 60)).await;
    let skip =
        |row: &ScheduleRow, next| firing(row, 60, next, OccurrenceAction::Skip("so".to_owned()));
    ledger.fire(skip(&over, None), no_fuse()).await.unwrap();
    let goes_on = kept(ledger, new("on", 1, 60)).await;
    ledger.fire(skip(&goes_on, Some(120)), no_fuse()).await.unwrap();
    let newest = kept(ledger, new("newest", 1, 60)).await;
    ledger.reschedule(newest.version, Change::Remove).await.unwrap().unwrap();
    let later = at(1_000_000);
    let since =
        Since { transcripts: later, inbox: later, outbox: later, keys: later, cache: later };
    while ledger.forget_old(since).await.unwrap() > 0 {}
    assert_eq!(ledger.schedule_of(over.id()).await.unwrap(), None);
    assert!(ledger.occurrences(goes_on.id(), 9).await.unwrap().is_empty());
    assert_eq!(read(ledger, goes_on.id()).await.next_at, Some(at(120)));
    let ids_go_on = ledger.schedule_of(newest.id()).await.unwrap();
    assert!(ids_go_on.is_some(), "no id is given twice");
}

async fn what_a_schedules_tasks_have_used_is_added_up(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let usual = async || ledger.usual(&conversation(1), 9).await.unwrap();
    assert_eq!(usual().await, Usual::default(), "nobody has ever spoken there");
    let mut row = kept(ledger, new("a", 1, 60)).await;
    for (due, calls) in [(60, 2), (120, 3)] {
        let firing = firing(&row, due, Some(due + 60), task_of(&row, due));
        let now = at(due);
        let FiringResult::Task(made) = ledger.fire(firing, Fuse { now, ..fuse(1) }).await.unwrap()
        else {
            panic!("a task is made")
        };
        let behind = ledger.schedule_behind(made.task).await.unwrap().unwrap();
        assert_eq!(behind.id(), row.id());
        let used = Usage { calls, input: 10, micro_usd: 100, ..Usage::default() };
        let mut end = finish("yes", vec![]);
        if let Advance::Finish { usage, .. } = &mut end {
            *usage = used;
        }
        finished(ledger, &made.claimed.unwrap().claim, end).await;
        row = read(ledger, row.id()).await;
    }
    let used = async |since: i64| ledger.used_by(row.id(), at(since)..at(500)).await.unwrap();
    let both = Usage { calls: 5, input: 20, micro_usd: 200, ..Usage::default() };
    assert_eq!(used(0).await, both);
    assert_eq!((used(61).await.calls, used(121).await), (3, Usage::default()));
    let first = ledger.used_by(row.id(), at(0)..at(100)).await.unwrap();
    assert_eq!(first.calls, 2, "what comes later does not count");
    assert_eq!(usual().await, Usual { tasks: 2, usage: both });
    assert_eq!(ledger.usual(&conversation(1), 1).await.unwrap().usage.calls, 3, "the newest");
    let asked = started(ledger, 1, 7).await;
    assert_eq!(ledger.schedule_behind(asked.claim.task).await.unwrap(), None);
}

async fn a_schedule_waits_for_its_next_day_until_it_is_resumed(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let row = kept(ledger, new("a", 1, 60)).await;
    let resume = || resume(&row.schedule, 90, 70);
    assert_eq!(ledger.reschedule(row.version, resume()).await.unwrap(), None, "it goes on anyway");
    let wait = Some(Wait::ForItsTime("used up".to_owned()));
    let skip = OccurrenceAction::Skip("used up".to_owned());
    let fire = FiringRecord { wait, ..firing(&row, 60, Some(900), skip) };
    assert!(matches!(ledger.fire(fire, fuse(1)).await.unwrap(), FiringResult::Skipped(_)));
    let waits = read(ledger, row.id()).await;
    assert_eq!((waits.state, waits.why.as_str()), (ScheduleState::Active, "used up"));
    assert_eq!(ledger.next_due().await.unwrap(), Some(at(900)), "by itself, later");
    let resumed = ledger.reschedule(waits.version, resume()).await.unwrap().unwrap();
    assert_eq!((resumed.next_at, resumed.why.as_str()), (Some(at(90)), ""));
    assert_eq!(resumed.counts_from, at(70), "what it used before is forgiven");
}

async fn a_next_time_is_set_anew_with_the_clocks(bed: &dyn Fixture) {
    let ledger = bed.open();
    let version = ledger.zone_data().await.unwrap();
    assert_eq!(version, None);
    ledger.note_zone_data("2026a").await.unwrap();
    let first = kept(ledger.as_ref(), new("a", 1, 60)).await;
    assert_eq!(first.last, None);
    fired(ledger.as_ref(), &first, 60, Some(120)).await;
    let second = kept(ledger.as_ref(), new("b", 1, 60)).await;
    drop(ledger);
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    assert_eq!(ledger.zone_data().await.unwrap().as_deref(), Some("2026a"));
    let row = read(ledger, first.id()).await;
    let last = row.last.clone().unwrap();
    assert_eq!((last.at, last.local.as_str()), (at(60), "day 60"));
    let ids = async |after: ScheduleId, most| {
        let rows = ledger.active_after(after, most).await.unwrap();
        rows.into_iter().map(|row| row.id()).collect::<Vec<_>>()
    };
    assert_eq!(ids(ScheduleId(0), 9).await, [first.id(), second.id()]);
    assert_eq!(ids(ScheduleId(0), 1).await, [first.id()]);
    assert_eq!(ids(first.id(), 9).await, [second.id()]);
    let retimed = Change::Retime { next_at: Some(at(99)) };
    let row = ledger.reschedule(row.version, retimed.clone()).await.unwrap().unwrap();
    assert_eq!((row.next_at, row.state), (Some(at(99)), ScheduleState::Active));
    let never = Change::Retime { next_at: None };
    let over = ledger.reschedule(row.version, never).await.unwrap().unwrap();
    assert_eq!(over.state, ScheduleState::Ended);
    assert_eq!(ledger.reschedule(over.version, retimed).await.unwrap(), None);
}

async fn what_a_key_begins_with_is_found_and_begins_anew(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    for key in ["config", "config:a>", "config:b>tg:1", "configs:c", "cli:1"] {
        kept(ledger, new(key, 1, 60)).await;
    }
    let found = ledger.schedules_keyed("config:").await.unwrap();
    let keys: Vec<&str> = found.iter().map(|row| row.key.as_str()).collect();
    assert_eq!(keys, ["config:a>", "config:b>tg:1"]);
    let mut other = found[0].schedule.clone();
    other.title = "other".to_owned();
    let anew = || Change::Replace {
        schedule: Box::new(other.clone()),
        next_at: Some(at(90)),
        now: at(70),
    };
    fired(ledger, &found[0], 60, None).await;
    let ended = read(ledger, found[0].id()).await;
    let row = ledger.reschedule(ended.version, anew()).await.unwrap().unwrap();
    assert_eq!((row.state, row.fired, row.next_at), (ScheduleState::Active, 0, Some(at(90))));
    assert_eq!((row.schedule.title.as_str(), row.counts_from), ("other", at(70)));
    let removed = ledger.reschedule(row.version, Change::Remove).await.unwrap().unwrap();
    let row = ledger.reschedule(removed.version, anew()).await.unwrap().unwrap();
    assert_eq!(row.state, ScheduleState::Active, "it is there again");
    let pause = Change::Pause { why: "a holiday".to_owned() };
    let paused = ledger.reschedule(row.version, pause).await.unwrap().unwrap();
    let row = ledger.reschedule(paused.version, anew()).await.unwrap().unwrap();
    assert_eq!((row.state, row.why.as_str()), (ScheduleState::Paused, "a holiday"));
    assert_eq!(ledger.reschedule(paused.version, anew()).await.unwrap(), None, "read before");
}

async fn what_a_clock_that_was_ahead_has_written_is_brought_back(bed: &dyn Fixture) {
    const YEAR: i64 = 365 * 86_400;
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let later = |key: &str| NewSchedule { now: at(YEAR), ..new(key, 1, YEAR + 60) };
    let usual = kept(ledger, new("usual", 1, 60)).await;
    let made = kept(ledger, later("made")).await;
    let resumed = kept(ledger, new("resumed", 1, 60)).await;
    let pause = Change::Pause { why: "a holiday".to_owned() };
    let waits = ledger.reschedule(resumed.version, pause.clone()).await.unwrap().unwrap();
    let resume = resume(&waits.schedule, YEAR, YEAR);
    let resumed = ledger.reschedule(waits.version, resume).await.unwrap().unwrap();
    let missed = kept(ledger, new("missed", 1, 60)).await;
    let ahead = || Fuse { now: at(YEAR), ..no_fuse() };
    let last = Some(LastTime { at: at(YEAR - 60), local: "a year on".to_owned() });
    let next_at = Some(at(YEAR + 60));
    let (of, turn) = (missed.version, None);
    let line =
        MissedTimes { first: at(60), last: at(YEAR - 60), times: 9, why: "too late".to_owned() };
    let all_missed =
        FiringRecord { of, turn, missed: vec![line], last, next_at, wait: None, by_hand: false };
    assert!(matches!(ledger.fire(all_missed, ahead()).await.unwrap(), FiringResult::Missed));
    let missed = read(ledger, missed.id()).await;
    let last = missed.last.clone().unwrap();
    assert_eq!((last.at, last.local.as_str()), (at(YEAR - 60), "a year on"), "missed times count");
    let waits = kept(ledger, later("waits")).await;
    let waits = ledger.reschedule(waits.version, pause).await.unwrap().unwrap();
    let over = kept(ledger, later("over")).await;
    ledger.reschedule(over.version, Change::Remove).await.unwrap().unwrap();

    let found = async |behind: ScheduleId, most: usize| {
        let rows = ledger.dated_after(at(3_600), behind, most).await.unwrap();
        rows.into_iter().map(|row| row.id()).collect::<Vec<_>>()
    };
    let all = [made.id(), resumed.id(), missed.id(), waits.id()];
    assert_eq!(found(ScheduleId(0), 9).await, all);
    assert_eq!(found(ScheduleId(0), 1).await, all[..1]);
    assert_eq!(found(made.id(), 9).await, all[1..]);
    let mut contents = usual.schedule.clone();
    contents.title = "back".to_owned();
    for row in [made, resumed, missed, waits.clone()] {
        let back = Change::BringBack {
            schedule: Box::new(contents.clone()),
            next_at: Some(at(90)),
            now: at(70),
        };
        let row = ledger.reschedule(row.version, back).await.unwrap().unwrap();
        assert_eq!((row.next_at, row.last.clone()), (Some(at(90)), None), "{}", row.key);
        assert!(row.created_at <= at(70) && row.counts_from <= at(70), "{}", row.key);
        assert_eq!((&row.schedule, row.why.is_empty()), (&contents, row.id() != waits.id()));
    }
    assert!(found(ScheduleId(0), 9).await.is_empty());
    assert_eq!(read(ledger, waits.id()).await.state, ScheduleState::Paused, "it still waits");
    assert_eq!(read(ledger, usual.id()).await, usual, "nobody dated it later");
}

async fn a_time_that_was_carried_out_is_passed_over_in_silence(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let row = kept(ledger, new("task", 1, 60)).await;
    let task = fired(ledger, &row, 60, Some(120)).await;
    let claimed = ledger.claim(&lane(1), &instance("a"), at(70)).await.unwrap().unwrap();
    assert_eq!(claimed.claim.task, task);
    finished(ledger, &claimed.claim, finish("yes", vec![])).await;
    let said = kept(ledger, new("words", 1, 60)).await;
    let words = firing(&said, 60, Some(120), OccurrenceAction::Say(Box::new(draft(1, 1))));
    assert!(matches!(ledger.fire(words, no_fuse()).await.unwrap(), FiringResult::Said(_)));
    let before = ledger.occurrences(said.id(), 9).await.unwrap();
    for (row, does) in
        [(&row, task_of(&row, 60)), (&said, OccurrenceAction::Say(Box::new(draft(1, 1))))]
    {
        let now = read(ledger, row.id()).await;
        let again = firing(&now, 60, Some(180), does);
        assert!(matches!(ledger.fire(again, no_fuse()).await.unwrap(), FiringResult::CarriedOut));
        let now = read(ledger, row.id()).await;
        assert_eq!((now.fired, now.next_at), (1, Some(at(180))));
    }
    assert_eq!(states(ledger, row.id()).await, [(60, OccurrenceState::Ran)]);
    assert_eq!(ledger.occurrences(said.id(), 9).await.unwrap(), before);
    let skipped = kept(ledger, new("skipped", 1, 60)).await;
    let skip = firing(&skipped, 60, Some(120), OccurrenceAction::Skip("off".to_owned()));
    assert!(matches!(ledger.fire(skip, no_fuse()).await.unwrap(), FiringResult::Skipped(_)));
    fired(ledger, &read(ledger, skipped.id()).await, 60, Some(120)).await;
    assert_eq!(states(ledger, skipped.id()).await, [(60, OccurrenceState::Due)], "it was not");
}
