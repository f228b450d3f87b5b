//! A text seen through: what it comes to without characters that nobody sees, percent signs of addresses, marks of
//! Markdown, and where each piece of that stands in what was written.

use std::ops::Range;

use crate::widths::has_no_width;

/// The longest name or number of a character (`&amp;`, `&#x1F600;`), bytes.
const LONGEST_ENTITY: usize = 34;
/// The longest address of a link that is passed over, bytes.
const LONGEST_TARGET: usize = 4096;

/// What a text comes to.
#[derive(Debug, Default)]
pub(crate) struct Through {
    text: String,
    /// In order; each goes as far as the next one begins.
    runs: Vec<Run>,
    /// Where in the source the target of a link begins that has no end yet.
    open: Option<usize>,
}

/// A stretch that stands in the source as it is, or stands for a stretch of it.
#[derive(Debug)]
struct Run {
    /// Where it begins in the text.
    at: usize,
    /// Where it stands in the source.
    source: Range<usize>,
}

impl Through {
    /// Returns the text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns where a range of the text stands in the source.
    pub(crate) fn source(&self, range: Range<usize>) -> Range<usize> {
        self.start(range.start)..self.end(range.end)
    }

    /// Returns how far the source is settled when the text is as far as `at`, which may be its end.
    pub(crate) fn settled(&self, at: usize) -> usize {
        let whole = self.open.unwrap_or(usize::MAX);
        if at < self.text.len() { self.start(at).min(whole) } else { whole }
    }

    fn start(&self, at: usize) -> usize {
        let Some(index) = self.run(at) else { return 0 };
        let Run { at: from, source } = &self.runs[index];
        if self.is_copy(index) { source.start + (at - from) } else { source.start }
    }

    fn end(&self, end: usize) -> usize {
        let Some(index) = end.checked_sub(1).and_then(|last| self.run(last)) else { return 0 };
        let Run { at, source } = &self.runs[index];
        if self.is_copy(index) { source.start + (end - at) } else { source.end }
    }

    fn run(&self, at: usize) -> Option<usize> {
        self.runs.partition_point(|run| run.at <= at).checked_sub(1)
    }

    fn is_copy(&self, index: usize) -> bool {
        let Run { at, source } = &self.runs[index];
        let end = self.runs.get(index + 1).map_or(self.text.len(), |next| next.at);
        end - at == source.len()
    }

    /// Takes a character that stands for a stretch of the source.
    fn push(&mut self, c: char, source: Range<usize>) {
        let at = self.text.len();
        self.text.push(c);
        let is_copy = source.len() == c.len_utf8();
        let goes_on = self.runs.last().is_some_and(|last| {
            is_copy && last.source.end == source.start && at - last.at == last.source.len()
        });
        match self.runs.last_mut() {
            Some(last) if goes_on => last.source.end = source.end,
            _ => self.runs.push(Run { at, source }),
        }
    }
}

/// Returns a text without what nobody sees, escapes of addresses (`%41`) read; `None` where there is neither.
pub(crate) fn seen(text: &str) -> Option<Through> {
    let is_plain = text.is_ascii() || !text.chars().any(has_no_width);
    let is_escaped = text.match_indices('%').any(|(at, _)| escaped(&text[at..]).is_some());
    if is_plain && !is_escaped {
        return None;
    }
    let mut through = Through::default();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let read = if c == '%' { escaped(&text[at..]) } else { None };
        let length = if read.is_some() { 3 } else { c.len_utf8() };
        if !has_no_width(c) {
            through.push(read.unwrap_or(c), at..at + length);
        }
        at += length;
    }
    Some(through)
}

/// Returns what may be left of Markdown when it is rendered, without any mark: letters and digits, and a blank for each
/// stretch of white space. In a second way, too, where it holds links: without where they lead.
pub(crate) fn without_marks(markdown: &str) -> Vec<Through> {
    let has_links = ["](", "]["].iter().any(|link| markdown.contains(link));
    let mut ways = vec![read(markdown, Reading::Written)];
    if has_links {
        ways.push(read(markdown, Reading::WithoutTargets));
    }
    ways
}

/// Returns what is left of a secret without marks.
pub(crate) fn bare(secret: &str) -> String {
    read(secret, Reading::Whole).text.trim().to_owned()
}

/// How Markdown is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// It is whole: what is open at its end stays open.
    Whole,
    /// It may go on.
    Written,
    /// The same, without where links lead.
    WithoutTargets,
}

fn read(markdown: &str, reading: Reading) -> Through {
    let mut through = Through::default();
    let mut at = 0;
    while let Some(c) = markdown[at..].chars().next() {
        let rest = &markdown[at..];
        let Met { shown, length } = match c {
            '&' => entity(rest, reading),
            '%' => percent(rest, reading),
            ']' if reading == Reading::WithoutTargets => match target(&rest[1..]) {
                Target::Ends(length) => Met::nothing(1 + length),
                Target::GoesOn => {
                    through.open = Some(at);
                    Met::nothing(rest.len())
                }
            },
            c if c.is_alphanumeric() => Met { shown: Some(c), length: c.len_utf8() },
            c if c.is_whitespace() => Met { shown: Some(' '), length: c.len_utf8() },
            c => Met::nothing(c.len_utf8()),
        };
        let shown = shown.filter(|c| *c != ' ' || !through.text.ends_with(' '));
        if let Some(c) = shown.filter(|c| *c == ' ' || c.is_alphanumeric()) {
            through.push(c, at..at + length);
        }
        at += length;
    }
    through
}

