//! Why a patch cannot be applied.

/// What is wrong with a patch, for the model.
#[derive(Debug, thiserror::Error)]
pub(super) enum PatchError {
    /// It is in neither grammar.
    #[error(
        "this is not a patch: write a unified diff (--- a/file, +++ b/file, @@ … @@) or *** Begin Patch … *** End Patch"
    )]
    Unknown,
    /// It holds no change.
    #[error("the patch changes nothing")]
    Empty,
    /// Its last line is missing.
    #[error("the patch has no *** End Patch: it may have been cut")]
    Cut,
    /// A line of it is wrong; lines count from 1.
    #[error("line {line} of the patch: {why}")]
    Line { line: usize, why: String },
    /// It would take too long to look for its places.
    #[error("{hunks} hunks are too many for a file of {lines} lines: send fewer")]
    TooLarge { hunks: usize, lines: usize },
    /// A hunk does not fit the file; hunks count from 1.
    #[error("hunk {hunk}: {why}")]
    Misfit { hunk: usize, why: String },
}

impl PatchError {
    /// Says what is wrong with the line of an index.
    pub fn at(index: usize, why: impl Into<String>) -> Self {
        Self::Line { line: index + 1, why: why.into() }
    }
}
