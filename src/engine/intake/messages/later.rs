//! What people read of commands about what is done later.

use chrono::{DateTime, Utc};

use crate::intake::remind_when::NoTime;
use selkie_domain::ids::ScheduleId;
use selkie_schedule::zone::Zone;
use selkie_schedule::zones::{PlaceZone, SetBy};
use selkie_tools::ports::ScheduleList;

/// Lists the schedules of a conversation.
pub fn listed(listed: &ScheduleList) -> String {
    if listed.lines.is_empty() {
        return "Nothing is scheduled here. /remind in 20m TEXT reminds you of something."
            .to_owned();
    }
    let rest = listed.rest();
    let all = listed.lines.iter().chain(&rest);
    let lines: String = all.map(|line| format!("- {line}\n")).collect();
    lines + "\n/schedules pause N, /schedules resume N and /schedules remove N change one."
}

/// Says how `/schedules` is used.
pub const SCHEDULES_USAGE: &str =
    "Write /schedules, or /schedules pause N, /schedules resume N, /schedules remove N.";

/// Says how `/remind` is used.
pub const REMIND_USAGE: &str = "Write when, then what: `/remind in 20m turn off the oven`, `/remind 18:30 go home`, `/remind tomorrow 08:00 call \
     Ada`, `/remind 2026-12-24 18:00 wrap the presents`. /remind done and /remind snooze 20m are about the last \
     reminder I sent here.";

/// Says why what stands behind `/remind` is no time.
pub fn no_time(why: &NoTime) -> String {
    match why {
        NoTime::Wrong(why) => format!("{why}\n\n{}", REMIND_USAGE.to_owned()),
        NoTime::Again => {
            "A reminder comes only once. For a regular one, ask me in a message of its own: \
                          \"every day at 08:00 remind me to water the plants\"."
                .to_owned()
        }
        NoTime::Missing => REMIND_USAGE.to_owned(),
    }
}

/// Asks what a time is for.
pub fn remind_of_what(when: &str) -> String {
    format!("Of what? Write it after the time: `/remind {} turn off the oven`.", plain(when))
}

/// Says when somebody is reminded.
pub fn reminds(id: ScheduleId, at: Option<&str>) -> String {
    match at {
        Some(at) => format!("I will remind you on {at}. /schedules remove {id} cancels it."),
        None => format!("Schedule {id} has come due already."),
    }
}

/// Says at once that nothing will come, and why.
pub fn no_reminder(why: &str) -> String {
    format!("There will be no reminder: {why}")
}

/// Says what became of a reminder.
pub fn reminder_settled(name: &str, outcome: &str) -> String {
    format!("{outcome}: {name}")
}

/// Says that somebody has made something of a reminder before.
pub fn reminder_settled_already(name: &str, outcome: &str) -> String {
    format!("The last reminder here has already been answered ({outcome}): {name}")
}

/// Says the same on a tap, where the reminder stands.
pub fn settled_already(outcome: &str) -> String {
    format!("Already answered: {outcome}")
}

/// Says that somebody was quicker.
pub const SETTLED_MEANWHILE: &str = "This reminder has already been answered.";

/// Says that no reminder of somebody was said here.
pub const NO_REMINDER: &str = "I have not reminded you of anything here.";

/// Says whose reminder it is.
pub fn not_your_reminder(name: &str) -> String {
    match name.trim() {
        "" => "This reminder is for somebody else.".to_owned(),
        name => format!("This reminder is for {name}."),
    }
}

/// Says that a button does nothing.
pub const NO_SUCH_BUTTON: &str = "This button no longer works.";

/// Says that this is not for somebody who may only talk.
pub const NOT_FOR_STRANGERS: &str = "I do things later only for people whom my owner has let in.";

/// Says that a button is not for somebody who was taken off the list.
pub const NOT_ON_THE_LIST: &str = "This button works only for people whom my owner has let in.";

/// Tells the zone of a place or person; `may_set`: whether whoever asks can set another one here.
pub fn zone(found: PlaceZone, may_set: bool) -> String {
    let PlaceZone { zone, by } = found;
    let by = match by {
        SetBy::Place => "it is set for this place",
        SetBy::Person => "it is yours",
        SetBy::Nobody => "nobody has set one here",
    };
    let how = match may_set {
        true => "`/timezone Europe/Berlin` sets another one, /timezone off resets it.",
        false => "Only my owner can change it here; in private you can set your own.",
    };
    format!("Times are {zone} ({by}). {how}")
}

/// Says that a zone is set.
pub fn zone_set(zone: Zone, now: DateTime<Utc>, in_group: bool) -> String {
    let whose = if in_group { "Times in this place are" } else { "Your times are" };
    let clock = zone.local(now).format("%H:%M");
    format!(
        "{whose} {zone} from now on: it is {clock} there. Times in the to-do list now mean this zone; schedules that exist keep theirs."
    )
}

/// Says that a zone is taken back.
pub fn zone_off(usual: Zone) -> String {
    format!("Times are {usual} again, unless somebody has set another zone.")
}

/// Says who may set the zone of a group.
pub const ZONE_IS_THE_OWNERS: &str =
    "In a group, only my owner can set the time zone. In private you can set your own.";

/// Says where the command line's zone is set.
pub fn zone_of_terminal(usual: Zone) -> String {
    format!("Times here are {usual}: `timezone` in the config sets another one.")
}

/// Somebody's words between marks of ours.
fn plain(text: &str) -> String {
    text.replace('`', "'")
}
