//! What stands around the host of a link: scheme, port, path and query.

use super::domain::is_latin;

/// What follows a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// In bytes.
    pub length: usize,
    /// It has a path: without one and without a scheme the link ends with its host.
    pub has_path: bool,
}

/// Returns the length of `https://` or `http://`.
pub fn scheme(text: &str) -> Option<usize> {
    let begins =
        |scheme: &&str| text.get(..scheme.len()).is_some_and(|t| t.eq_ignore_ascii_case(scheme));
    ["https://", "http://"].into_iter().find(begins).map(str::len)
}

/// Reads port, path and query.
pub fn tail(text: &str) -> Tail {
    let port = match text.strip_prefix(':') {
        Some(rest) => match rest.bytes().take_while(u8::is_ascii_digit).count() {
            0 => 0,
            digits => 1 + digits,
        },
        None => 0,
    };
    let path = path(&text[port..]);
    Tail { length: port + path + query(&text[port + path..]), has_path: path > 0 }
}

/// Returns the length of a path: up to its last character that may be one's last, or a closed
/// parenthesis.
fn path(text: &str) -> usize {
    if !text.starts_with('/') {
        return 0;
    }
    let mut at = 1;
    let mut end = 1;
    while let Some(c) = text[at..].chars().next() {
        if c == '(' {
            let Some(length) = balanced(&text[at..]) else { break };
            at += length;
            end = at;
        } else if in_path(c) {
            at += c.len_utf8();
            if ends_path(c) {
                end = at;
            }
        } else {
            break;
        }
    }
    end
}

/// Returns the length of `(…)`, in which one more may stand.
fn balanced(text: &str) -> Option<usize> {
    let run = |from: usize| {
        let rest = &text[from..];
        from + rest.find(|c| !in_path(c)).unwrap_or(rest.len())
    };
    let inner = run(1);
    if text[inner..].starts_with(')') {
        return (inner > 1).then_some(inner + 1);
    }
    if !text[inner..].starts_with('(') {
        return None;
    }
    let close = run(inner + 1);
    if close == inner + 1 || !text[close..].starts_with(')') {
        return None;
    }
    let end = run(close + 1);
    text[end..].starts_with(')').then_some(end + 1)
}

/// Returns the length of a query: up to its last character that may be one's last.
pub fn query(text: &str) -> usize {
    if !text.starts_with('?') {
        return 0;
    }
    let inside = |c: char| c.is_ascii_alphanumeric() || "!?*'@();:&=+$/%#[]-_.,~|".contains(c);
    let rest = &text[1..];
    let run = &rest[..rest.find(|c| !inside(c)).unwrap_or(rest.len())];
    let last = run.rfind(|c: char| c.is_ascii_alphanumeric() || "-_&=#/".contains(c));
    last.map_or(0, |last| last + 2)
}

fn is_letter(c: char) -> bool {
    is_latin(c) || ('\u{400}'..='\u{4FF}').contains(&c)
}

fn in_path(c: char) -> bool {
    is_letter(c) || "!*';:=+,.$/%#[]-–_~@|&".contains(c)
}

fn ends_path(c: char) -> bool {
    is_letter(c) || "+-=_#/".contains(c)
}
