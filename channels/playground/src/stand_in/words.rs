//! The beginning of a text, and what follows it.

/// Returns what follows ASCII `start`, in any case.
pub(super) fn after<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let head = text.get(..start.len())?;
    head.eq_ignore_ascii_case(start).then(|| text[start.len()..].trim())
}

/// Returns the first word and what follows it.
pub(super) fn word(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = text.trim().split_once(char::is_whitespace)?;
    Some((word.trim_end_matches([':', ',']), rest))
}
