//! A text file as lines: what separates them is no part of them, and whether the last one ends is kept.

/// A file's text in lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lines<'a> {
    /// Without their line breaks; a `\r` before one belongs to the line.
    pub(super) all: Vec<&'a str>,
    /// The last line ends with a line break.
    pub(super) ends_with_break: bool,
}

impl<'a> Lines<'a> {
    /// Takes a text apart.
    pub(super) fn of(text: &'a str) -> Self {
        let ends_with_break = text.is_empty() || text.ends_with('\n');
        let mut all: Vec<&str> = text.split('\n').collect();
        if ends_with_break {
            all.pop();
        }
        Self { all, ends_with_break }
    }

    /// Whether every line ends in the way of Windows.
    pub(super) fn are_windows(&self) -> bool {
        let whole = self.all.len() - usize::from(!self.ends_with_break && !self.all.is_empty());
        whole > 0 && self.all[..whole].iter().all(|l| l.ends_with('\r'))
    }

    /// Puts it together again.
    pub(super) fn text(&self) -> String {
        let mut text = self.all.join("\n");
        if self.ends_with_break && !self.all.is_empty() {
            text.push('\n');
        }
        text
    }
}
