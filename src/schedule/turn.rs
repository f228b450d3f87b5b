//! What a stored schedule comes to at a moment: the time that is carried out, those that were missed, the next one.
//! Pure.

use chrono::{DateTime, Utc};

use super::count::last;
use super::expression::{Expression, ExpressionError};
use super::hours::ActiveHours;
use super::missed::{CatchUp, missed};
use super::plan::{INSTANT, Limits, Plan};
use super::zone::Zone;
use selkie_domain::ids::ScheduleId;
use selkie_domain::schedule::{Schedule, Terms};
use selkie_store::{MissedTimes, ScheduleRow};

/// What a due schedule comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueOutcome {
    /// The time that is carried out now.
    pub fires: Option<DateTime<Utc>>,
    /// Times before it that are not made up for.
    pub missed: Vec<MissedTimes>,
    /// When it comes due again; never when there is none.
    pub next_at: Option<DateTime<Utc>>,
}

/// Reads what a schedule stores as text.
///
/// # Errors
/// In words: a zone, an expression or hours that this selkie does not know.
pub fn plan(schedule: &Schedule) -> Result<Plan, String> {
    let Schedule { when, zone, terms, .. } = schedule;
    let zone = Zone::named(zone).map_err(|error| error.to_string())?;
    let expression: Expression =
        when.parse().map_err(|error: ExpressionError| error.to_string())?;
    Ok(Plan { expression, zone, limits: limits(terms)? })
}

/// Reads what terms put on top of an expression.
///
/// # Errors
/// In words: hours that this selkie does not know.
pub fn limits(terms: &Terms) -> Result<Limits, String> {
    let Terms { starts, until, times, active, jitter, .. } = terms;
    let active = active.as_deref().map(str::parse::<ActiveHours>).transpose();
    Ok(Limits {
        starts: *starts,
        ends: *until,
        count: *times,
        active: active.map_err(|error| error.to_string())?,
        jitter: Some(*jitter).filter(|jitter| !jitter.0.is_zero()),
    })
}

/// Returns when a schedule first comes due, or comes due again, after `after`: its jitter is in it.
pub fn next(plan: &Plan, id: &str, after: DateTime<Utc>, fired: u32) -> Option<DateTime<Utc>> {
    plan.next(after, fired).map(|at| plan.fires_at(id, at))
}

/// Returns when a schedule comes due by the zone data of now: behind the time that came last, and at no local time
/// that has come already by the data of before. What no calendar moves stays, and so does one that waits for its day.
pub fn anew(row: &ScheduleRow, plan: &Plan, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let by_calendar =
        matches!(plan.expression, Expression::Cron(_)) || plan.limits.active.is_some();
    let is_waiting = !row.why.is_empty();
    let behind = match &row.last {
        Some(last) => row.counts_from.max(last.at),
        None if row.fired == 0 => row.counts_from.max(row.created_at),
        // An older selkie did not note its last time.
        None => now,
    };
    let is_due = row.next_at.is_some_and(|due| due <= now);
    if !by_calendar || is_waiting || (is_due && behind == now) {
        return row.next_at;
    }
    let came = |at: DateTime<Utc>| {
        row.last.as_ref().is_some_and(|last| on_the_wall(plan.zone, at) <= last.local)
    };
    let mut at = plan.next(behind, row.fired)?;
    // The data of two versions differ by hours, or by a day where a zone changes its side of the date line.
    for _ in 0..MAX_COME {
        if !came(at) {
            break;
        }
        at = plan.next_after(at)?;
    }
    Some(plan.fires_at(&name(row.id()), at))
}

/// Local times that come again after new zone data: those of a day, each minute.
const MAX_COME: usize = 1_440;

/// Writes what the clocks of a zone show, so that earlier is less.
pub fn on_the_wall(zone: Zone, at: DateTime<Utc>) -> String {
    zone.local(at).format("%Y-%m-%dT%H:%M:%S").to_string()
}

/// Returns the name that sets a schedule's jitter apart from others'.
pub fn name(id: ScheduleId) -> String {
    id.to_string()
}

