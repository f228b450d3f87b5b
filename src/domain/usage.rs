//! What a task cost.

use serde::{Deserialize, Serialize};

/// Tokens and money of one model call or of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Model calls.
    pub calls: u32,
    /// Tokens read, cached ones included.
    pub input: u64,
    /// Tokens read from the provider's cache.
    pub cached: u64,
    /// Tokens written.
    pub output: u64,
    /// Cost in millionths of a US dollar, by the price table; 0 when the model has no price.
    pub micro_usd: u64,
}

impl Usage {
    /// Adds another's numbers.
    pub fn add(&mut self, other: Self) {
        let Self { calls, input, cached, output, micro_usd } = other;
        self.calls += calls;
        self.input += input;
        self.cached += cached;
        self.output += output;
        self.micro_usd += micro_usd;
    }

    /// Returns tokens read and written.
    pub fn tokens(&self) -> u64 {
        self.input + self.output
    }
}
