//! A text seen through: what it comes to without characters that nobody sees, letters of other scripts that look like
//! ASCII's, percent signs of addresses, marks of Markdown, and where each piece of that stands in what was written.

use std::ops::Range;

use crate::invisible_chars::shows_nothing;
use crate::lookalike;
use crate::sequence::{self, Sequence};
use crate::targets::{Target, Targets};

/// Without any of these a text of Markdown is shown as it was written.
pub(crate) const MARKS: [char; 12] = ['*', '_', '~', '`', '\\', '[', ']', '<', '>', '&', '|', '%'];
/// The longest name or number of a character (`&amp;`, `&#x1F600;`), bytes.
const MAX_ENTITY: usize = 34;
/// Keys that are known by their look have more characters.
pub(crate) const KEY: usize = 16;
/// What may become one has more when it is waited for.
pub(crate) const BEGUN_KEY: usize = 8;
/// Signs of keys and addresses that have names.
const NAMED: [(&str, char); 12] = [
    ("hyphen", '-'),
    ("dash", '-'),
    ("lowbar", '_'),
    ("UnderBar", '_'),
    ("colon", ':'),
    ("period", '.'),
    ("sol", '/'),
    ("plus", '+'),
    ("equals", '='),
    ("percnt", '%'),
    ("commat", '@'),
    ("amp", '&'),
];

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

    /// Takes a text as it stands in the source.
    pub(crate) fn push_all(&mut self, text: &str, from: usize) {
        for (at, c) in text.char_indices() {
            self.push(c, from + at..from + at + c.len_utf8());
        }
    }

    /// Takes the last character away again.
    fn pop(&mut self) {
        let Some(c) = self.text.pop() else { return };
        match self.runs.last_mut() {
            // What is no copy stands for one character alone.
            Some(last) if last.at < self.text.len() => last.source.end -= c.len_utf8(),
            _ => drop(self.runs.pop()),
        }
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

/// Returns a text without what nobody sees, look-alikes and escapes of addresses (`%41`) read, and in a second way as a
/// terminal shows it; nothing where that is the text itself.
pub(crate) fn seen(text: &str) -> Vec<Through> {
    let is_plain = match text.is_ascii() {
        true => !text.bytes().any(|b| shows_nothing(char::from(b))),
        false => !(text.chars().any(shows_nothing) || lookalike::may_mislead(text)),
    };
    let is_escaped = text.match_indices('%').any(|(at, _)| escaped(&text[at..]).is_some());
    let mut ways = Vec::new();
    if !is_plain || is_escaped {
        ways.push(see(text, false));
    }
    if sequence::may_steer(text) {
        ways.push(see(text, true));
    }
    ways
}

/// `on_a_screen`: what steers a terminal is obeyed, as far as it takes letters away.
fn see(text: &str, on_a_screen: bool) -> Through {
    let mut through = Through::default();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        match sequence::at(&text[at..]).filter(|_| on_a_screen) {
            Some(Sequence::Ends(length)) => {
                at += length;
                continue;
            }
            Some(Sequence::GoesOn) => {
                through.open = Some(at);
                break;
            }
            None => {}
        }
        if on_a_screen && c == '\u{8}' {
            through.pop();
        }
        let read = if c == '%' { escaped(&text[at..]) } else { None };
        let length = if read.is_some() { 3 } else { c.len_utf8() };
        if !shows_nothing(c) {
            let shown = read.or_else(|| lookalike::ascii(c)).unwrap_or(c);
            through.push(shown, at..at + length);
        }
        at += length;
    }
    through
}

/// Returns what may be left of Markdown when it is rendered, without any mark: letters and digits, and a blank for each
/// stretch of white space. In a second way, too, where it holds links: without where they lead.
pub(crate) fn without_marks(markdown: &str) -> Vec<Through> {
    let mut ways = vec![without_own_marks(markdown)];
    if has_target(markdown) {
        ways.push(read(markdown, MarkdownReader { passes_targets: true, ..MarkdownReader::BARE }));
    }
    ways
}

/// The first way of [`without_marks`]; its time grows with the length alone, whatever stands in the text.
pub(crate) fn without_own_marks(markdown: &str) -> Through {
    read(markdown, MarkdownReader::BARE)
}

