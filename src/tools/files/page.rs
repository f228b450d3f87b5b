//! One page of lines from a stream of any size: numbered, cut, counted; memory does not grow with it.

use std::io::{self, BufRead};

/// A line shows at most so many characters.
pub(super) const MAX_LINE: usize = 2_000;
/// Lines behind the page are counted until so many bytes of the file were read.
pub(super) const MAX_COUNTED: u64 = 64 * 1024 * 1024;

/// What is wanted of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageRange {
    /// The first line, from 1.
    pub(super) offset: u64,
    /// Lines at most.
    pub(super) limit: u64,
    /// Bytes of the page at most.
    pub(super) max_bytes: usize,
    /// See [`MAX_COUNTED`].
    pub(super) max_counted: u64,
}

/// One page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// Numbered lines.
    pub(super) text: String,
    /// The last line shown; `offset - 1` when none is.
    pub(super) last: u64,
    /// Lines read so far.
    pub(super) lines: u64,
    /// The end was reached, so that `lines` is all of them.
    pub(super) whole: bool,
    /// Some bytes were no UTF-8.
    pub(super) broken: bool,
    /// The encoding that it was decoded from, where that is not UTF-8.
    pub(super) encoding: Option<&'static str>,
}

/// Reads a page. `each` is asked now and then whether to go on.
///
/// # Errors
/// The stream's, or `each`'s.
pub(super) fn read(
    mut from: impl BufRead,
    wanted: PageRange,
    each: impl Fn() -> io::Result<()>,
) -> io::Result<Page> {
    let before = skip(&mut from, wanted.offset - 1, u64::MAX, &each)?;
    let mut page = Page { last: wanted.offset - 1, lines: before.lines, ..Page::default() };
    let mut seen = before.bytes;
    page.whole = before.ended;
    let mut full = false;
    while !page.whole && !full && page.lines + 1 < wanted.offset.saturating_add(wanted.limit) {
        each()?;
        let Some(line) = next_line(&mut from, &each)? else {
            page.whole = true;
            return Ok(page);
        };
        seen += line.bytes;
        page.lines += 1;
        full = !page.show(&line, wanted.max_bytes);
    }
    if !page.whole && seen < wanted.max_counted {
        let rest = skip(&mut from, u64::MAX, wanted.max_counted - seen, &each)?;
        page.lines += rest.lines;
        page.whole = rest.ended;
    }
    Ok(page)
}

/// Lines that were passed over.
struct SkippedLines {
    lines: u64,
    bytes: u64,
    /// The stream ended before the last of them.
    ended: bool,
}

/// Passes over lines, and looks at nothing of them but their ends: a page far behind the start is found as
/// fast as the disk reads. Ends behind so many lines, or bytes.
fn skip(
    from: &mut impl BufRead,
    lines: u64,
    bytes: u64,
    each: &impl Fn() -> io::Result<()>,
) -> io::Result<SkippedLines> {
    let mut passed = SkippedLines { lines: 0, bytes: 0, ended: false };
    // A last line may have no line break.
    let mut within = false;
    while passed.lines < lines && passed.bytes < bytes {
        each()?;
        let buffer = from.fill_buf()?;
        let Some(last) = buffer.last() else {
            passed.ended = true;
            passed.lines += u64::from(within);
            break;
        };
        within = *last != b'\n';
        let left = lines - passed.lines;
        let breaks = memchr::memchr_iter(b'\n', buffer).count() as u64;
        let used = if breaks < left {
            passed.lines += breaks;
            buffer.len()
        } else {
            passed.lines += left;
            let nth = usize::try_from(left - 1).unwrap_or(usize::MAX);
            memchr::memchr_iter(b'\n', buffer).nth(nth).map_or(buffer.len(), |at| at + 1)
        };
        passed.bytes += used as u64;
        from.consume(used);
    }
    Ok(passed)
}

impl Page {
    /// Shows a line, unless the page would be too big; the first line is always shown.
    fn show(&mut self, line: &Line, max_bytes: usize) -> bool {
        let (text, broken) = line.text();
        let numbered = format!("{:4} | {text}\n", self.lines);
        if !self.text.is_empty() && self.text.len() + numbered.len() > max_bytes {
            return false;
        }
        self.broken |= broken;
        self.text.push_str(&numbered);
        self.last = self.lines;
        true
    }
}

/// A line of any length: its head, and how long it is.
#[derive(Default)]
struct Line {
    head: Vec<u8>,
    bytes: u64,
    /// Characters behind the head.
    more: u64,
    /// There are bytes behind the head.
    cut: bool,
}

impl Line {
    /// A character has at most four bytes.
    const HEAD: usize = MAX_LINE * 4;