/// Says what a schedule that is due comes to.
pub fn come(row: &ScheduleRow, plan: &Plan, now: DateTime<Utc>) -> DueOutcome {
    let none = DueOutcome { fires: None, missed: Vec::new(), next_at: row.next_at };
    let Some(due) = row.next_at.filter(|due| *due <= now) else { return none };
    // Without its jitter: the time itself.
    let due = match plan.limits.jitter {
        Some(_) => last(plan, row.created_at, due).unwrap_or(due),
        None => due,
    };
    let id = name(row.id());
    let terms = &row.schedule.terms;
    if row.schedule.action.is_never_too_late() {
        let next_at = next(plan, &id, now.max(due), row.fired.saturating_add(1));
        return DueOutcome { fires: Some(due), missed: Vec::new(), next_at };
    }
    let catch_up = CatchUp { misfire: terms.misfire, lateness: terms.lateness };
    let found = missed(plan, due - INSTANT, now, catch_up, row.fired);
    let line = |skipped: &super::missed::SkippedTimes| MissedTimes {
        first: skipped.first,
        last: skipped.last,
        times: u32::try_from(skipped.count).unwrap_or(u32::MAX),
        why: skipped.says(),
    };
    let fires = found.fires.first().copied();
    let fired = row.fired.saturating_add(u32::from(fires.is_some()));
    let next_at = match found.fires.get(1) {
        // Each gets a turn of its own.
        Some(second) => Some(*second),
        None => next(plan, &id, now, fired),
    };
    DueOutcome { fires, missed: found.skipped.iter().map(line).collect(), next_at }
}

#[cfg(test)]
pub(super) mod tests {
    use chrono::TimeDelta;
    use selkie_channel_core::{AccountId, ConversationId, PersonId, PlaceId};

    use super::*;
    use selkie_domain::schedule::{Action, Maker, Misfire, ScheduleState};
    use selkie_domain::span::Span;
    use selkie_store::Version;

