//! Text as Markdown that shows it as it stands, and raw HTML that is no more than a line break.

/// Adds a character that is no mark. A backslash before a bracket would begin a formula.
pub fn push_literal(out: &mut String, c: char) {
    match c {
        '(' => out.push_str("&#40;"),
        '[' => out.push_str("&#91;"),
        c if c.is_ascii_punctuation() => out.extend(['\\', c]),
        c => out.push(c),
    }
}

/// Whether raw HTML is a mere line break.
pub(super) fn is_break(html: &str) -> bool {
    let name = html.trim().strip_prefix('<').and_then(|html| html.strip_suffix('>'));
    name.is_some_and(|name| name.trim_end_matches('/').trim_end().eq_ignore_ascii_case("br"))
}
