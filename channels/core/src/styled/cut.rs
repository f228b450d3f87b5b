//! Where styled text is cut: behind a paragraph, a line or a blank, never inside what people see as one.

use super::text::StyledText;
use crate::split;

impl StyledText {
    /// Passes white space from `at` on, but keeps the indentation of a line of code.
    pub fn skip_blank(&self, mut at: usize) -> usize {
        while let Some(c) = self.text()[at..].chars().next() {
            if !c.is_whitespace() || (c != '\n' && self.in_pre(at)) {
                break;
            }
            at += c.len_utf8();
        }
        at
    }

    /// Returns where a piece that begins at `at` ends, within `room` UTF-16 units of text.
    pub fn border(&self, at: usize, room: usize) -> usize {
        let rest = &self.text()[at..];
        let window = split::fitting(rest, room.max(2));
        at + if window == rest.len() { window } else { self.good_cut(at, window) }
    }

    /// Returns where to cut within the window: behind a paragraph, a line or a blank in its second half.
    fn good_cut(&self, at: usize, window: usize) -> usize {
        let rest = &self.text()[at..];
        let text = &rest[..window];
        let behind = |found: Option<usize>, len: usize| {
            found.map(|i| i + len).filter(|cut| *cut > window / 2)
        };
        let paragraph = text.rmatch_indices("\n\n").find(|(i, _)| !self.in_pre(at + i));
        behind(paragraph.map(|(i, _)| i), 2)
            .or_else(|| behind(text.rfind('\n'), 1))
            .or_else(|| behind(text.rfind(' '), 1))
            .unwrap_or_else(|| hard_cut(rest, window))
    }
}

/// Steps back from the middle of an emoji or a letter with accents, when that is near.
fn hard_cut(rest: &str, window: usize) -> usize {
    let mut cut = window;
    for (i, c) in rest[..window].char_indices().rev().take(16) {
        let next = rest[cut..].chars().next();
        if !next.is_some_and(joins) && c != '\u{200d}' {
            return cut;
        }
        cut = i;
    }
    window
}

fn joins(c: char) -> bool {
    matches!(c, '\u{200d}' | '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}')
}
