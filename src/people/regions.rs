//! What of a text is comment or merge conflict: kept as it is, and not read.

use std::ops::Range;

use super::fault::Fault;
use super::text::Text;

/// What a line is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Region {
    /// It is read.
    Plain,
    /// A comment of HTML.
    Comment,
    /// A block of code.
    Code,
    /// Two versions of something, of which a person has to choose one.
    Conflict,
}

/// The regions of a text.
#[derive(Debug)]
pub(super) struct Regions {
    of: Vec<Region>,
    /// What people should look at.
    pub faults: Vec<Fault>,
    /// Where a comment begins that does not end.
    pub open: Option<usize>,
}

impl Regions {
    /// Finds them.
    pub fn find(text: &Text) -> Self {
        let of = vec![Region::Plain; text.len()];
        let mut regions = Self { of, faults: Vec::new(), open: None };
        regions.find_conflicts(text);
        regions.find_comments(text);
        regions
    }

    /// Finds them, and blocks of code between fences.
    pub fn with_fences(text: &Text) -> Self {
        let mut regions = Self::find(text);
        regions.find_fences(text);
        regions
    }

    /// Whether the line `at` belongs to a block of code.
    pub fn is_code(&self, at: usize) -> bool {
        self.of.get(at) == Some(&Region::Code)
    }

    /// Whether the line `at` is to be read.
    pub fn is_plain(&self, at: usize) -> bool {
        self.of.get(at).is_none_or(|region| *region == Region::Plain)
    }

    fn find_conflicts(&mut self, text: &Text) {
        let mut begun = None;
        for (at, line) in text.lines().enumerate() {
            if is_mark(line, "<<<<<<<") {
                begun.replace(at).into_iter().for_each(|at| self.stray(at));
            } else if is_mark(line, ">>>>>>>") {
                match begun.take() {
                    Some(first) => self.conflict(first..at + 1),
                    None => self.stray(at),
                }
            }
        }
        begun.into_iter().for_each(|at| self.stray(at));
    }

    fn conflict(&mut self, lines: Range<usize>) {
        self.of[lines.clone()].fill(Region::Conflict);
        let what = "a merge conflict: nothing in it is read until somebody settles it by hand";
        self.faults.push(Fault::of(lines, what));
    }

    fn stray(&mut self, at: usize) {
        self.of[at] = Region::Conflict;
        self.faults.push(Fault::of(at..at + 1, "one end of a merge conflict without the other"));
    }

    fn find_comments(&mut self, text: &Text) {
        let mut begun: Option<usize> = None;
        for (at, line) in text.lines().enumerate() {
            let inside = match begun {
                Some(_) => Some(line),
                None => line.trim_start().strip_prefix("<!--"),
            };
            let Some(inside) = inside else { continue };
            if self.of[at] == Region::Plain {
                self.of[at] = Region::Comment;
            }
            begun.get_or_insert(at);
            if inside.contains("-->") {
                begun = None;
            }
        }
        if let Some(first) = begun {
            self.faults.push(Fault::of(first..text.len(), "a comment that does not end"));
        }
        self.open = begun;
    }

    /// A fence that does not end begins nothing: it must not hide what stands below it.
    fn find_fences(&mut self, text: &Text) {
        let mut begun: Option<Fence<'_>> = None;
        for (at, line) in text.lines().enumerate() {
            let Some(marks) = fence(line).filter(|_| self.is_plain(at)) else { continue };
            let is_end = |open: &Fence<'_>| marks.starts_with(open.marks) && line.trim() == marks;
            match begun.take() {
                None => begun = Some(Fence { at, marks }),
                Some(open) if is_end(&open) => self.of[open.at..=at].fill(Region::Code),
                other => begun = other,
            }
        }
    }
}

/// Where a block of code begins, and by which marks.
struct Fence<'t> {
    at: usize,
    marks: &'t str,
}

/// A fence's marks at the beginning of a line, three at least.
fn fence(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let marks = &line[..line.len() - line.trim_start_matches(sign).len()];
    (marks.len() >= 3).then_some(marks)
}

/// Seven signs at the beginning of a line, and a name or nothing behind them.
fn is_mark(line: &str, mark: &str) -> bool {
    line.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(source: &str) -> String {
        let text = Text::read(source);
        let regions = Regions::find(&text);
        let lines = text.lines().enumerate().filter(|(at, _)| regions.is_plain(*at));
        let lines: Vec<&str> = lines.map(|(_, line)| line).collect();
        let faults: Vec<String> = regions.faults.iter().map(Fault::to_string).collect();
        [lines, faults.iter().map(String::as_str).collect()].concat().join("|")
    }

    #[test]
    fn comments_and_conflicts_are_not_read() {
        insta::assert_snapshot!(plain("a\n<!-- b\nc --> d\n<!-- e -->\nf <!-- g\nh"), @"a|f <!-- g|h");
        insta::assert_snapshot!(
            plain("a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n=======\nd"),
            @"a|=======|d|lines 2 to 6: a merge conflict: nothing in it is read until somebody settles it by hand"
        );
    }

    #[test]
    fn what_does_not_end_is_told() {
        insta::assert_snapshot!(
            plain("a\n<<<<<<<\nb\n<<<<<<< x\nc\n>>>>>>>\n>>>>>>> y\n<!-- d\ne"),
            @r"a|b|line 2: one end of a merge conflict without the other|lines 4 to 6: a merge conflict: nothing in it is read until somebody settles it by hand|line 7: one end of a merge conflict without the other|lines 8 to 9: a comment that does not end"
        );
    }
}