    fn utc(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    pub(crate) fn row(when: &str, next_at: &str, terms: Terms) -> ScheduleRow {
        let account = AccountId::new("tg:8");
        ScheduleRow {
            version: Version { id: ScheduleId(3), number: 1 },
            key: "a".to_owned(),
            conversation: ConversationId::new(account.clone(), "tg:1"),
            place: PlaceId::new(account, "tg:1"),
            title: String::new(),
            closed: None,
            schedule: Schedule {
                v: Schedule::VERSION,
                title: String::new(),
                when: when.to_owned(),
                zone: "Europe/Berlin".to_owned(),
                action: Action::Prompt { prompt: "tell me".to_owned(), model: None, effort: None },
                maker: Maker::owner(PersonId::new("tg:1")),
                terms,
            },
            state: ScheduleState::Active,
            why: String::new(),
            next_at: Some(utc(next_at)),
            fired: 0,
            created_at: utc("2026-11-01T00:00:00Z"),
            counts_from: utc("2026-11-01T00:00:00Z"),
            last: None,
        }
    }

    fn came(row: &ScheduleRow, now: &str) -> DueOutcome {
        come(row, &plan(&row.schedule).unwrap(), utc(now))
    }

    #[test]
    fn new_zone_data_fires_no_local_time_twice() {
        use selkie_store::LastTime;

        let daily = row("0 8 * * *", "2026-11-23T09:00:00Z", Terms::default());
        let came =
            |row: &ScheduleRow, now: &str| anew(row, &plan(&row.schedule).unwrap(), utc(now));
        let last = |at: &str, local: &str| Some(LastTime { at: utc(at), local: local.to_owned() });
        // By the data of before 08:00 was at 09:00 UTC, and today it was already.
        let fired = ScheduleRow {
            last: last("2026-11-22T09:00:00Z", "2026-11-22T08:00:00"),
            fired: 1,
            ..daily.clone()
        };
        assert_eq!(came(&fired, "2026-11-22T12:00:00Z"), Some(utc("2026-11-23T07:00:00Z")));
        // It was at 05:00 UTC: by the data of now 08:00 would come once more today.
        let early = ScheduleRow {
            last: last("2026-11-22T05:00:00Z", "2026-11-22T08:00:00"),
            ..fired.clone()
        };
        assert_eq!(came(&early, "2026-11-22T06:00:00Z"), Some(utc("2026-11-23T07:00:00Z")));
        let never = ScheduleRow { created_at: utc("2026-11-22T12:00:00Z"), ..daily.clone() };
        let never = ScheduleRow { counts_from: never.created_at, ..never };
        assert_eq!(came(&never, "2026-11-22T13:00:00Z"), Some(utc("2026-11-23T07:00:00Z")));
        let old = ScheduleRow { fired: 4, ..daily.clone() };
        assert_eq!(came(&old, "2026-11-22T13:00:00Z"), Some(utc("2026-11-23T07:00:00Z")));
        let waits = ScheduleRow { why: "its budget is used up".to_owned(), ..fired };
        assert_eq!(came(&waits, "2026-11-22T12:00:00Z"), waits.next_at);
    }

    #[test]
    fn what_is_due_fires_and_the_next_time_is_set() {
        let row = row("0 8 * * *", "2026-11-22T07:00:00Z", Terms::default());
        let early = came(&row, "2026-11-22T06:59:59Z");
        assert_eq!((early.fires, early.next_at), (None, row.next_at), "not yet");
        let come = came(&row, "2026-11-22T07:00:01Z");
        assert_eq!(come.fires, Some(utc("2026-11-22T07:00:00Z")));
        assert_eq!(come.next_at, Some(utc("2026-11-23T07:00:00Z")));
        assert_eq!(come.missed, []);
    }

    #[test]
    fn what_was_missed_is_one_line_and_the_latest_fires_when_it_is_not_too_late() {
        let hourly = row("0 * * * *", "2026-11-20T07:00:00Z", Terms::default());
        let come = came(&hourly, "2026-11-22T07:30:00Z");
        assert_eq!(come.fires, Some(utc("2026-11-22T07:00:00Z")));
        assert_eq!(come.missed.iter().map(|missed| missed.times).sum::<u32>(), 48);
        let daily = row("0 8 * * *", "2026-11-20T07:00:00Z", Terms::default());
        let come = came(&daily, "2026-11-22T12:00:00Z");
        assert_eq!((come.fires, come.missed.len()), (None, 1), "too late");
        assert_eq!(come.next_at, Some(utc("2026-11-23T07:00:00Z")));
    }

    #[test]
    fn all_that_is_made_up_for_comes_one_after_the_other() {
        let terms = Terms { misfire: Misfire::All, ..Terms::default() };
        let mut row = row("0 * * * *", "2026-11-22T06:00:00Z", terms);
        let mut fired = Vec::new();
        while let Some(at) = came(&row, "2026-11-22T07:30:00Z").fires {
            fired.push(at);
            row.next_at = came(&row, "2026-11-22T07:30:00Z").next_at;
            row.fired += 1;
        }
        assert_eq!(fired, [utc("2026-11-22T06:00:00Z"), utc("2026-11-22T07:00:00Z")]);
        assert_eq!(row.next_at, Some(utc("2026-11-22T08:00:00Z")));
    }

    #[test]
    fn a_reminder_is_never_too_late() {
        let mut row = row("at 2026-11-20T07:00:00Z", "2026-11-20T07:00:00Z", Terms::default());
        assert_eq!(came(&row, "2026-11-22T07:00:00Z").fires, None, "a prompt is");
        row.schedule.action = Action::Remind { markdown: "milk".to_owned() };
        let come = came(&row, "2026-11-22T07:00:00Z");
        assert_eq!((come.fires, come.next_at), (Some(utc("2026-11-20T07:00:00Z")), None));
        assert_eq!(come.missed, []);
    }

    #[test]
    fn jitter_makes_it_later_and_its_time_stays_what_it_is() {
        let terms = Terms { jitter: Span::seconds(600), ..Terms::default() };
        let mut row = row("0 * * * *", "2026-11-22T07:00:00Z", terms);
        let plan = plan(&row.schedule).unwrap();
        let due = utc("2026-11-22T07:00:00Z");
        row.next_at = next(&plan, "3", due - INSTANT, 0);
        let fires_at = row.next_at.unwrap();
        assert!(fires_at >= due && fires_at < due + TimeDelta::seconds(600), "{fires_at}");
        let come = come(&row, &plan, fires_at);
        assert_eq!(come.fires, Some(due));
        assert!(come.next_at.unwrap() >= utc("2026-11-22T08:00:00Z"));
    }

    #[test]
    fn so_often_and_no_more() {
        let terms = Terms { times: Some(2), ..Terms::default() };
        let mut row = row("0 * * * *", "2026-11-22T07:00:00Z", terms);
        assert!(came(&row, "2026-11-22T07:00:00Z").next_at.is_some());
        row.fired = 1;
        assert_eq!(came(&row, "2026-11-22T07:00:00Z").next_at, None);
    }

    #[test]
    fn what_cannot_be_read_says_so() {
        let mut bad = row("0 8 * * *", "2026-11-22T07:00:00Z", Terms::default()).schedule;
        bad.zone = "Europe/Bonn".to_owned();
        assert!(plan(&bad).unwrap_err().contains("Europe/Bonn"));
    }
}
