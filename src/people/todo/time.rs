//! The times of a todo file: to the minute, `2026-03-04 08:15`.

use chrono::NaiveDateTime;

const FORM: &str = "%Y-%m-%d %H:%M";
/// Bytes of a time.
const LENGTH: usize = 16;
/// How one looks: a digit where a 0 stands.
const LIKE: &[u8; LENGTH] = b"0000-00-00 00:00";

/// When an entry comes due, as its words say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// By the clocks of the entry's conversation.
    pub at: NaiveDateTime,
    /// What is to be done then, without the time.
    pub what: String,
}

/// Finds the first time in a content.
pub fn due(content: &str) -> Option<Due> {
    let starts = content.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at);
    for start in starts.filter(|start| is_edge(content[..*start].chars().next_back())) {
        let Some(written) = content.get(start..start + LENGTH) else { continue };
        let rest = &content[start + LENGTH..];
        let Some(at) = read_minute(written).filter(|_| is_edge(rest.chars().next())) else {
            continue;
        };
        let before = content[..start].trim_end();
        let after = rest.trim_start();
        let what = match before.is_empty() || after.is_empty() {
            true => format!("{before}{after}"),
            false => format!("{before} {after}"),
        };
        return Some(Due { at, what });
    }
    None
}

/// Returns the first thing in a content that is written as a time and is none: 2026-13-45 18:00.
pub fn no_time(content: &str) -> Option<&str> {
    let starts = content.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at);
    starts
        .filter(|start| is_edge(content[..*start].chars().next_back()))
        .filter_map(|start| content.get(start..start + LENGTH))
        .find(|written| is_written_as_time(written) && read_minute(written).is_none())
}

/// Returns words of a content that speak of a time, where nothing in it is read as one: tomorrow at 9.
pub fn in_words(content: &str) -> Option<String> {
    if due(content).is_some() || no_time(content).is_some() {
        return None;
    }
    let words: Vec<&str> = content.split_whitespace().map(bare).collect();
    let at = (0..words.len()).find(|at| length(&words[*at..]) > 0)?;
    let mut end = at;
    // "tomorrow at 9" is one time, and so is "at 9 tomorrow".
    while end < words.len() && length(&words[end..]) > 0 {
        end += length(&words[end..]);
    }
    Some(words[at..end].join(" "))
}

/// How many words from the first on speak of one time.
fn length(words: &[&str]) -> usize {
    let lower = |at: usize| words.get(at).map(|word| word.to_lowercase()).unwrap_or_default();
    let first = lower(0);
    let second = lower(1);
    let third = lower(2);
    let begins = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    match first.as_str() {
        "tomorrow" | "tonight" => 1,
        "on" | "next" | "this" | "until" if DAYS.contains(&second.as_str()) => 2,
        "at" if second == "noon" || second == "midnight" || is_hour(&second) => 2,
        "in" if begins(&second) && UNITS.iter().any(|unit| third.starts_with(unit)) => 3,
        _ => 0,
    }
}

const DAYS: [&str; 9] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "week", "month"];
const UNITS: [&str; 4] = ["minute", "hour", "day", "week"];

/// Whether a word is an hour: 9, 9:30, 9am.
fn is_hour(word: &str) -> bool {
    let hour = word.trim_end_matches("am").trim_end_matches("pm");
    let (hours, minutes) = hour.split_once(':').unwrap_or((hour, "00"));
    let is_number =
        |text: &str| (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    is_number(hours) && is_number(minutes)
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Whether each character is of the kind that stands there in a time.
fn is_written_as_time(text: &str) -> bool {
    let fits = |(c, like): (u8, u8)| if like == b'0' { c.is_ascii_digit() } else { c == like };
    text.bytes().zip(*LIKE).all(fits)
}

/// Reads a time, to the letter.
pub(super) fn read_minute(text: &str) -> Option<NaiveDateTime> {
    let at = NaiveDateTime::parse_from_str(text, FORM).ok()?;
    (text.len() == LENGTH && write_minute(at) == text).then_some(at)
}

/// Writes a time.
pub(super) fn write_minute(at: NaiveDateTime) -> String {
    at.format(FORM).to_string()
}

/// Whether a time may end next to this.
fn is_edge(next: Option<char>) -> bool {
    next.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, ':' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_as_a_time_and_is_none_is_found() {
        for impossible in ["2026-13-45 18:00", "2026-02-30 08:00", "2026-02-03 24:61"] {
            assert_eq!(no_time(&format!("call Grace ({impossible})!")), Some(impossible));
        }
        let fine = ["2026-02-03 08:00 call", "call 2026-13-45", "x2026-13-45 18:00", "äöü 1"];
        for content in fine {
            assert_eq!(no_time(content), None, "{content}");
        }
    }

    #[test]
    fn a_time_in_words_is_found_and_is_none() {
        for (content, said) in [
            ("Remind Grace to bring milk tomorrow at 9", "tomorrow at 9"),
            ("call Bo at 18:30 tomorrow!", "at 18:30 tomorrow"),
            ("in 20 minutes: tea", "in 20 minutes"),
            ("pay the rent, next Monday", "next Monday"),
            ("be there at noon", "at noon"),
        ] {
            assert_eq!(in_words(content).as_deref(), Some(said), "{content}");
        }
        let none = [
            "buy the Sunday paper",
            "call Bo at home",
            "2026-02-03 08:00 call tomorrow",
            "put 20 eggs in 2 bowls",
            "look at 300 pictures",
            "",
        ];
        for content in none {
            assert_eq!(in_words(content), None, "{content}");
        }
    }
}
