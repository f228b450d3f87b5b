//! What a task cost.

use std::sync::Mutex;

use chrono::{DateTime, Utc};
use selkie_channel_core::locked;
use serde::{Deserialize, Serialize};

use crate::count::grouped;

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
    /// Tokens of those written that were thoughts, where the provider counts them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub thoughts: u64,
    /// Cost in millionths of a US dollar, by the price table; 0 when the model has no price.
    pub micro_usd: u64,
}

impl Usage {
    /// Adds another's numbers.
    pub fn add(&mut self, other: Self) {
        let Self { calls, input, cached, output, thoughts, micro_usd } = other;
        self.calls += calls;
        self.input += input;
        self.cached += cached;
        self.output += output;
        self.thoughts += thoughts;
        self.micro_usd += micro_usd;
    }

    /// Returns tokens read and written.
    pub fn tokens(&self) -> u64 {
        self.input + self.output
    }

    /// Says of the tokens written how many were thoughts: ` (60 of them thoughts)`; nothing where there were none.
    pub fn thoughts_note(&self) -> String {
        match self.thoughts {
            0 => String::new(),
            thoughts => format!(" ({} of them thoughts)", grouped(thoughts)),
        }
    }

    /// Says what it cost, one way wherever people read it: no amount is no price, unless nothing was used.
    pub fn cost(&self) -> String {
        match self.micro_usd {
            0 if self.calls > 0 || self.tokens() > 0 => "no price known".to_owned(),
            amount => dollars(amount),
        }
    }

    /// Says how much it was: `1,204 tokens, $0.0031`.
    pub fn told(&self) -> String {
        format!("{} tokens, {}", grouped(self.tokens()), self.cost())
    }
}

/// Whether a number says nothing.
fn is_none(number: &u64) -> bool {
    *number == 0
}

/// A call of a model that brought an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCall {
    /// Which model answered: `profile/model`.
    pub by: String,
    /// How long it took, in milliseconds: waiting for other tries and other models included.
    pub took_ms: u64,
    /// What it used, as far as that is known: what failed tries have used is among it.
    pub usage: Option<Usage>,
}

/// Shows an amount of money: cents, and more digits of what is less than ten of them; something is never shown as nothing.
pub fn dollars(micro_usd: u64) -> String {
    let usd = micro_usd as f64 / 1e6;
    match micro_usd {
        0 | 100_000.. => format!("${usd:.2}"),
        1..50 => "less than $0.0001".to_owned(),
        _ => format!("${usd:.4}"),
    }
}

/// One addition to a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageDelta {
    /// Whose it is, e.g. a person's id.
    pub who: String,
    /// What is counted, e.g. `calls`.
    pub what: &'static str,
    /// When the counted time began.
    pub since: DateTime<Utc>,
    /// How much is added.
    pub amount: u64,
}

/// Counts usage where it arises, until who answers for it takes it.
#[derive(Debug, Default)]
pub struct Meter(Mutex<Usage>);

impl Meter {
    /// Adds what something has used.
    pub fn add(&self, usage: Usage) {
        locked(&self.0).add(usage);
    }

    /// Takes what was counted since it was taken last.
    pub fn take(&self) -> Usage {
        std::mem::take(&mut *locked(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_amounts_keep_their_digits() {
        let shown = [0, 50, 1_500, 99_999, 100_000, 5_000_000].map(dollars);
        assert_eq!(shown, ["$0.00", "$0.0001", "$0.0015", "$0.1000", "$0.10", "$5.00"]);
        assert_eq!(dollars(49), "less than $0.0001");
    }

    #[test]
    fn no_amount_is_no_price_unless_nothing_was_used() {
        let used = |micro_usd| Usage { calls: 1, input: 1_204, micro_usd, ..Usage::default() };
        assert_eq!(used(1_500).told(), "1,204 tokens, $0.0015");
        assert_eq!(used(0).told(), "1,204 tokens, no price known");
        assert_eq!(Usage::default().told(), "0 tokens, $0.00");
    }
}
