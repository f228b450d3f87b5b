//! What a task that a schedule has made keeps to: its model, how much of the history it reads, what it may use.

use std::sync::Mutex;

use chrono::{DateTime, Utc};
use selkie_channel_core::locked;

use crate::delivery::context::Context;
use crate::delivery::moments::after;
use crate::work::{messages, unattended};
use selkie_agent::{Quota, QuotaError};
use selkie_domain::cause::Cause;
use selkie_domain::choice::Choice;
use selkie_domain::facts::Trigger;
use selkie_domain::ids::ScheduleId;
use selkie_domain::reminder::ReminderId;
use selkie_domain::schedule::{Action, Budget};
use selkie_domain::usage::Usage;
use selkie_schedule::zone::Zone;
use selkie_schedule::{budget, day};
use selkie_store::read::Origin;
use selkie_store::{ScheduleRow, TaskClaim};

/// What a task keeps to; nothing for a task that no schedule has made.
#[derive(Default)]
pub struct Bounds {
    /// The schedule or the hook, as people know it: `schedule 3 (tidy up)`, `webhook deploy`.
    pub schedule: Option<String>,
    /// The model that it names, and how hard that thinks.
    pub choice: Choice,
    /// What is left of the day.
    pub budget: Option<DayBudget>,
    /// The reminder that it says.
    pub reminder: Option<ReminderId>,
    /// Until when what it asks stays open: its schedule's lateness ends then.
    pub asks_until: Option<DateTime<Utc>>,
}

/// What a schedule may use on one day, and what it has used of it.
pub struct DayBudget {
    schedule: ScheduleId,
    name: String,
    budget: Budget,
    used: Mutex<Usage>,
}

/// Reads what a task keeps to, and cuts its history down to that. A schedule that nobody knows any more bounds
/// nothing.
pub async fn bounds(context: &Context, claimed: &mut TaskClaim) -> Bounds {
    if !unattended::is_unattended(&claimed.facts) {
        return Bounds::default();
    }
    let task = claimed.claim.task;
    if claimed.facts.trigger == Trigger::Webhook {
        return Bounds { schedule: of_hook(context, claimed).await, ..Bounds::default() };
    }
    let behind = context.storage.insist(|ledger| ledger.schedule_behind(task)).await.flatten();
    let Some(row) = behind else { return Bounds::default() };
    if let (Action::Remind { .. }, Some(words)) = (&row.schedule.action, &claimed.words) {
        let reminder = Some(ReminderId { schedule: row.id(), at: words.at });
        return Bounds { reminder, ..Bounds::default() };
    }
    if !row.schedule.action.asks_a_model() {
        return Bounds::default();
    }
    let terms = &row.schedule.terms;
    let reads = usize::try_from(terms.history).unwrap_or(usize::MAX);
    let passed_over = claimed.history.len().saturating_sub(reads);
    claimed.history.drain(..passed_over);
    let used = Mutex::new(used_today(context, &row).await.unwrap_or_default());
    let (schedule, name) = (row.id(), row.schedule.name());
    // A heartbeat's failures are told otherwise.
    let is_named = claimed.facts.trigger == Trigger::Scheduled;
    let known = is_named.then(|| messages::schedule(schedule, &name));
    let choice = row.schedule.action.choice();
    let asks_until = claimed.words.as_ref().map(|words| after(words.at, terms.lateness));
    let budget = Some(DayBudget { schedule, name, budget: terms.budget, used });
    Bounds { schedule: known, choice, budget, reminder: None, asks_until }
}

/// Names the hook of a task. What another service sends is read by itself, beside nothing that was said here.
async fn of_hook(context: &Context, claimed: &mut TaskClaim) -> Option<String> {
    claimed.history.clear();
    let task = claimed.claim.task.to_string();
    let chains = context.storage.insist(|ledger| ledger.trace(&task)).await?;
    chains.iter().find_map(|chain| match &chain.origin {
        Origin::Words { cause, .. } => Cause::hook_in(cause).map(messages::webhook),
        _ => None,
    })
}

/// Returns what a schedule has used of its local day; `None` when the store does not answer.
pub async fn used_today(context: &Context, row: &ScheduleRow) -> Option<Usage> {
    let zone = Zone::named(&row.schedule.zone).unwrap_or(Zone::UTC);
    let now = context.runtime.now();
    // What a clock that was ahead has dated later is no use of today's.
    let today = day::begins(zone, now).max(row.counts_from)..day::ends(zone, now);
    context.storage.insist(|ledger| ledger.used_by(row.id(), today.clone())).await
}

impl Quota for DayBudget {
    fn count(&self, usage: Usage) -> Option<QuotaError> {
        let mut used = locked(&self.used);
        used.add(usage);
        let why = budget::used_up(&self.budget, &used)?;
        let text = messages::budget_used_up(self.schedule, &self.name, &why);
        Some(QuotaError { why: format!("schedule {}: {why}", self.schedule), text })
    }
}

/// Two that a usage counts against.
pub struct Both<'a> {
    /// The first; its limit is the one that is told.
    pub first: Option<&'a dyn Quota>,
    /// The other.
    pub second: Option<&'a dyn Quota>,
}

impl Quota for Both<'_> {
    fn count(&self, usage: Usage) -> Option<QuotaError> {
        let [first, second] =
            [self.first, self.second].map(|quota| quota.and_then(|quota| quota.count(usage)));
        first.or(second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(calls: u32) -> DayBudget {
        DayBudget {
            schedule: ScheduleId(3),
            name: "News".to_owned(),
            budget: Budget { calls, micro_usd: 0 },
            used: Mutex::new(Usage { calls: 1, ..Usage::default() }),
        }
    }

    #[test]
    fn a_budget_counts_what_was_used_before_and_names_itself() {
        let one = Usage { calls: 1, ..Usage::default() };
        let (small, large) = (budget(3), budget(9));
        let both = Both { first: Some(&large), second: Some(&small) };
        assert_eq!(both.count(one), None);
        let reached = both.count(one).unwrap();
        assert!(reached.text.contains("schedule 3 (News)"), "{}", reached.text);
        assert!(reached.why.contains("3 model calls a day"), "{}", reached.why);
    }
}
