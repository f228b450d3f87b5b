//! A patch as a value, whatever grammar it was written in: files, and the hunks that change them.

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

    /// Returns every path it names.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        let to = match self {
            Self::Update { to, .. } => to.as_deref(),
            Self::Add { .. } | Self::Delete { .. } => None,
        };
        [self.path()].into_iter().chain(to)
    }
}
