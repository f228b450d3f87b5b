//! What is to be done later: phrases that begin with a time, and go on with something to do.

use super::words::{after, word};

/// Days of the week as people write them, and as `cron` takes them.
const DAYS: [(&str, &str); 10] = [
    ("day", "*"),
    ("weekday", "1-5"),
    ("workday", "1-5"),
    ("monday", "1"),
    ("tuesday", "2"),
    ("wednesday", "3"),
    ("thursday", "4"),
    ("friday", "5"),
    ("saturday", "6"),
    ("sunday", "0"),
];

const UNITS: [&str; 12] =
    ["s", "second", "seconds", "m", "minute", "minutes", "h", "hour", "hours", "d", "day", "days"];

/// What is to be done later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Later {
    /// When, as `cron` takes it.
    pub(super) when: String,
    /// What.
    pub(super) what: What,
}

/// What is done then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A phrase.
    Prompt(String),
    /// Words are said.
    Remind(String),
}

/// A time that a text begins with, and what follows.
struct TimedText<'a> {
    when: String,
    rest: &'a str,
}

/// Reads `every day at 8 my list`, `in 20 minutes my list`, `remind me tomorrow at 8 to call Ann`.
pub(super) fn later(text: &str) -> Option<Later> {
    let reminds = after(text, "remind me ");
    let TimedText { when, rest } = timed(reminds.unwrap_or(text))?;
    let rest = rest.trim_start_matches([':', ',']).trim();
    // `every day at 8 remind me to rest` says the same in another order.
    let reminds = reminds.or_else(|| after(rest, "remind me "));
    let rest = after(rest, "remind me ").unwrap_or(rest);
    let rest = match reminds {
        // A word that only leads on says nothing.
        Some(_) if ["to", "of"].iter().any(|word| rest.eq_ignore_ascii_case(word)) => "",
        Some(_) => after(rest, "to ").or_else(|| after(rest, "of ")).unwrap_or(rest),
        None => rest,
    };
    let what = match reminds {
        Some(_) => What::Remind(rest.to_owned()),
        None => What::Prompt(rest.to_owned()),
    };
    (!rest.is_empty()).then_some(Later { when, what })
}

fn timed(text: &str) -> Option<TimedText<'_>> {
    if let Some(rest) = after(text, "every ") {
        return on_days(rest).or_else(|| span("every", rest));
    }
    if let Some(rest) = after(text, "in ") {
        return span("in", rest);
    }
    if let Some(rest) = after(text, "tomorrow at ") {
        let (time, rest) = time(rest)?;
        return Some(TimedText { when: format!("at tomorrow {time}"), rest });
    }
    let rest = after(text, "at ")?;
    // A bare hour may begin a sentence: `at 8 people came`.
    let (first, _) = word(rest)?;
    let (time, rest) = time(rest).filter(|_| first.contains(':'))?;
    Some(TimedText { when: format!("at {time}"), rest })
}

/// Reads `monday at 9:30 …`.
fn on_days(text: &str) -> Option<TimedText<'_>> {
    let (day, rest) = word(text)?;
    let day = day.to_ascii_lowercase();
    let (_, field) = DAYS.iter().find(|(name, _)| *name == day)?;
    let (time, rest) = time(after(rest, "at ")?)?;
    let (hour, minute) = time.split_once(':')?;
    let bare = |digits: &str| digits.parse::<u32>().ok();
    let hour = bare(hour)?;
    let minute = bare(minute)?;
    Some(TimedText { when: format!("{minute} {hour} * * {field}"), rest })
}

/// Reads `20m …` and `20 minutes …`.
fn span<'a>(start: &str, text: &'a str) -> Option<TimedText<'a>> {
    let (first, rest) = word(text)?;
    let digits = first.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    digits.parse::<u32>().ok()?;
    let known = |unit: &str| UNITS.contains(&unit.to_ascii_lowercase().as_str());
    let (unit, rest) = match &first[digits.len()..] {
        "" => word(rest)?,
        unit => (unit, rest),
    };
    known(unit).then(|| TimedText { when: format!("{start} {digits} {unit}"), rest })
}

/// Reads `8 …`, `8:30 …` and `08:30 …`; returns it as `08:30`.
fn time(text: &str) -> Option<(String, &str)> {
    let (time, rest) = word(text)?;
    let (hour, minute) = time.split_once(':').unwrap_or((time, "00"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_time = digits(hour) && digits(minute) && hour.len() <= 2 && minute.len() == 2;
    // An hour that no day has is told by the tool.
    is_time.then(|| (format!("{hour:0>2}:{minute}"), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_with_a_time_is_done_then() {
        for (said, when, prompt) in [
            ("Every day at 08:00 tell me my list", "0 8 * * *", "tell me my list"),
            ("every day at 8 my list", "0 8 * * *", "my list"),
            ("every weekday at 8: my list", "0 8 * * 1-5", "my list"),
            ("every Monday at 9:30 my list", "30 9 * * 1", "my list"),
            ("every 2h: my list", "every 2 h", "my list"),
            ("every 2 hours my list", "every 2 hours", "my list"),
            ("in 20m, note: tea", "in 20 m", "note: tea"),
            ("in 20 minutes tell me my list", "in 20 minutes", "tell me my list"),
            ("at 18:30 go home", "at 18:30", "go home"),
            ("remind me in 20 minutes to go home", "in 20 minutes", "reminder: go home"),
            ("remind me every sunday at 8 to rest", "0 8 * * 0", "reminder: rest"),
            ("tomorrow at 8 tell me my list", "at tomorrow 08:00", "tell me my list"),
            ("Remind me tomorrow at 8 to call Ann", "at tomorrow 08:00", "reminder: call Ann"),
            ("remind me at 18:30: tea", "at 18:30", "reminder: tea"),
            ("every day at 8 remind me to rest", "0 8 * * *", "reminder: rest"),
        ] {
            let what = match prompt.strip_prefix("reminder: ") {
                Some(words) => What::Remind(words.to_owned()),
                None => What::Prompt(prompt.to_owned()),
            };
            let meant = Later { when: when.to_owned(), what };
            assert_eq!(later(said), Some(meant), "{said}");
        }
        for prose in [
            "in time we meet",
            "at 8 we meet",
            "every day is good",
            "every monday we meet",
            "in 20m",
            "in 20 steps we are there",
            "at noon: go",
            "remind me of the milk",
            "remind me tomorrow at 8 to",
            "tomorrow at noon: go",
        ] {
            assert_eq!(later(prose), None, "{prose}");
        }
    }
}
