//! What is to be done with a file, and which root it lies under.

/// What is to be done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Open, list, send it.
    Read,
    /// Make or change it.
    Write,
    /// The same for a file that says who the bot is, by the one tool that may.
    Define,
}

/// Which root a file lies under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// The conversation's own folder of the cache.
    Own,
    /// The conversation's workspace.
    Workspace,
    /// The state folder.
    State,
    /// The folder of a skill: read only.
    Skills,
    /// Outside of all roots: read only, where the scope allows.
    Elsewhere,
}
