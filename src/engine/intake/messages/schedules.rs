//! What people and the model are told about schedules.

use chrono::TimeDelta;

use selkie_domain::count::counted;
use selkie_domain::ids::ScheduleId;
use selkie_schedule::book::Ahead;

/// Fixed words that are later than this say when they were due.
pub const LATE: TimeDelta = TimeDelta::minutes(5);

/// For the model: what it reads comes from a schedule, and what to answer when there is nothing to tell.
pub fn prompt_note(id: ScheduleId, name: &str, due: &str) -> String {
    format!(
        "schedule {id} ({name}) came due at {due}; nobody waits at this moment. Do what it says and answer with \
         what the people here should read. If there is nothing to tell them, answer NOTHING and nothing else."
    )
}

/// For the model, in the history: words that no model wrote.
pub fn fixed_note(id: ScheduleId, due: &str) -> String {
    format!("schedule {id} came due at {due}; its fixed words were said")
}

/// Fixed words that come late.
pub fn said_late(markdown: &str, due: &str) -> String {
    format!("{markdown}\n\n_(due {due}; I could not say it then)_")
}

/// For the model: what it reads is the owner's file, and what to answer when there is nothing to tell.
pub fn heartbeat_note(due: &str) -> String {
    format!(
        "the heartbeat came due at {due}; nobody waits at this moment. What follows stands in the owner's \
         HEARTBEAT.md: look at each thing and answer with what the people here should read now. If there is nothing \
         to tell them, answer NOTHING and nothing else."
    )
}

/// Why a heartbeat is passed over: somebody is being answered.
pub const BUSY: &str = "the conversation is busy";

/// Why a schedule waits: its conversation is closed.
pub fn closed(why: &str) -> String {
    format!("its conversation is closed: {why}")
}

/// Why a time is passed over: it came while this life was a backup.
pub const PASSED_WHILE_RESTORED: &str = "it was due before selkie was restored from a backup";

/// Why a time is passed over: its channel is not configured.
pub fn channel_off(account: &str) -> String {
    format!("the channel {account} is not configured or switched off")
}

/// Why a post waits: the login is not configured for which it was approved.
pub fn login_gone(account: &str) -> String {
    format!(
        "it was approved for the account {account}, which is not configured or switched off, and no other one posts \
         it (for another account, ask for it again)"
    )
}

/// Why a schedule waits: nobody listens to its maker any more.
pub const NOT_ALLOWED: &str = "whoever made it is no longer allowed there";

/// Why a schedule waits: it would carry others' words where nobody asked for them.
pub fn needs_consent(place: &str) -> String {
    format!(
        "its words came out of other people's words, and nobody has approved that they are said in {place}"
    )
}

/// Why a schedule waits: its maker may not post any more.
pub const STRANGERS_POST_NOTHING: &str = "whoever made it may no longer post in public";

/// Why a time is passed over: its words come to nothing there.
pub const SHOWS_NOTHING: &str = "its words show nothing there";

/// Tells the owner that a schedule waits from now on.
pub fn paused(id: ScheduleId, name: &str, why: &str, comes_again: bool) -> String {
    let way = match comes_again {
        true => format!("`selkie schedules resume {id}` resumes it."),
        false => format!(
            "It does not come again by itself: once that is fixed, `selkie schedules run {id}` runs it."
        ),
    };
    format!("I paused schedule {id} ({name}): {why}. {way}")
}

/// Tells that a schedule waits for its next day.
pub fn used_up(id: ScheduleId, name: &str, why: &str, next: Option<&str>) -> String {
    let until = match next {
        Some(next) => {
            format!("It continues at {next}; `selkie schedules resume {id}` resumes it now.")
        }
        None => "It will not come due again.".to_owned(),
    };
    format!("I paused schedule {id} ({name}): {why}. {until}")
}

/// Tells the owner that a time was passed over, and why.
pub fn passed_over(id: ScheduleId, name: &str, why: &str) -> String {
    format!("I skipped schedule {id} ({name}) once: {why}.")
}

/// Tells the owner that the machine's clock leapt.
pub fn leapt(by: TimeDelta) -> String {
    let (way, by) = match by < TimeDelta::zero() {
        true => ("back", -by),
        false => ("forward", by),
    };
    let minutes = by.num_minutes();
    let far = match minutes >= 2_880 {
        true => format!("{} days", minutes / 1_440),
        false => {
            let hours = counted(minutes.unsigned_abs() / 60, ["hour", "hours"]);
            format!("{hours} and {}", counted(minutes.unsigned_abs() % 60, ["minute", "minutes"]))
        }
    };
    format!(
        "This machine's clock leapt {way} by {far}. I wait a minute for it to settle; then schedules go by it. \
         What was carried out already is not repeated."
    )
}

/// Tells the owner which schedules a clock that was ahead had dated, and when they come due now.
pub fn brought_back(ahead: &Ahead) -> String {
    let schedules = counted(ahead.count, ["schedule", "schedules"]);
    let more = ahead.count.saturating_sub(ahead.first.len() as u64);
    let more = match more {
        0 => String::new(),
        more => format!("\n- and {}", counted(more, ["other", "others"])),
    };
    format!(
        "This machine's clock was ahead for a while, and {schedules} went by it. What was carried out already is not \
         repeated; these are the next times from now on:\n- {}{more}",
        ahead.first.join("\n- ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leap_is_told_in_plain_words() {
        let told = leapt(TimeDelta::minutes(-90));
        assert!(
            told.starts_with("This machine's clock leapt back by 1 hour and 30 minutes."),
            "{told}"
        );
        assert!(leapt(TimeDelta::days(3)).contains("forward by 3 days"));
    }
}
