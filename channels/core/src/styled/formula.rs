//! Formulas: `\( … \)`, `\[ … \]` and `$$ … $$`. CommonMark takes their delimiters for escapes and what is in them for
//! markup; no platform draws them, so they are shown as they were written.

use std::ops::Range;

/// The longest formula, bytes.
const MAX: usize = 2_000;

/// Finds the first formula that begins in this range of verbatim text, and ends before `end`. A backslash before the
/// range belongs to it: the parser leaves escapes out of the text.
pub(super) fn find(source: &str, text: Range<usize>, end: usize) -> Option<Range<usize>> {
    let escape = text.start.checked_sub(1).filter(|at| source.as_bytes()[*at] == b'\\');
    if let Some(at) = escape
        && let Some(found) = whole(source, at, end)
    {
        return Some(found);
    }
    // An escaped dollar begins nothing.
    let first = text.start + usize::from(escape.is_some());
    let dollars = source.get(first..text.end)?.match_indices("$$");
    dollars.map(|(at, _)| first + at).find_map(|at| whole(source, at, end))
}

/// Returns the formula that begins exactly here.
fn whole(source: &str, at: usize, end: usize) -> Option<Range<usize>> {
    let rest = source.get(at..end)?;
    let rest = &rest[..rest.floor_char_boundary(MAX)];
    let delimiters = [(r"\(", r"\)"), (r"\[", r"\]"), ("$$", "$$")];
    let (opener, closer) = delimiters.into_iter().find(|(opener, _)| rest.starts_with(opener))?;
    let body = &rest[opener.len()..];
    let body = &body[..close(body, opener, closer)?];
    let is_formula = body.contains(['\\', '^', '_', '=', '{', '}', '+', '*', '<', '>'])
        && body.contains(char::is_alphanumeric);
    // Brackets and parentheses are escaped for their own sake, too: `\[optional\]`, `\(see below\)`.
    let is_short = opener != r"\[" && is_term(body);
    let whole = at..at + opener.len() + body.len() + closer.len();
    (is_formula || is_short).then_some(whole)
}

/// Where a formula ends; a backslash in it takes the next character along. None stands in another.
fn close(body: &str, opener: &str, closer: &str) -> Option<usize> {
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        let rest = &body[at..];
        if rest.starts_with(closer) {
            return Some(at);
        }
        if rest.starts_with(opener) {
            return None;
        }
        if c == '\\' {
            chars.next();
        }
    }
    None
}

/// Letters, and none of them a word: `x`, `n - 1`, `f(x)`.
fn is_term(body: &str) -> bool {
    let mut words = body.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let is_letter = |word: &str| word.chars().count() < 3;
    words.clone().next().is_some() && words.all(is_letter)
}

/// Returns a formula as it is shown: without what its lines begin with where it stands.
pub(super) fn shown(formula: &str, is_quoted: bool) -> String {
    let is_lead = |c: char| c == ' ' || c == '\t' || (is_quoted && c == '>');
    let lines = formula.lines().map(|line| line.trim_start_matches(is_lead).trim_end());
    lines.collect::<Vec<_>>().join("\n")
}
