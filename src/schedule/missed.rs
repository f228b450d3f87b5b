//! What becomes of the times that passed while nobody was there to fire.
//!
//! However long that was, what comes of it is short: what fires, and for each reason one line that counts what is
//! skipped, with the first and the last of it.

use chrono::{DateTime, TimeDelta, Utc};

use super::count::{between, last};
use super::plan::{INSTANT, Plan};
use selkie_domain::count::counted;
use selkie_domain::schedule::Misfire;
use selkie_domain::span::Span;

/// A ticker that comes so late has missed nothing.
const ON_TIME: TimeDelta = TimeDelta::minutes(1);
/// So many times are caught up at most, the latest ones.
const MAX: usize = 100;

/// What is done about missed times, and up to when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatchUp {
    /// Which of them are caught up.
    pub misfire: Misfire,
    /// What is later than this is not.
    pub lateness: Span,
}

/// What becomes of the times that are due.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// These fire now, in order.
    pub fires: Vec<DateTime<Utc>>,
    /// These do not, earliest first.
    pub skipped: Vec<SkippedTimes>,
}

/// Times that are skipped for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkippedTimes {
    /// Why.
    pub reason: Reason,
    /// How many.
    pub count: u64,
    /// The first of them.
    pub first: DateTime<Utc>,
    /// The last of them.
    pub last: DateTime<Utc>,
}

/// Why a time is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It lies further back than the greatest lateness.
    TooLate,
    /// Missed times are not caught up.
    Missed,
    /// A later one is caught up for it.
    Coalesced,
    /// More than are caught up at once.
    TooMany,
}

impl Default for CatchUp {
    fn default() -> Self {
        Self { misfire: Misfire::default(), lateness: Span::seconds(2 * 3_600) }
    }
}

/// Divides the times after `after` and not after `now` into what fires and what is skipped. What a plan has left of
/// its count is what fires at most; a time that has just come due fires under every policy.
pub fn missed(
    plan: &Plan,
    after: DateTime<Utc>,
    now: DateTime<Utc>,
    catch_up: CatchUp,
    fired: u32,
) -> Due {
    if plan.left(fired) == Some(0) {
        return Due::default();
    }
    let lateness = TimeDelta::from_std(catch_up.lateness.0).unwrap_or(TimeDelta::MAX);
    let patience = match catch_up.misfire {
        Misfire::Skip => ON_TIME,
        Misfire::Once | Misfire::All => lateness.max(ON_TIME),
    };
    let most = match catch_up.misfire {
        Misfire::Skip | Misfire::Once => 1,
        Misfire::All => MAX,
    };
    let most = plan.left(fired).map_or(most, |left| most.min(left as usize));
    // Up to here nothing is caught up.
    let late = now.checked_sub_signed(patience).and_then(|at| at.checked_sub_signed(INSTANT));
    let late = late.map_or(after, |late| late.max(after));
    let fires = latest(plan, late, now, most);
    let in_time = fires.first().map_or(now, |first| *first - INSTANT);
    let (first, second) = match catch_up.misfire {
        Misfire::Skip => (Reason::Missed, Reason::Coalesced),
        Misfire::Once => (Reason::TooLate, Reason::Coalesced),
        Misfire::All => (Reason::TooLate, Reason::TooMany),
    };
    let skipped = [skipped(plan, after, late, first), skipped(plan, late, in_time, second)];
    Due { fires, skipped: skipped.into_iter().flatten().collect() }
}

/// The latest times of a stretch, in order.
fn latest(
    plan: &Plan,
    after: DateTime<Utc>,
    until: DateTime<Utc>,
    most: usize,
) -> Vec<DateTime<Utc>> {
    let before = |at: &DateTime<Utc>| last(plan, after, *at - INSTANT);
    let times = std::iter::successors(last(plan, after, until), before);
    let mut times: Vec<DateTime<Utc>> = times.take(most).collect();
    times.reverse();
    times
}

fn skipped(
    plan: &Plan,
    after: DateTime<Utc>,
    until: DateTime<Utc>,
    reason: Reason,
) -> Option<SkippedTimes> {
    let first = plan.next_after(after).filter(|first| *first <= until)?;
    let last = last(plan, after, until)?;
    Some(SkippedTimes { reason, count: between(plan, after, until), first, last })
}

impl Reason {
    /// The word a row keeps.
    pub fn name(self) -> &'static str {
        match self {
            Self::TooLate => "too late",
            Self::Missed => "missed",
            Self::Coalesced => "coalesced",
            Self::TooMany => "too many",
        }
    }
}

impl SkippedTimes {
    /// Says what is skipped and why; the times are the reader's to show in their zone.
    pub fn says(&self) -> String {
        let times = counted(self.count, ["time was skipped", "times were skipped"]);
        let why = match self.reason {
            Reason::TooLate => "it was too late to catch up",
            Reason::Missed => "missed times are not caught up",
            Reason::Coalesced => "the latest one stands for all",
            Reason::TooMany => "only the latest are caught up",
        };
        format!("{times}: {why}")
    }
}

#[cfg(test)]
mod tests;