/// Returns what may be seen of Markdown, its signs that are no marks among it, where something of more than `longer` bytes may
/// have marks inside; in a second way, too, where it holds links. Nothing where that cannot be.
pub(crate) fn shown(markdown: &str, longer: usize) -> Vec<Through> {
    let mut ways: Vec<Through> = shown_with_links(markdown, longer).into_iter().collect();
    if has_target(markdown) {
        ways.push(read(markdown, MarkdownReader { passes_targets: true, ..MarkdownReader::SHOWN }));
    }
    ways
}

/// The first way of [`shown`]; its time grows with the length alone, whatever stands in the text.
pub(crate) fn shown_with_links(markdown: &str, longer: usize) -> Option<Through> {
    may_join(markdown, longer).then(|| read(markdown, MarkdownReader::SHOWN))
}

fn has_target(markdown: &str) -> bool {
    ["](", "]["].iter().any(|link| markdown.contains(link))
}

/// Whether marks stand inside of something without a blank that is so long.
fn may_join(markdown: &str, longer: usize) -> bool {
    let is_blank = |b: &u8| matches!(b, b' ' | b'\n' | b'\t' | b'\r');
    markdown.as_bytes().split(is_blank).filter(|word| word.len() > longer).any(|word| {
        let is_mark = |b: &u8| matches!(b, b'*' | b'~' | b'`' | b'\\' | b'[' | b']' | b'&');
        let mut inside = word.iter().skip_while(|b| is_mark(b)).skip_while(|b| !is_mark(b));
        inside.any(|b| !is_mark(b))
    })
}

/// Returns what is left of a secret without marks.
pub(crate) fn bare(secret: &str) -> String {
    read(secret, MarkdownReader { is_whole: true, ..MarkdownReader::BARE }).text.trim().to_owned()
}

/// How Markdown is read.
#[derive(Clone, Copy)]
struct MarkdownReader {
    /// It is whole: what is open at its end stays open. Else it may go on.
    is_whole: bool,
    /// Without where links lead.
    passes_targets: bool,
    /// With signs that are no marks.
    keeps_signs: bool,
}

impl MarkdownReader {
    const BARE: Self = Self { is_whole: false, passes_targets: false, keeps_signs: false };
    const SHOWN: Self = Self { keeps_signs: true, ..Self::BARE };

    /// What a character is seen as; `None` where nobody sees it.
    fn seen(self, c: char) -> Option<char> {
        let c = lookalike::ascii(c).unwrap_or(c);
        match c {
            // Some of these count as white space, too.
            c if shows_nothing(c) => None,
            c if c.is_whitespace() => Some(' '),
            c if c.is_alphanumeric() => Some(c),
            '*' | '~' | '`' | '\\' | '[' | ']' => None,
            c => (self.keeps_signs && !lookalike::is_unseen(c)).then_some(c),
        }
    }
}

fn read(markdown: &str, reading: MarkdownReader) -> Through {
    let mut through = Through::default();
    let targets = reading.passes_targets.then(|| Targets::of(markdown));
    let mut at = 0;
    while let Some(c) = markdown[at..].chars().next() {
        let rest = &markdown[at..];
        let ends = targets.as_ref().filter(|_| c == ']').map(|targets| targets.at(at + 1));
        let VisibleSpan { shown, length } = match (c, ends) {
            (_, Some(Target::Ends(length))) => VisibleSpan::nothing(1 + length),
            (_, Some(Target::GoesOn)) => {
                through.open = Some(at);
                VisibleSpan::nothing(rest.len())
            }
            ('&', _) => entity(rest, reading),
            ('%', _) => percent(rest, reading),
            (c, None) => VisibleSpan { shown: Some(c), length: c.len_utf8() },
        };
        let shown = shown.and_then(|c| reading.seen(c));
        if let Some(c) = shown.filter(|c| *c != ' ' || !through.text.ends_with(' ')) {
            through.push(c, at..at + length);
        }
        at += length;
    }
    through
}

/// What begins at a place: what is shown of it, and how many bytes it takes.
struct VisibleSpan {
    shown: Option<char>,
    length: usize,
}