    fn take(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        let room = Self::HEAD.saturating_sub(self.head.len());
        let (head, rest) = piece.split_at(room.min(piece.len()));
        self.head.extend_from_slice(head);
        if !rest.is_empty() {
            self.cut = true;
            // Every character has one byte that continues none.
            self.more += rest.iter().filter(|b| **b & 0xC0 != 0x80).count() as u64;
        }
    }

    fn text(&self) -> (String, bool) {
        let (head, more) = match self.head.strip_suffix(b"\r") {
            Some(head) if !self.cut => (head, 0),
            _ => (self.head.as_slice(), self.more),
        };
        let valid = match std::str::from_utf8(head) {
            Ok(_) => head,
            // The head ends within a character: the rest of it is counted as one.
            Err(e) if e.error_len().is_none() && self.cut => &head[..e.valid_up_to()],
            Err(_) => head,
        };
        let more = more + u64::from(valid.len() < head.len());
        let text = String::from_utf8_lossy(valid);
        let broken = matches!(text, std::borrow::Cow::Owned(_));
        let Some((at, _)) = text.char_indices().nth(MAX_LINE) else {
            return (if more == 0 { text.into_owned() } else { overlong(&text, more) }, broken);
        };
        let more = more + text[at..].chars().count() as u64;
        (overlong(&text[..at], more), broken)
    }
}

fn overlong(head: &str, more: u64) -> String {
    format!("{head} [+{more} characters]")
}

fn next_line(
    from: &mut impl BufRead,
    each: &impl Fn() -> io::Result<()>,
) -> io::Result<Option<Line>> {
    let mut line = Line::default();
    loop {
        let buffer = from.fill_buf()?;
        if buffer.is_empty() {
            return Ok((line.bytes > 0).then_some(line));
        }
        let end = memchr::memchr(b'\n', buffer);
        let piece = &buffer[..end.unwrap_or(buffer.len())];
        line.take(piece);
        let used = piece.len() + usize::from(end.is_some());
        from.consume(used);
        if end.is_some() {
            line.bytes += 1;
            return Ok(Some(line));
        }
        each()?;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(text: &[u8], offset: u64, limit: u64, max_bytes: usize) -> Page {
        let wanted = PageRange { offset, limit, max_bytes, max_counted: MAX_COUNTED };
        let small = io::BufReader::with_capacity(7, text);
        read(small, wanted, || Ok(())).unwrap()
    }

    #[test]
    fn a_line_is_cut_at_whole_characters_and_counted() {
        for letter in ["a", "ö", "漢", "👍"] {
            let text = letter.repeat(MAX_LINE + 37);
            let cut = page(text.as_bytes(), 1, 1, 1 << 20);
            let expected = format!("   1 | {} [+37 characters]\n", letter.repeat(MAX_LINE));
            assert_eq!(cut.text, expected);
            let long = format!("a{}", letter.repeat(MAX_LINE * 5));
            let cut = page(long.as_bytes(), 1, 1, 1 << 20);
            assert!(
                cut.text.ends_with(&format!(" [+{} characters]\n", MAX_LINE * 4 + 1)),
                "{letter}"
            );
            assert!(!cut.broken, "{letter}");
        }
    }

    #[test]
    fn counting_ends_where_it_would_be_endless() {
        let wanted = PageRange { offset: 1, limit: 2, max_bytes: 100, max_counted: 10 };
        let page = read(io::BufReader::new(io::repeat(b'\n')), wanted, || Ok(())).unwrap();
        assert_eq!((page.text.as_str(), page.last, page.whole), ("   1 | \n   2 | \n", 2, false));
    }

    proptest! {
        /// Pages put together are the file.
        #[test]
        fn pages_follow_one_another(
            lines in prop::collection::vec("[^\n\r]{0,40}", 0..30), max_bytes in 20_usize..200, limit in 1_u64..9
        ) {
            let text: String = lines.iter().map(|l| format!("{l}\n")).collect();
            let mut offset = 1;
            let mut all = String::new();
            loop {
                let next = page(text.as_bytes(), offset, limit, max_bytes);
                prop_assert!(next.whole && next.lines == lines.len() as u64);
                all.push_str(&next.text);
                if next.last >= next.lines { break; }
                prop_assert!(next.last >= offset, "a page moves on");
                offset = next.last + 1;
            }
            let numbered: String =
                lines.iter().enumerate().map(|(i, l)| format!("{:4} | {l}\n", i + 1)).collect();
            prop_assert_eq!(all, numbered);
        }

        #[test]
        fn any_bytes_make_a_page(bytes: Vec<u8>, offset in 1_u64..5) {
            let next = page(&bytes, offset, 3, 100);
            prop_assert!(next.whole);
            prop_assert_eq!(next.broken, next.text.contains('\u{fffd}') && std::str::from_utf8(&bytes).is_err());
        }
    }
}
