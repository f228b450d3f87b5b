//! A text file as lines that print as they were read: each with its own end, and the mark that some editors begin with.

use std::fmt;
use std::ops::Range;

/// Bytes of a file that is read at all.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;
/// What some editors put in front of a text.
const MARK: char = '\u{feff}';

/// Why bytes are no text that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is too big.
    #[error("it has {0} bytes and {MAX_BYTES} are the most that is read")]
    TooBig(usize),
    /// It is written in another encoding.
    #[error("it is no UTF-8 from byte {0} on: save it as UTF-8")]
    Encoding(usize),
}

/// Reads a file's bytes as text.
///
/// # Errors
/// Too many bytes, or another encoding than UTF-8.
pub fn decode(bytes: &[u8]) -> Result<&str, Unreadable> {
    if bytes.len() > MAX_BYTES {
        return Err(Unreadable::TooBig(bytes.len()));
    }
    std::str::from_utf8(bytes).map_err(|error| Unreadable::Encoding(error.valid_up_to()))
}

/// A text in lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    is_marked: bool,
    lines: Vec<Line>,
    /// How new lines end.
    usual: &'static str,
}

/// A line without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    text: String,
    end: &'static str,
}

impl Text {
    /// Reads a text.
    pub fn read(source: &str) -> Self {
        let (is_marked, rest) = match source.strip_prefix(MARK) {
            Some(rest) => (true, rest),
            None => (false, source),
        };
        let lines: Vec<Line> = rest.split_inclusive('\n').map(Line::read).collect();
        let ends_so = |end: &str| lines.iter().filter(|line| line.end == end).count();
        let usual = if ends_so(CRLF) > ends_so(LF) { CRLF } else { LF };
        Self { is_marked, lines, usual }
    }

    /// Returns how many lines there are.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns a line without its end; nothing behind the last one.
    pub fn line(&self, at: usize) -> &str {
        self.lines.get(at).map_or("", |line| &line.text)
    }

    /// Lists the lines without their ends.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(|line| line.text.as_str())
    }

    /// Whether it has a line with something in it.
    pub fn is_blank(&self) -> bool {
        self.lines().all(|line| line.trim().is_empty())
    }

    /// Puts a line in front of the line `at`.
    pub fn insert(&mut self, at: usize, text: impl Into<String>) {
        let at = at.min(self.lines.len());
        if let Some(before) = at.checked_sub(1).and_then(|before| self.lines.get_mut(before))
            && before.end.is_empty()
        {
            before.end = self.usual;
        }
        self.lines.insert(at, Line { text: text.into(), end: self.usual });
    }

    /// Puts another text in the place of the line `at`.
    pub fn replace(&mut self, at: usize, text: impl Into<String>) {
        if let Some(line) = self.lines.get_mut(at) {
            line.text = text.into();
        }
    }

    /// Takes the line `at` away.
    pub fn remove(&mut self, at: usize) {
        if at < self.lines.len() {
            self.lines.remove(at);
        }
    }

    /// Takes many lines away, in one go.
    pub fn remove_all(&mut self, lines: &[Range<usize>]) {
        let mut stays = vec![true; self.lines.len()];
        for range in lines {
            let range = range.start.min(stays.len())..range.end.min(stays.len());
            stays[range].fill(false);
        }
        let mut stays = stays.into_iter();
        self.lines.retain(|_| stays.next().unwrap_or(true));
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_marked {
            fmt::Write::write_char(f, MARK)?;
        }
        self.lines.iter().try_for_each(|line| {
            f.write_str(&line.text)?;
            f.write_str(line.end)
        })
    }
}

const LF: &str = "\n";
const CRLF: &str = "\r\n";

impl Line {
    fn read(line: &str) -> Self {
        let (text, end) = match (line.strip_suffix(CRLF), line.strip_suffix(LF)) {
            (Some(text), _) => (text, CRLF),
            (None, Some(text)) => (text, LF),
            (None, None) => (line, ""),
        };
        Self { text: text.to_owned(), end }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_new_line_ends_as_the_others_do() {
        let mut text = Text::read("\u{feff}one\r\ntwo");
        text.insert(2, "three");
        text.insert(0, "zero");
        assert_eq!(text.to_string(), "\u{feff}zero\r\none\r\ntwo\r\nthree\r\n");
        let mut empty = Text::read("");
        assert!(empty.is_blank());
        empty.insert(5, "first");
        assert_eq!(empty.to_string(), "first\n");
    }

    #[test]
    fn what_is_no_text_says_where() {
        assert_eq!(
            decode(b"ab\xff").unwrap_err().to_string(),
            "it is no UTF-8 from byte 2 on: save it as UTF-8"
        );
        let big = vec![b'x'; MAX_BYTES + 1];
        assert_eq!(decode(&big), Err(Unreadable::TooBig(MAX_BYTES + 1)));
    }

    proptest! {
        #[test]
        fn it_prints_as_it_was_read(source in "(\u{feff}|)([ -~\r\u{e9}]{0,8}(\n|\r\n|\r|)){0,12}") {
            prop_assert_eq!(Text::read(&source).to_string(), source);
        }
    }
}
