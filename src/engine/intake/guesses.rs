//! Wrong approval codes of one sender: five in ten minutes are answered, then one line says so, then there is silence.

use chrono::{DateTime, DurationRound as _, TimeDelta, Utc};
use selkie_channel_core::Inbound;

use crate::delivery::context::Context;
use selkie_domain::usage::UsageDelta;

/// So many wrong codes are answered.
const MAX: u64 = 5;
/// The minutes in which they are counted.
const MINUTES: i64 = 10;
/// The counter's name in the store.
const WHAT: &str = "wrong_codes";
/// Counters of other kinds that began before may go.
const FORGET: TimeDelta = TimeDelta::days(2);

/// What a wrong code gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// The answer that nothing waits under it.
    Answered,
    /// The line that no more are read.
    LastWord,
    /// Nothing.
    Silent,
}

/// Whether a sender has guessed so often that no code of theirs is read now.
pub async fn are_too_many(context: &Context, inbound: &Inbound) -> bool {
    lately(context, inbound).await >= MAX
}

/// Counts a wrong code, and says what it gets.
pub async fn wrong(context: &Context, inbound: &Inbound) -> Guess {
    let guess = answer_to(lately(context, inbound).await);
    if guess != Guess::Silent {
        let now = context.runtime.clock.now();
        spend(context, vec![counter(inbound, now, 1)], now).await;
    }
    guess
}

/// What the next wrong code gets after so many. The line is counted, too: it is said once.
fn answer_to(before: u64) -> Guess {
    match before {
        0..MAX => Guess::Answered,
        MAX => Guess::LastWord,
        _ => Guess::Silent,
    }
}

async fn lately(context: &Context, inbound: &Inbound) -> u64 {
    let now = context.runtime.clock.now();
    let minute = |ago| counter(inbound, now - TimeDelta::minutes(ago), 0);
    spend(context, (0..MINUTES).map(minute).collect(), now).await.iter().sum()
}

async fn spend(context: &Context, spent: Vec<UsageDelta>, now: DateTime<Utc>) -> Vec<u64> {
    let storage = &context.storage;
    let amounts = storage.insist(|ledger| ledger.spend(spent.clone(), now - FORGET)).await;
    // The process ends: the row is carried out by the next one.
    amounts.unwrap_or_default()
}

/// The counter of a sender's minute.
fn counter(inbound: &Inbound, at: DateTime<Utc>, amount: u64) -> UsageDelta {
    let who = format!("{} {}", inbound.conversation.account(), inbound.speaker.id);
    // Only years that no clock shows cannot be cut to their minute.
    let since = at.duration_trunc(TimeDelta::minutes(1)).unwrap_or(at);
    UsageDelta { who, what: WHAT, since, amount }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_are_answered_one_is_told_and_the_rest_is_silence() {
        use Guess::{Answered, LastWord, Silent};
        let told: Vec<Guess> = (0..8).map(answer_to).collect();
        assert_eq!(
            told,
            [Answered, Answered, Answered, Answered, Answered, LastWord, Silent, Silent]
        );
    }
}
