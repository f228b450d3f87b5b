//! Where emphasis begins and ends beside letters and punctuation.
//!
//! CommonMark judges a run of delimiters by its two neighbours: one between punctuation and a letter opens where the
//! letter is inside and closes where it is outside, never the other way round. That is made for writing with blanks
//! between words. `**「重要」**です` and `**Status:**OK` show their stars by it, and `__init__.py` loses its underscores.
//! The parser decides that itself, so a seam is put between such a run and its neighbour before it reads: neither a
//! blank nor punctuation to it, and taken out of all that it gives.

use std::borrow::Cow;

/// A noncharacter, which no text exchanges.
const SEAM: char = '\u{fdd0}';
const CLOSING: &str = ".,:;!?)]}%…‥・、。，．：；！？）］｝」』】》〉〕〗〙〛｣”’»›";
const OPENING: &str = "([{（［｛「『【《〈〔〖〘〚｢“‘«‹„‚¿¡";

/// Returns Markdown with seams. Text that holds one itself stays as it is.
pub(super) fn seamed(markdown: &str) -> Cow<'_, str> {
    if markdown.contains(SEAM) {
        return Cow::Borrowed(markdown);
    }
    let mut out = String::new();
    let mut from = 0;
    let mut at = 0;
    while let Some(found) = markdown[at..].find(['*', '_', '~']) {
        let run = Run::at(markdown, at + found);
        at = run.end;
        if let Some(seam) = run.seam() {
            out.push_str(&markdown[from..seam]);
            out.push(SEAM);
            from = seam;
        }
    }
    if from == 0 {
        return Cow::Borrowed(markdown);
    }
    out.push_str(&markdown[from..]);
    Cow::Owned(out)
}

/// Returns what was read without the seams; whether any were put is known by the text that was read.
pub(super) fn unseamed(text: &str) -> Cow<'_, str> {
    if text.contains(SEAM) { Cow::Owned(text.replace(SEAM, "")) } else { Cow::Borrowed(text) }
}

/// A run of one delimiter, with the two characters before it and the two behind.
struct Run {
    mark: char,
    start: usize,
    end: usize,
    farther: Option<char>,
    before: char,
    after: char,
    beyond: Option<char>,
}

impl Run {
    fn at(markdown: &str, start: usize) -> Self {
        let rest = &markdown[start..];
        let mark = rest.chars().next().unwrap_or_default();
        let end = start + rest.len() - rest.trim_start_matches(mark).len();
        let mut back = markdown[..start].chars().rev();
        let mut on = markdown[end..].chars();
        let before = back.next().unwrap_or(' ');
        let after = on.next().unwrap_or(' ');
        Self { mark, start, end, farther: back.next(), before, after, beyond: on.next() }
    }

    /// Where a seam is needed: before the run to let it close, behind it to let it open. Between an underscore and its
    /// neighbour it makes the run part of a word.
    fn seam(&self) -> Option<usize> {
        // A backslash takes the first delimiter out of the run.
        if self.before == '\\' {
            return None;
        }
        match self.mark {
            '_' if self.ends_name() => Some(self.end),
            '_' if self.goes_on_in_name() => Some(self.start),
            '*' if self.closes() => Some(self.start),
            '*' if self.opens() => Some(self.end),
            '~' if self.len() == 2 && self.closes() => Some(self.start),
            _ => None,
        }
    }

    fn len(&self) -> usize {
        self.end - self.start
    }

    /// Punctuation inside, a letter outside, as in `**Status:**OK`. One star between letters of ASCII may be a product.
    fn closes(&self) -> bool {
        let is_wide =
            !self.after.is_ascii() || (!self.before.is_ascii() && CLOSING.contains(self.before));
        self.after.is_alphanumeric()
            && is_punctuation(self.before)
            && !OPENING.contains(self.before)
            && !self.opens_quote()
            && !"*_~|>\\".contains(self.before)
            && (self.len() > 1 || is_wide)
    }

    /// A letter outside, punctuation inside, as in `これは**「重要」**`; where words are parted by blanks nobody writes so.
    fn opens(&self) -> bool {
        self.before.is_alphanumeric()
            && is_punctuation(self.after)
            && !CLOSING.contains(self.after)
            && !"*_~|<\\".contains(self.after)
            && (!self.before.is_ascii() || !self.after.is_ascii())
            && self.beyond.is_some_and(|beyond| !beyond.is_whitespace())
    }

    /// A quotation mark that looks the same at both ends stands at the beginning.
    fn opens_quote(&self) -> bool {
        let is_first = |c: char| c.is_whitespace() || OPENING.contains(c);
        "\"'".contains(self.before) && self.farther.is_none_or(is_first)
    }

    /// An extension, a path or a call goes on behind a word: `__init__.py`, `__pycache__/x`, `__init__()`.
    fn ends_name(&self) -> bool {
        let goes_on = self.beyond.is_some_and(|c| c.is_alphanumeric() || c == '_');
        self.before.is_alphanumeric()
            && match self.after {
                '.' | '/' => goes_on,
                '(' => self.len() > 1,
                _ => false,
            }
    }

    /// A name goes on: `a.__class__`, `src/__tests__`.
    fn goes_on_in_name(&self) -> bool {
        let is_member = self.farther.is_some_and(|c| c.is_alphanumeric() || ")]_".contains(c));
        self.after.is_alphanumeric() && (self.before == '/' || (self.before == '.' && is_member))
    }
}

fn is_punctuation(c: char) -> bool {
    !c.is_alphanumeric() && !c.is_whitespace() && !c.is_control()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn seams_stand_where_the_rule_misses_what_is_meant() {
        let shown = |text: &str| seamed(text).replace(SEAM, "·");
        for (text, wanted) in [
            ("**「重要」**です", "**「重要」·**です"),
            ("これは**「重要」**です", "これは**·「重要」·**です"),
            ("**Status:**OK", "**Status:·**OK"),
            ("~~「旧」~~です", "~~「旧」·~~です"),
            ("*「x」*です", "*「x」·*です"),
            ("__init__.py, a.__b__ and __c__()", "__init__·.py, a.·__b__ and __c__·()"),
        ] {
            assert_eq!(shown(text), wanted);
        }
        for text in [
            "2*(3+4)*5",
            "a*\"foo\"*",
            "(**bold**)",
            "\"**bold**\"",
            "*(*foo*)*",
            "a **b**, __c__.",
            r"x\**b",
            "- **a**",
            "> **a**",
            "| **a** |",
            "`a:`\n**b**",
        ] {
            assert_eq!(shown(text), text);
        }
    }

    proptest! {
        #[test]
        fn no_seam_stays(text in "(\\PC|[*_~.「」a:]|\n|\u{fdd0}){0,60}") {
            let seamed = seamed(&text);
            if !text.contains(SEAM) {
                prop_assert_eq!(unseamed(&seamed), text.as_str());
            }
        }
    }
}
