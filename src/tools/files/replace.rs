//! Replacing an exact text: where it stands, what comes of it, and a short diff for the reader.

use std::ops::Range;

use selkie_channel_core::shorten;

use super::whole::MAX_WHOLE;
use crate::ToolError;

/// Lines of the file shown around a change.
const AROUND: usize = 2;
/// Lines of a diff shown at most.
const MAX_SHOWN: usize = 60;
/// Places that are changed at once at most.
const MAX_PLACES: usize = 100_000;
/// A line of a diff is cut after so many characters.
const MAX_WIDTH: usize = 200;

/// What is replaced by what.
pub(super) struct Replace<'a> {
    /// The exact text.
    pub(super) old: &'a str,
    /// What comes in its place.
    pub(super) new: &'a str,
    /// Every place, not just one.
    pub(super) all: bool,
    /// Whether the tool lets its caller ask for that.
    pub(super) may_all: bool,
}

/// What comes of it.
#[derive(Debug)]
pub(super) struct Replacement {
    /// The new content.
    pub(super) content: Vec<u8>,
    /// How many places were changed.
    pub(super) count: usize,
    /// The changed lines, for the reader.
    pub(super) diff: String,
}

impl Replace<'_> {
    /// Replaces in a file's content. A text of several lines is found in a file with Windows line ends,
    /// too, and what comes in its place gets them.
    ///
    /// # Errors
    /// When the text stands nowhere, or in several places and `all` is not wanted.
    pub(super) fn apply(&self, shown: &str, content: &[u8]) -> Result<Replacement, ToolError> {
        if self.old == self.new {
            return Err(ToolError::tell("old_string and new_string are the same"));
        }
        let places = places(content, self.old.as_bytes());
        if places.is_empty() && self.old.contains('\n') && !self.old.contains('\r') {
            let windows = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
            let old = windows(self.old);
            let new = windows(self.new);
            if !self::places(content, old.as_bytes()).is_empty() {
                return Replace { old: &old, new: &new, ..*self }.apply(shown, content);
            }
        }
        match places.len() {
            0 => Err(ToolError::tell(format!(
                "old_string was not found in {shown}: read the file again and copy the text exactly"
            ))),
            count @ 2.. if !self.all => Err(ToolError::tell(format!(
                "old_string occurs in {count} places of {shown}: add lines around it until it is unique{}",
                if self.may_all { ", or set replace_all" } else { "" }
            ))),
            count => {
                self.check_size(shown, content, count)?;
                Ok(self.at(&places, content))
            }
        }
    }

    /// A short text in many places makes a small file a large one.
    fn check_size(&self, shown: &str, before: &[u8], count: usize) -> Result<(), ToolError> {
        let size = before.len() - count * self.old.len() + count.saturating_mul(self.new.len());
        if count > MAX_PLACES {
            return Err(ToolError::tell(format!(
                "old_string occurs in more than {MAX_PLACES} places of {shown}: use a longer one"
            )));
        }
        if size as u64 > MAX_WHOLE {
            return Err(ToolError::tell(format!(
                "{shown} would become too large ({size} bytes > {} MiB max)",
                MAX_WHOLE / 1024 / 1024
            )));
        }
        Ok(())
    }

    fn at(&self, places: &[usize], before: &[u8]) -> Replacement {
        let mut content = Vec::with_capacity(before.len());
        let mut changes = Vec::new();
        let mut from = 0;
        for place in places {
            content.extend_from_slice(&before[from..*place]);
            let start = content.len();
            content.extend_from_slice(self.new.as_bytes());
            from = place + self.old.len();
            changes.push((*place..from, start..content.len()));
        }
        content.extend_from_slice(&before[from..]);
        let diff = diff(before, &content, &changes);
        Replacement { content, count: places.len(), diff }
    }
}

/// Shows changed lines with some around them. `changes` are in order: where in `before`, where in `after`.
pub(super) fn diff(
    before: &[u8],
    after: &[u8],
    changes: &[(Range<usize>, Range<usize>)],
) -> String {
    let mut shown = DiffExcerpt::default();
    for (old, new) in &changed_lines(before, after, changes) {
        if shown.lines.len() >= MAX_SHOWN {
            break;
        }
        shown.push(format!("@@ line {} @@", 1 + breaks(&before[..old.start])));
        let head: Vec<_> =
            before[..old.start].split_inclusive(|b| *b == b'\n').rev().take(AROUND).collect();
        shown.all(' ', head.into_iter().rev());
        shown.all('-', before[old.clone()].split_inclusive(|b| *b == b'\n'));
        shown.all('+', after[new.clone()].split_inclusive(|b| *b == b'\n'));
        shown.all(' ', after[new.end..].split_inclusive(|b| *b == b'\n').take(AROUND));
    }
    if shown.more > 0 {
        shown.lines.push(format!("[+{} lines]", shown.more));
    }
    shown.lines.join("\n")
}

/// The lines of a diff as far as they are shown, and how many more there are.
#[derive(Default)]
struct DiffExcerpt {
    lines: Vec<String>,
    more: usize,
}

impl DiffExcerpt {
    fn push(&mut self, line: String) {
        if self.lines.len() < MAX_SHOWN { self.lines.push(line) } else { self.more += 1 }
    }

