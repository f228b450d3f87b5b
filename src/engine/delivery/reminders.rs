//! Reminders as people see them: with two buttons, which show later what became of them where a message can be changed.

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::{Body, Choice, MessageRef, Outbound, Question};

use crate::delivery::outbox::Outbox;
use crate::delivery::questions::{MAX_BYTES, cut};
use selkie_domain::reminder::{ReminderId, ReminderState};
use selkie_schedule::words::moment;
use selkie_schedule::zone::Zone;
use selkie_store::{Draft, ReminderRow};

/// The button of what is done.
pub const DONE: &str = "done";
/// The button of what is to be said again.
pub const AGAIN: &str = "again";
/// After so long it is.
pub const LATER: TimeDelta = TimeDelta::minutes(10);
/// What settles it in words.
const IN_WORDS: &str = "Settle it with `/remind done` or `/remind snooze 20m`.";
/// A question is named by so many letters at the most.
const MAX_KEY: usize = 24;

/// Gives the words of a reminder their buttons.
pub fn with_buttons(id: ReminderId, said: Outbound) -> Outbound {
    let key = id.key();
    let Body::Text { markdown } = &said.body else { return said };
    if key.len() > MAX_KEY {
        return said;
    }
    let choice = |id: &str, label: &str| Choice {
        id: id.to_owned(),
        label: label.to_owned(),
        description: String::new(),
    };
    let question = Question {
        key,
        markdown: markdown.clone(),
        choices: vec![choice(DONE, "Done"), choice(AGAIN, "In 10 minutes")],
        free_text: false,
        placeholder: IN_WORDS.to_owned(),
    };
    Outbound { body: Body::Question(question), ..said }
}

/// Renders what became of a reminder in place of its buttons; `None` where a message cannot be changed.
pub fn revised(
    outbox: &Outbox,
    row: &ReminderRow,
    message: MessageRef,
    outcome: &str,
) -> Option<Draft> {
    let said = cut(row.schedule.schedule.action.text().trim_end(), MAX_BYTES);
    let markdown = format!("{said}\n\n{outcome}");
    let body = Body::Revision { message, markdown, question: None };
    outbox.draft_of(&row.schedule.conversation, body)
}

/// Says in a few words what became of a reminder.
pub fn outcome(row: &ReminderRow, made: ReminderState, now: DateTime<Utc>) -> String {
    let ReminderState::Again { at } = made else { return "✔ Done".to_owned() };
    let zone = Zone::named(&row.schedule.schedule.zone).unwrap_or(Zone::UTC);
    let local = zone.local(at);
    match local.date() == zone.local(now).date() {
        true => format!("⏰ again at {}", local.format("%H:%M")),
        false => format!("⏰ again on {}", moment(at, zone)),
    }
}
