//! What steers a terminal inside of a text: whoever sees the text there sees nothing of it.
//!
//! The forms are those of ECMA-48: control sequences (5.4), control strings (5.6), escapes (ECMA-35, 13).

/// A control string that is longer is none.
const MAX_LENGTH: usize = 4096;

/// How far something goes that steers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sequence {
    /// So many bytes.
    Ends(usize),
    /// It may end yet.
    GoesOn,
}

/// Whether a text holds anything that steers.
pub(crate) fn may_steer(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| {
        let next = bytes.get(at + 1);
        match byte {
            0x1b | 0x08 => true,
            b'\r' => next.is_some_and(|next| *next != b'\n'),
            0xc2 => next.is_some_and(|next| matches!(next, 0x80..=0x9f)),
            _ => false,
        }
    })
}

/// Returns what steers at the beginning of a text; `None` where nothing does.
pub(crate) fn at(text: &str) -> Option<Sequence> {
    let mut chars = text.chars();
    let first = chars.next()?;
    // Each of the older 8-bit forms is a shorter way to write an escape.
    let (kind, behind) = match first {
        '\u{1b}' => {
            let Some(kind) = chars.next() else { return Some(Sequence::GoesOn) };
            (kind, 1 + kind.len_utf8())
        }
        '\u{80}'..='\u{9f}' => (char::from(u8::try_from(u32::from(first)).ok()? - 0x40), 2),
        '\r' if !text[1..].starts_with('\n') => return Some(Sequence::Ends(1)),
        _ => return None,
    };
    let rest = &text.as_bytes()[behind..];
    match kind {
        '[' => Some(control(rest, behind)),
        ']' | 'P' | 'X' | '^' | '_' => string(rest, behind),
        ' '..='/' => Some(escape(rest, behind)),
        '0'..='~' => Some(Sequence::Ends(behind)),
        _ => None,
    }
}

/// Parameters, then one byte that says what they are for.
fn control(rest: &[u8], behind: usize) -> Sequence {
    let parameters = rest.iter().take(MAX_LENGTH).take_while(|b| matches!(b, 0x20..=0x3f)).count();
    match rest.get(parameters) {
        Some(0x40..=0x7e) => Sequence::Ends(behind + parameters + 1),
        // Broken off: a terminal goes on with what follows.
        Some(_) => Sequence::Ends(behind + parameters),
        None => Sequence::GoesOn,
    }
}

/// Up to a bell, or to what ends strings; whatever else steers breaks it off, so that a text full of beginnings is
/// looked through once.
fn string(rest: &[u8], behind: usize) -> Option<Sequence> {
    let within = &rest[..rest.len().min(MAX_LENGTH)];
    let ends = |(at, byte): (usize, &u8)| match (byte, within.get(at + 1)) {
        (0x07, _) => Some(at + 1),
        (0x1b, Some(b'\\')) | (0xc2, Some(0x9c)) => Some(at + 2),
        (0x1b, Some(_)) | (0xc2, Some(0x80..=0x9f)) => Some(at),
        _ => None,
    };
    match within.iter().enumerate().find_map(ends) {
        Some(length) => Some(Sequence::Ends(behind + length)),
        None => (rest.len() < MAX_LENGTH).then_some(Sequence::GoesOn),
    }
}

/// Such as a choice of letters: `ESC ( B`.
fn escape(rest: &[u8], behind: usize) -> Sequence {
    let more = rest.iter().take(MAX_LENGTH).take_while(|b| matches!(b, 0x20..=0x2f)).count();
    match rest.get(more) {
        Some(0x30..=0x7e) => Sequence::Ends(behind + more + 1),
        Some(_) => Sequence::Ends(behind + more),
        None => Sequence::GoesOn,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_steers_ends_where_terminals_end_it() {
        for (text, length) in [
            ("\u{1b}[31mx", 5),
            ("\u{1b}[0;1 qx", 7),
            ("\u{9b}2Kx", 4),
            ("\u{1b}]8;;http://x\u{7}x", 14),
            ("\u{1b}]0;t\u{1b}\\x", 7),
            ("\u{1b}Pq\u{9c}x", 5),
            ("\u{1b}]0;t\u{1b}]0;u\u{7}x", 5),
            ("\u{1b}(Bx", 3),
            ("\u{1b}7x", 2),
            ("\rx", 1),
        ] {
            assert_eq!(at(text), Some(Sequence::Ends(length)), "{text:?}");
            assert!(may_steer(text));
        }
        for text in ["\u{1b}", "\u{1b}[3", "\u{1b}]8;;", "\u{1b}("] {
            assert_eq!(at(text), Some(Sequence::GoesOn), "{text:?}");
        }
        for text in ["", "x", "\r\n", "é", "[31m"] {
            assert_eq!(at(text), None, "{text:?}");
            assert!(!may_steer(text));
        }
        let endless = format!("\u{1b}]{}", "x".repeat(MAX_LENGTH));
        assert_eq!(at(&endless), None, "what never ends is seen");
    }

    proptest! {
        #[test]
        fn it_ends_between_characters(text in "(\u{1b}|\u{9b}|\u{7}|\\[|\\]|\\(|é|[ -~]){0,20}") {
            if let Some(Sequence::Ends(length)) = at(&text) {
                prop_assert!(length > 0 && text.is_char_boundary(length), "{text:?} {length}");
            }
        }
    }
}
