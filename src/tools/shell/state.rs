//! How a started process stands.

/// How a process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs.
    Running,
    /// It ended by itself with this code.
    Exited(i32),
    /// A signal that was not ours ended it.
    Killed(i32),
    /// It took too long and was ended.
    TimedOut,
    /// It was asked to end.
    Stopped,
}
