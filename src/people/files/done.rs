//! What a change of files came to.

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileResult {
    /// How many of `TODO.md` were put.
    pub put: usize,
    /// How many of it were taken.
    pub taken: usize,
    /// How many were put into `TODO.DONE.md`.
    pub ticked: usize,
    /// How many changes of contacts were made.
    pub contacts: usize,
    /// How many lines of other files were put.
    pub lines_put: usize,
    /// How many lines of them were taken.
    pub lines_taken: usize,
}

impl FileResult {
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            put: self.put + other.put,
            taken: self.taken + other.taken,
            ticked: self.ticked + other.ticked,
            contacts: self.contacts + other.contacts,
            lines_put: self.lines_put + other.lines_put,
            lines_taken: self.lines_taken + other.lines_taken,
        }
    }
}

/// A file's text after a change.
pub(super) struct ChangedText {
    pub text: String,
    pub done: FileResult,
}
