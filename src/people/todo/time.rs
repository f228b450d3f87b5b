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
        let (before, after) = (content[..start].trim_end(), rest.trim_start());
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
}
