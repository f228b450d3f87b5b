//! What a task may spend, and whether it has.

use chrono::{DateTime, Utc};

use crate::Settings;
use selkie_domain::span::Span;
use selkie_domain::usage::Usage;

/// A limit that is reached, with what was spent.
#[derive(Clone, Debug, PartialEq)]
pub enum SpentLimit {
    /// Model calls.
    Steps(u32),
    /// Tokens.
    Tokens(u64),
    /// US dollars.
    Cost(f64),
    /// Since the first claim.
    Time(Span),
}

/// What a task has spent so far.
#[derive(Clone, Copy, Debug)]
pub struct Ledger {
    /// Model calls.
    pub steps: u32,
    /// Tokens and money.
    pub usage: Usage,
    /// The first claim.
    pub since: DateTime<Utc>,
}

/// Returns the first limit that is reached, if any.
pub fn spent(settings: &Settings, ledger: Ledger, now: DateTime<Utc>) -> Option<SpentLimit> {
    let Settings { max_steps, max_tokens, max_cost_usd, timeout, .. } = settings;
    let Ledger { steps, usage, since } = ledger;
    if *max_steps > 0 && steps >= *max_steps {
        return Some(SpentLimit::Steps(steps));
    }
    if *max_tokens > 0 && usage.tokens() >= *max_tokens {
        return Some(SpentLimit::Tokens(usage.tokens()));
    }
    #[expect(clippy::cast_precision_loss, reason = "money below 2^53 millionths is exact")]
    let cost = usage.micro_usd as f64 / 1e6;
    if *max_cost_usd > 0.0 && cost >= *max_cost_usd {
        return Some(SpentLimit::Cost(cost));
    }
    let out_of_time = !timeout.0.is_zero() && elapsed(since, now) >= timeout.0;
    out_of_time.then_some(SpentLimit::Time(*timeout))
}

/// Returns whether the next model call is the last one that `max_steps` allows.
pub fn is_last_step(settings: &Settings, steps: u32) -> bool {
    settings.max_steps > 0 && steps + 1 >= settings.max_steps
}

/// Returns what is left of the task's time; a clock that went back counts as no time passed.
pub fn time_left(
    settings: &Settings,
    since: DateTime<Utc>,
    now: DateTime<Utc>,
) -> std::time::Duration {
    if settings.timeout.0.is_zero() {
        return std::time::Duration::from_secs(24 * 60 * 60);
    }
    settings.timeout.0.saturating_sub(elapsed(since, now))
}

fn elapsed(since: DateTime<Utc>, now: DateTime<Utc>) -> std::time::Duration {
    (now - since).to_std().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(steps: u32, tokens: u64, micro_usd: u64) -> Ledger {
        let usage = Usage { calls: steps, input: tokens, micro_usd, ..Usage::default() };
        Ledger { steps, usage, since: DateTime::UNIX_EPOCH }
    }

    #[test]
    fn each_limit_ends_the_task_and_zero_lifts_it() {
        let settings = Settings::default();
        let start = DateTime::UNIX_EPOCH;
        assert_eq!(spent(&settings, ledger(49, 0, 0), start), None);
        assert_eq!(spent(&settings, ledger(50, 0, 0), start), Some(SpentLimit::Steps(50)));
        assert_eq!(
            spent(&settings, ledger(1, 1_000_000, 0), start),
            Some(SpentLimit::Tokens(1_000_000))
        );
        assert_eq!(spent(&settings, ledger(1, 1, 2_000_000), start), Some(SpentLimit::Cost(2.0)));
        let late = start + chrono::TimeDelta::minutes(30);
        assert_eq!(
            spent(&settings, ledger(1, 1, 1), late),
            Some(SpentLimit::Time(settings.timeout))
        );
        let lifted = Settings {
            max_steps: 0,
            max_tokens: 0,
            max_cost_usd: 0.0,
            timeout: Span::seconds(0),
            ..settings
        };
        assert_eq!(spent(&lifted, ledger(9_999, u64::MAX / 2, u64::MAX), late), None);
    }
}