/// What begins at a place: what is shown of it, and how many bytes it takes.
struct Met {
    shown: Option<char>,
    length: usize,
}

impl Met {
    fn nothing(length: usize) -> Self {
        Self { shown: None, length }
    }
}

/// The character that an escape of an address stands for; others than ASCII's stand for themselves.
fn escaped(text: &str) -> Option<char> {
    let digits = text.get(1..3).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let byte = u8::from_str_radix(digits, 16).ok()?;
    byte.is_ascii().then_some(char::from(byte))
}

fn percent(rest: &str, reading: Reading) -> Met {
    if let Some(c) = escaped(rest) {
        return Met { shown: Some(c), length: 3 };
    }
    let is_open = reading != Reading::Whole && rest.len() < 3 && rest.is_ascii();
    Met::nothing(if is_open { rest.len() } else { 1 })
}

/// A character that is named or numbered: those that have names are none of which secrets are told.
fn entity(rest: &str, reading: Reading) -> Met {
    let part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'#';
    let length = 1 + rest.bytes().skip(1).take(LONGEST_ENTITY).take_while(part).count();
    let name = &rest[1..length];
    match rest.as_bytes().get(length) {
        Some(b';') => {
            let number =
                name.strip_prefix('#').and_then(|number| match number.strip_prefix(['x', 'X']) {
                    Some(number) => u32::from_str_radix(number, 16).ok(),
                    None => number.parse().ok(),
                });
            Met { shown: number.and_then(char::from_u32), length: length + 1 }
        }
        None if reading != Reading::Whole => Met::nothing(length),
        _ => Met::nothing(1),
    }
}

/// Where the target of a link ends that may begin behind a `]`.
enum Target {
    /// After so many bytes; none when nothing begins there.
    Ends(usize),
    /// It may end yet.
    GoesOn,
}

fn target(rest: &str) -> Target {
    let ends = match rest.as_bytes().first() {
        Some(b'(') => b"()",
        Some(b'[') => b"[]",
        _ => return Target::Ends(0),
    };
    let bytes = &rest.as_bytes()[..rest.len().min(LONGEST_TARGET)];
    let mut depth = 0_usize;
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == ends[0] {
            depth += 1;
        } else if *byte == ends[1] {
            depth -= 1;
        }
        if depth == 0 {
            return Target::Ends(at + 1);
        }
        // A link goes over no blank line.
        if bytes[at..].starts_with(b"\n\n") {
            return Target::Ends(0);
        }
    }
    if rest.len() < LONGEST_TARGET { Target::GoesOn } else { Target::Ends(0) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn left(markdown: &str) -> String {
        without_marks(markdown).pop().unwrap().text
    }

    #[test]
    fn what_nobody_sees_is_passed_over_and_what_is_seen_found_again() {
        let text = "é se\u{200b}cr\u{202e}%65t%zz";
        let through = seen(text).unwrap();
        assert_eq!(through.text(), "é secret%zz");
        let at = through.text().find("secret").unwrap();
        assert_eq!(&text[through.source(at..at + 6)], "se\u{200b}cr\u{202e}%65t");
        for plain in ["", "a plain text", "100 % é", "%zz %"] {
            assert!(seen(plain).is_none(), "{plain}");
        }
    }

    #[test]
    fn marks_of_markdown_are_passed_over() {
        for text in [
            "**ha**lf",
            "ha``lf",
            "h\\alf",
            "[ha](x \"t\")lf",
            "[ha](<x (y)>)lf",
            "[ha][r]lf",
            "![ha](http://x)lf",
            "h&#97;l&#x66;",
            "ha&zwnj;lf",
            "h~~al~~f",
            "ha\u{200d}lf",
            "h\u{336}a\u{336}lf",
            "%68alf",
        ] {
            assert_eq!(left(text), "half", "{text}");
        }
        assert_eq!(left("ha lf\n\n h"), "ha lf h");
        assert_eq!(left("ha&#10"), "ha", "it may go on");
        assert_eq!(left("ha%6"), "ha");
        assert_eq!(bare("R&D-100%"), "RD100");
    }

    #[test]
    fn an_address_without_an_end_hides_nothing_behind_it() {
        let text = format!("[a]({}half", "x".repeat(5_000));
        assert!(left(&text).ends_with("half"));
        assert!(left("[a](x\n\nhalf").ends_with("half"));
        let open = without_marks("say [ha](http").pop().unwrap();
        assert_eq!((open.text(), open.settled(open.text().len())), ("say ha", 7));
    }

    proptest! {
        #[test]
        fn whatever_is_seen_stands_in_the_source(text in "(\\PC|\u{200b}|%41|&#65;|\\]\\(|\\)|\n){0,60}") {
            let ways = without_marks(&text).into_iter().chain(seen(&text));
            for through in ways {
                let mut last = 0;
                for (at, c) in through.text().char_indices() {
                    let source = through.source(at..at + c.len_utf8());
                    prop_assert!(source.start >= last && source.end <= text.len());
                    prop_assert!(text.get(source.clone()).is_some_and(|piece| !piece.is_empty()));
                    last = source.end;
                }
            }
        }
    }
}
