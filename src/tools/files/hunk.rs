//! A patch as a value, whatever grammar it was written in: files, and the hunks that change them.

use super::{hunk_envelope, hunk_unified};

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A file that must not be there yet.
    Add {
        /// Where.
        path: String,
        /// All of it.
        content: String,
    },
    /// A file goes. Its hunks, where the grammar has them, must fit.
    Delete {
        /// Where.
        path: String,
        /// What it must hold.
        hunks: Vec<Hunk>,
    },
    /// A file changes, and may move.
    Update {
        /// Where.
        path: String,
        /// Where to.
        to: Option<String>,
        /// In the order of the patch.
        hunks: Vec<Hunk>,
    },
}

/// Lines that stand together in a file, and what becomes of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// The index of the first old line, from 0, as the patch believes it.
    pub(super) hint: Option<usize>,
    /// Lines (or parts of them) that stand before it, each after the one before.
    pub(super) anchors: Vec<String>,
    /// What becomes of which line.
    pub(super) lines: Vec<Line>,
    /// It ends where the file ends.
    pub(super) at_end: bool,
    /// Whether the new file ends with a line break, where the patch says so.
    pub(super) ends_with_break: Option<bool>,
}

/// A line without its line break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// It stays.
    Keep(String),
    /// It goes.
    Out(String),
    /// It comes.
    In(String),
}

impl Hunk {
    /// Returns the lines that must be there.
    pub(super) fn before(&self) -> Vec<&str> {
        let old = |line: &Line| !matches!(line, Line::In(_));
        self.lines.iter().filter(|l| old(l)).map(Line::text).collect()
    }

    /// Returns the lines that are there afterwards.
    pub(super) fn after(&self) -> Vec<&str> {
        let new = |line: &Line| !matches!(line, Line::Out(_));
        self.lines.iter().filter(|l| new(l)).map(Line::text).collect()
    }
}

impl Line {
    /// Returns its text.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Keep(text) | Self::Out(text) | Self::In(text) => text,
        }
    }

    /// Returns the same line with another text.
    pub(super) fn with(&self, text: String) -> Self {
        match self {
            Self::Keep(_) => Self::Keep(text),
            Self::Out(_) => Self::Out(text),
            Self::In(_) => Self::In(text),
        }
    }
}

impl Change {
    /// Returns the path it begins with.
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Add { path, .. } | Self::Delete { path, .. } | Self::Update { path, .. } => path,
        }
    }
}

/// Reads a patch in either grammar.
///
/// # Errors
/// What is wrong with it and in which line, for the model.
pub(super) fn parse(patch: &str) -> Result<Vec<Change>, String> {
    let text = unfenced(patch);
    let mut lines: Vec<&str> = text.split('\n').collect();
    lines.pop_if(|last| last.is_empty());
    let changes = if let Some(begin) = hunk_envelope::begin(&lines) {
        hunk_envelope::parse(&lines, begin)?
    } else if hunk_unified::is_one(&lines) {
        hunk_unified::parse(&lines)?
    } else {
        return Err("this is not a patch: write a unified diff (--- a/file, +++ b/file, @@ … @@) or *** Begin Patch \
            … *** End Patch"
            .to_owned());
    };
    if changes.is_empty() { Err("the patch changes nothing".to_owned()) } else { Ok(changes) }
}

/// Takes a code fence off.
fn unfenced(text: &str) -> &str {
    let bare = text.trim_matches('\n');
    let inner = bare.strip_prefix("```").and_then(|rest| {
        let (_language, rest) = rest.split_once('\n')?;
        rest.trim_end().strip_suffix("```")
    });
    inner.unwrap_or(text)
}
