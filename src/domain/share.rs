//! Who gets how much of a model's window: instructions, memory and tools at most a half, the answer a quarter, the
//! conversation the rest.

/// The parts of a window, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The list of tools, at most.
    pub tools: u64,
    /// The instructions, at most.
    pub system: u64,
    /// Instructions and what is read before the newest message, together at most.
    pub fixed: u64,
    /// The answer, at most.
    pub answer: u64,
}

impl Share {
    /// The smallest window in which a conversation is possible: the instructions in their shortest form, a few tools, an
    /// answer, and a message or two.
    pub const LEAST: u64 = 2_048;

    /// From here on the instructions and today's tools are told whole.
    pub const WHOLE: u64 = 32_768;

    /// Shares out a window.
    pub const fn of(window: u64) -> Self {
        let quarter = window / 4;
        Self { tools: quarter, system: quarter / 4 * 3, fixed: quarter, answer: quarter }
    }
}
