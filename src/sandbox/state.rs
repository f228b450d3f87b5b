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

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Running => f.write_str("running"),
            Self::Exited(code) => write!(f, "ended with exit code {code}"),
            Self::Killed(signal) => write!(f, "ended by signal {signal}"),
            Self::TimedOut => f.write_str("ended: its time was up"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}