    fn all<'a>(&mut self, mark: char, mut lines: impl Iterator<Item = &'a [u8]>) {
        for shown in lines.by_ref().take(MAX_SHOWN - self.lines.len()) {
            self.lines.push(line(mark, shown));
        }
        self.more += lines.count();
    }
}

/// The whole lines that hold the changes: where in `before`, where in `after`. No more than are shown.
fn changed_lines(
    before: &[u8],
    after: &[u8],
    changes: &[(Range<usize>, Range<usize>)],
) -> Vec<(Range<usize>, Range<usize>)> {
    let mut lines: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for (old, new) in changes {
        let enough = lines.len() > MAX_SHOWN;
        match lines.last_mut() {
            // Two changes in one line are one. Its ends are known: a long line is looked through once.
            Some(last) if old.start < last.0.end => {
                if old.end > last.0.end {
                    last.0.end = whole_lines(before, old).end;
                }
                if new.end > last.1.end {
                    last.1.end = whole_lines(after, new).end;
                }
            }
            _ if enough => break,
            _ => lines.push((whole_lines(before, old), whole_lines(after, new))),
        }
    }
    lines
}

fn places(content: &[u8], wanted: &[u8]) -> Vec<usize> {
    memchr::memmem::find_iter(content, wanted).take(MAX_PLACES + 1).collect()
}

fn breaks(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

fn whole_lines(text: &[u8], part: &Range<usize>) -> Range<usize> {
    let start = memchr::memrchr(b'\n', &text[..part.start]).map_or(0, |at| at + 1);
    let from = part.end.max(start);
    // What ends with a line break ends with its line.
    if part.end > part.start && text[part.end - 1] == b'\n' {
        return start..part.end;
    }
    let end = memchr::memchr(b'\n', &text[from..]).map_or(text.len(), |at| from + at + 1);
    start..end
}

fn line(mark: char, bytes: &[u8]) -> String {
    // A letter takes four bytes at most: more are not looked at.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * MAX_WIDTH + 8)]);
    let text = text.trim_end_matches(['\n', '\r']);
    format!("{mark}{}", shorten(text, MAX_WIDTH))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn says(content: &str, old: &str, new: &str, all: bool) -> String {
        match (Replace { old, new, all, may_all: true }).apply("f", content.as_bytes()) {
            Ok(done) => format!("{:?}\n{}", String::from_utf8_lossy(&done.content), done.diff),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn it_replaces_one_place_or_all_and_shows_which() {
        let file = "one\ntwo\nthree\nfour\ntwo\n";
        let said = [
            says(file, "three", "3", false),
            says(file, "two", "2", false),
            says(file, "two", "2", true),
            says(file, "four\n", "", false),
            says(file, "five", "5", false),
            says(file, "one", "one", false),
            says("a\r\nb\r\nc", "a\nb", "x\ny", false),
            says("a b a", "a", "c", true),
        ];
        insta::assert_snapshot!(said.join("\n--\n"), @r##"
"one\ntwo\n3\nfour\ntwo\n"
@@ line 3 @@
 one
 two
-three
+3
 four
 two
--
old_string occurs in 2 places of f: add lines around it until it is unique, or set replace_all
--
"one\n2\nthree\nfour\n2\n"
@@ line 2 @@
 one
-two
+2
 three
 four
@@ line 5 @@
 three
 four
-two
+2
--
"one\ntwo\nthree\ntwo\n"
@@ line 4 @@
 two
 three
-four
+two
--
old_string was not found in f: read the file again and copy the text exactly
--
old_string and new_string are the same
--
"x\r\ny\r\nc"
@@ line 1 @@
-a
-b
+x
+y
 c
--
"c b c"
@@ line 1 @@
-a b a
+c b c
"##);
    }

    proptest! {
        /// The same as the standard library says, wherever it is allowed.
        #[test]
        fn it_agrees_with_the_standard_library(
            file in "[ab\n]{0,40}", old in "[ab\n]{1,4}", new in "[abc\n]{0,4}", all: bool
        ) {
            prop_assume!(old != new);
            let count = file.matches(&*old).count();
            match (Replace { old: &old, new: &new, all, may_all: true }).apply("f", file.as_bytes()) {
                Ok(done) => {
                    prop_assert!(count == 1 || (all && count > 1));
                    prop_assert_eq!(done.count, count);
                    prop_assert_eq!(String::from_utf8(done.content).unwrap(), file.replace(&*old, &new));
                }
                Err(_) => prop_assert!(count == 0 || (!all && count > 1)),
            }
        }
    }

    /// What a tool makes is bounded, not only what it takes.
    #[test]
    fn a_small_file_does_not_become_a_large_one() {
        let file = "a".repeat(50_000);
        let said = says(&file, "a", &"b".repeat(2_000), true);
        assert_eq!(said, "f would become too large (100000000 bytes > 16 MiB max)");
        let many = "a".repeat(200_000);
        let said = says(&many, "a", "b", true);
        assert_eq!(said, "old_string occurs in more than 100000 places of f: use a longer one");
        assert!(says(&file, "a", "bc", true).contains("+bcbc"));
    }
}
