//! The task of a schedule's time: by whose rights it runs, and what its model is told.

use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, PlaceId};

use crate::intake::firing::decision::TaskStart;
use crate::intake::messages::schedules as messages;
use selkie_domain::cause::Cause;
use selkie_domain::facts::{Facts, Trigger};
use selkie_domain::schedule::{Action, Schedule};
use selkie_domain::words::Words;
use selkie_schedule::words::moment;
use selkie_schedule::zone::Zone;
use selkie_store::{Location, NewTask, ScheduleRow, TaskRequest};

/// One time of a schedule for which a task begins.
pub(super) struct FiringTime {
    pub(super) at: DateTime<Utc>,
    pub(super) now: DateTime<Utc>,
    /// Tools that are allowed in the place without being asked for.
    pub(super) opened: Vec<String>,
}

/// Makes the request of one time's task.
pub(super) fn task_request(row: &ScheduleRow, start: TaskStart, time: FiringTime) -> TaskRequest {
    let FiringTime { at, now, opened } = time;
    let Schedule { maker, action, .. } = &row.schedule;
    let facts = Facts {
        taint: maker.taint,
        trigger: match action {
            Action::Heartbeat => Trigger::Heartbeat,
            _ => Trigger::Scheduled,
        },
        opened,
        ..Facts::of(start.place, Some(maker.person.clone()), start.trust, now)
    };
    let fixed = matches!(action, Action::Say { .. } | Action::Remind { .. });
    let note = match action {
        Action::Heartbeat => messages::heartbeat_note(&local_time(row, at)),
        _ if fixed => messages::fixed_note(row.id(), &local_time(row, at)),
        _ => messages::prompt_note(row.id(), &row.schedule.name(), &local_time(row, at)),
    };
    let text = match action {
        Action::Remind { markdown } | Action::Say { markdown } if now - at > messages::LATE => {
            messages::said_late(markdown, &local_time(row, at))
        }
        action => start.look.unwrap_or_else(|| action.text().to_owned()),
    };
    let words = Words {
        name: maker.name.clone(),
        note,
        fixed,
        ..Words::said(maker.person.clone(), at, text)
    };
    let cause = Cause::Occurrence { schedule: row.id(), at };
    TaskRequest {
        location: location(&row.conversation, &row.place),
        order: at.timestamp_micros(),
        task: NewTask::new(cause, facts),
        words,
    }
}

/// Returns a time as the clocks of the schedule's own zone show it.
pub(super) fn local_time(row: &ScheduleRow, at: DateTime<Utc>) -> String {
    let zone = Zone::named(&row.schedule.zone).unwrap_or(Zone::UTC);
    format!("{} ({})", moment(at, zone), zone.offset(at))
}

/// Returns where a schedule speaks.
pub(super) fn location(conversation: &ConversationId, place: &PlaceId) -> Location {
    Location { conversation: conversation.clone(), place: place.clone(), title: String::new() }
}