impl VisibleSpan {
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

fn percent(rest: &str, reading: MarkdownReader) -> VisibleSpan {
    if let Some(c) = escaped(rest) {
        return VisibleSpan { shown: Some(c), length: 3 };
    }
    let is_open = !reading.is_whole && rest.len() < 3 && rest.is_ascii();
    if is_open {
        VisibleSpan::nothing(rest.len())
    } else {
        VisibleSpan { shown: Some('%'), length: 1 }
    }
}

/// A character that is named or numbered. Of those that have names secrets hold these alone.
fn entity(rest: &str, reading: MarkdownReader) -> VisibleSpan {
    let part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'#';
    let length = 1 + rest.bytes().skip(1).take(MAX_ENTITY).take_while(part).count();
    let name = &rest[1..length];
    match rest.as_bytes().get(length) {
        Some(b';') => VisibleSpan { shown: entity_of(name), length: length + 1 },
        None if !reading.is_whole => VisibleSpan::nothing(length),
        _ => VisibleSpan { shown: Some('&'), length: 1 },
    }
}

fn entity_of(name: &str) -> Option<char> {
    let Some(number) = name.strip_prefix('#') else {
        return NAMED.iter().find(|(known, _)| *known == name).map(|(_, c)| *c);
    };
    let number = match number.strip_prefix(['x', 'X']) {
        Some(number) => u32::from_str_radix(number, 16).ok(),
        None => number.parse().ok(),
    };
    number.and_then(char::from_u32)
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
        let text = "é se\u{200b}c\u{1b}r\u{202e}%65t%zz";
        let through = seen(text).swap_remove(0);
        assert_eq!(through.text(), "é secret%zz");
        let at = through.text().find("secret").unwrap();
        assert_eq!(&text[through.source(at..at + 6)], "se\u{200b}c\u{1b}r\u{202e}%65t");
        for control in ["\0", "\u{8}", "\u{b}", "\u{c}", "\u{7f}", "\u{85}", "\u{9b}"] {
            let (text, whole) = (format!("se{control}cret"), "secret");
            assert_eq!(seen(&text)[0].text(), whole, "{text:?}");
            assert_eq!(left(&text), whole, "{text:?}");
        }
        for plain in ["", "a plain text", "100 % é", "%zz %", "a\tb\r\nc"] {
            assert!(seen(plain).is_empty(), "{plain}");
        }
    }

    #[test]
    fn what_steers_a_terminal_is_passed_over_in_a_second_way() {
        for text in [
            "se\u{1b}[31mcr\u{1b}(Bet",
            "se\u{1b}]8;;http://x\u{7}cret\u{1b}]8;;\u{1b}\\",
            "sec\rret",
            "secx\u{8}ret",
            "se\u{9b}1mcret\u{1b}",
        ] {
            let ways = seen(text);
            let shown = ways.last().unwrap();
            assert_eq!(shown.text(), "secret", "{text:?}");
            assert!(text[shown.source(0..6)].ends_with('t'), "{text:?}");
        }
        let open = seen("say se\u{1b}]8;;http").pop().unwrap();
        assert_eq!((open.text(), open.settled(open.text().len())), ("say se", 6));
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
    fn what_is_shown_keeps_its_signs() {
        let left = |markdown: &str| shown(markdown, BEGUN_KEY).pop().map(|through| through.text);
        for text in [
            "sk-**a1B2c3**_d4",
            "sk&hyphen;a1B2c3&lowbar;d4",
            "sk-[a1B2](x \"t\")c3_d4",
            "&#115;k-a1``B2c3\\_d4",
            "ѕk\u{2011}a1&#x200b;B2c3_d\u{336}４",
        ] {
            assert_eq!(left(text).as_deref(), Some("sk-a1B2c3_d4"), "{text}");
        }
        for text in
            ["**bold** and `code` [x]", "a plain text, 100 % of it", "https://x.example/a_b/c-d-e"]
        {
            assert!(left(text).is_none(), "{text}");
        }
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
        fn whatever_is_seen_stands_in_the_source(text in "(\\PC|\u{200b}|\u{8}|\u{1b}\\[|%41|&#65;|\\]\\(|\\)|\n){0,60}") {
            let ways = without_marks(&text).into_iter().chain(shown(&text, 0)).chain(seen(&text));
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
