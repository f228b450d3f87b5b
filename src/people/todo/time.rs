//! The times of a todo file: to the minute, `2026-03-04 08:15`.

use chrono::NaiveDateTime;

const FORM: &str = "%Y-%m-%d %H:%M";
/// Bytes of a time.
const LENGTH: usize = 16;

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
