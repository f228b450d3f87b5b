//! Text as Markdown that shows it as it stands.

/// Adds a character that is no mark. A backslash before a bracket would begin a formula.
pub fn push_literal(out: &mut String, c: char) {
    match c {
        '(' => out.push_str("&#40;"),
        '[' => out.push_str("&#91;"),
        c if c.is_ascii_punctuation() => out.extend(['\\', c]),
        c => out.push(c),
    }
}
