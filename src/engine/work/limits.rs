//! What everybody may use: messages, and commands and taps, in a minute; model calls, their cost and bytes of files in a day.
//! An owner is held to the day's cost of all together alone. Counted in the ledger, so that a restart is no fresh start. Whoever
//! reaches a limit is told once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::locked;
use selkie_channel_core::{ConversationId, Inbound};
use tokio::sync::Notify;

use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::work::rights::Rights;
use crate::work::unattended;
use selkie_agent::{Quota, QuotaError};
use selkie_domain::facts::Trust;
use selkie_domain::live::Live;
use selkie_domain::usage::{Usage, UsageDelta};
use selkie_store::TaskClaim;

mod counters;
mod daily;
mod messages;
mod reached;
pub mod settings;
mod user;

use counters::{Counters, Use};
use reached::{LimitHit, What, Whose};
use settings::LimitSettings;
use user::{Share, User};

/// What is counted in this time is written at once, and may be lost by a kill: no message waits for it.
const BEHIND: Duration = Duration::from_secs(1);

/// What is counted, and the limits that are reached just now, for the owner to read.
pub struct Limits {
    context: Context,
    outbox: Arc<Outbox>,
    rights: Arc<Rights>,
    settings: Live<LimitSettings>,
    counters: Mutex<Counters>,
    /// Rung when something was added.
    counted: Notify,
    reached: Mutex<BTreeMap<String, DateTime<Utc>>>,
}

impl Limits {
    /// Counts from now on, on top of what the ledger holds.
    pub fn new(
        context: Context,
        outbox: Arc<Outbox>,
        rights: Arc<Rights>,
        settings: Live<LimitSettings>,
    ) -> Self {
        let now = context.runtime.now();
        Self {
            context,
            outbox,
            rights,
            settings,
            counters: Mutex::new(Counters::new(now)),
            counted: Notify::new(),
            reached: Mutex::default(),
        }
    }

    /// Returns what everybody may use, for another config to be put there.
    pub fn settings(&self) -> &Live<LimitSettings> {
        &self.settings
    }

    fn counters(&self) -> MutexGuard<'_, Counters> {
        locked(&self.counters)
    }

    /// Lists what is reached just now: `limits.person.calls_per_day (tg:4711)`.
    pub fn reached(&self, now: DateTime<Utc>) -> Vec<String> {
        let mut reached = locked(&self.reached);
        reached.retain(|_, until| *until > now);
        reached.keys().cloned().collect()
    }

    /// Notes one that is reached; whether it was not known.
    fn note(&self, reached: &LimitHit) -> bool {
        let mut all = locked(&self.reached);
        let line = format!("{} ({})", reached.key(), reached.who);
        let until = reached.since + reached.what.window();
        all.insert(line, until) != Some(until)
    }

    /// Notes one that is reached, and logs it the first time.
    fn log(&self, reached: &LimitHit) -> bool {
        let is_new = self.note(reached);
        if is_new {
            let (limit, who) = (reached.key(), &reached.who);
            tracing::warn!(limit, who, "a limit is reached: what comes beyond it is not answered");
        }
        is_new
    }
}

impl Limits {
    /// Writes what is counted, a moment later. Runs until the daemon's end.
    pub async fn write_behind(self: Arc<Self>) {
        let ends = &self.context.runtime.stop.work;
        while !ends.is_cancelled() {
            ends.run_until_cancelled(self.counted.notified()).await;
            ends.run_until_cancelled(tokio::time::sleep(BEHIND)).await;
            self.write().await;
        }
    }

    /// Writes what is counted and not written yet.
    pub async fn write(&self) {
        let unwritten = self.counters().unwritten();
        if unwritten.is_empty() {
            return;
        }
        match self.context.storage.ledger.spend(unwritten.clone(), self.forget()).await {
            Ok(_) => self.counters().leave(self.context.runtime.clock.now()),
            Err(error) => {
                self.counters().take_back(unwritten);
                self.counted.notify_one();
                self.context.storage.trouble(&error);
            }
        }
    }

    /// Counts the messages of a task that begins, and returns the limit that stands in its way.
    pub async fn stops(&self, claimed: &TaskClaim, trust: Trust) -> Option<LimitHit> {
        self.context.accounts.of(&claimed.conversation)?;
        let user = User::of(claimed, trust);
        let now = self.context.runtime.clock.now();
        let newest = claimed.heard.last().map_or(now, |(_, inbound)| inbound.at);
        // A task that goes on was counted when it began. Words of its own are asked like a message; a schedule's are
        // none, for nobody writes them.
        let unattended = unattended::is_unattended(&claimed.facts);
        let asked = claimed.heard.len() + usize::from(claimed.words.is_some());
        // What an agent does, or tells, a task was asked for.
        let is_agents = claimed.words.as_ref().is_some_and(|words| words.agent.is_some());
        let goes_on = claimed.header.is_some() || is_agents;
        let messages = match unattended || goes_on {
            true => Vec::new(),
            false => self.checks(&user, What::Messages, newest, asked as u64),
        };
        // Fixed words ask no model.
        if claimed.words.as_ref().is_some_and(|words| words.fixed) {
            return None;
        }
        let day = What::OF_MODELS.map(|what| self.checks(&user, what, now, 0));
        let reached =
            self.first_reached(messages.into_iter().chain(day.into_iter().flatten())).await?;
        match unattended {
            true => self.tell_maker(&reached, claimed).await,
            false => self.tell(&reached, claimed.heard.last().map(|(_, inbound)| inbound)).await,
        }
        Some(reached)
    }

    /// Says where a schedule speaks that a time of it is passed over, once for the limit's time.
    async fn tell_maker(&self, reached: &LimitHit, claimed: &TaskClaim) {
        self.log(reached);
        let storage = &self.context.storage;
        let behind = storage.insist(|ledger| ledger.schedule_behind(claimed.claim.task)).await;
        let Some(row) = behind.flatten() else {
            let key = format!("limit:{}:webhook:{}", reached.key(), reached.since.timestamp());
            return self.outbox.tell_owner(&key, &messages::hook_passed_over(reached)).await;
        };
        let known = crate::work::messages::schedule(row.id(), &row.schedule.name());
        let text = messages::passed_over(reached, &known);
        if let Some(draft) = self.outbox.draft(&claimed.conversation, &text, None, None) {
            let key = format!(
                "limit:{}:schedule:{}:{}",
                reached.key(),
                claimed.conversation,
                reached.since.timestamp()
            );
            self.outbox.say_once(&key, draft).await;
        }
    }

    /// Returns the limit that keeps a conversation's lines from the model of the gate.
    pub async fn stops_gate(&self, conversation: &ConversationId) -> Option<LimitHit> {
        let user = User { person: None, conversation, is_owner: false };
        let now = self.context.runtime.clock.now();
        let checks = What::OF_MODELS.map(|what| self.checks(&user, what, now, 0));
        let reached = self.first_reached(checks.into_iter().flatten()).await?;
        self.tell(&reached, None).await;
        Some(reached)
    }

    /// Counts a command or a tap of anybody but an owner, and returns the limit that stands in its way. They have
    /// counters of their own: who has written too much can still stop what runs.
    pub async fn stops_command(&self, inbound: &Inbound) -> Option<LimitHit> {
        let account = self.context.accounts.of(&inbound.conversation)?;
        let trust = self.rights.principal(&account, inbound)?;
        if trust == Trust::Owner {
            return None;
        }
        let user = User::who_wrote(inbound);
        let checks = self.checks(&user, What::Commands, inbound.at, 1);
        self.first_reached(checks.into_iter()).await
    }

    /// Notes that taps are beyond a limit; returns the line for whoever tapped, the first time.
    pub fn tap_told(&self, reached: &LimitHit) -> Option<&'static str> {
        self.log(reached).then_some(messages::TAPS)
    }

    /// Returns the limits that a task counts against; `None` at the command line.
    pub fn shares(&self, claimed: &TaskClaim) -> Option<Shares<'_>> {
        self.context.accounts.of(&claimed.conversation)?;
        let user = User::of(claimed, claimed.facts.trust);
        Some(Shares { limits: self, shares: user.shares(&self.settings.now()) })
    }

    /// Counts the last usage of a task.
    pub fn used(&self, claimed: &TaskClaim, usage: Usage) {
        // Its end is said already: a limit that it reached stands in the way of the next.
        let _reached = self.shares(claimed).and_then(|shares| shares.count(usage));
    }

    /// Whether a conversation may be thought about although nobody asks; nobody is told that it may not.
    pub async fn has_room(&self, conversation: &ConversationId) -> bool {
        let user = User { person: None, conversation, is_owner: false };
        let now = self.context.runtime.clock.now();
        let checks = What::OF_MODELS.map(|what| self.checks(&user, what, now, 0));
        self.first_reached(checks.into_iter().flatten()).await.is_none()
    }

    /// Counts what was used for a conversation in which nobody had asked: a decision of the gate, a summary.
    pub fn used_unasked(&self, conversation: &ConversationId, usage: Usage) {
        let user = User { person: None, conversation, is_owner: false };
        let shares = user.shares(&self.settings.now());
        let _reached = Shares { limits: self, shares }.count(usage);
    }

    /// Returns how many bytes may still be fetched of what a person sends.
    pub async fn bytes_left(&self, inbound: &Inbound) -> Result<u64, LimitHit> {
        if self.is_owner(inbound) {
            return Ok(u64::MAX);
        }
        let checks = self.bytes(inbound, 0);
        let known = self.count(&checks).await;
        let mut left = u64::MAX;
        for (check, known) in checks.into_iter().zip(known) {
            match check.cap.saturating_sub(known) {
                0 => {
                    self.log(&check.reached);
                    return Err(check.reached);
                }
                room => left = left.min(room),
            }
        }
        Ok(left)
    }

    /// Counts bytes that were fetched of what a person sent.
    pub async fn fetched(&self, inbound: &Inbound, amount: u64) {
        if !self.is_owner(inbound) {
            self.count(&self.bytes(inbound, amount)).await;
        }
    }

    fn bytes(&self, inbound: &Inbound, amount: u64) -> Vec<Check> {
        let user = User::who_wrote(inbound);
        self.checks(&user, What::Bytes, self.context.runtime.clock.now(), amount)
    }

    pub(super) fn is_owner(&self, inbound: &Inbound) -> bool {
        let account = self.context.accounts.of(&inbound.conversation);
        let trust = account.and_then(|account| self.rights.principal(&account, inbound));
        trust == Some(Trust::Owner)
    }

    fn checks(&self, user: &User<'_>, what: What, at: DateTime<Utc>, amount: u64) -> Vec<Check> {
        checks_of(&user.shares(&self.settings.now()), what, at, amount)
    }

    /// Adds what is to be added, and returns the first limit that is reached.
    async fn first_reached(&self, checks: impl Iterator<Item = Check>) -> Option<LimitHit> {
        let checks: Vec<Check> = checks.collect();
        let known = self.count(&checks).await;
        let over = |(check, known): &(Check, u64)| match check.used.spent.amount {
            // What is looked at only is reached when nothing is left of it.
            0 => *known >= check.cap,
            _ => *known > check.cap,
        };
        checks.into_iter().zip(known).find(over).map(|(check, _)| check.reached)
    }

    /// Adds, and returns what each counter has come to, in the same order. Waits for the ledger only when it asks
    /// for what an earlier start counted.
    async fn count(&self, checks: &[Check]) -> Vec<u64> {
        let uses: Vec<Use> = checks.iter().map(|check| check.used.clone()).collect();
        let unknown = self.counters().unknown(&uses);
        if !unknown.is_empty() {
            let looks = || {
                unknown.iter().map(|one| UsageDelta { amount: 0, ..one.spent.clone() }).collect()
            };
            let read =
                self.context.storage.insist(|ledger| ledger.spend(looks(), self.forget())).await;
            self.counters().learn(&unknown, read.unwrap_or_default());
        }
        self.add(checks)
    }

    /// Adds, and returns what each counter has come to since it is known. Whoever begins a task has it read first.
    fn add(&self, checks: &[Check]) -> Vec<u64> {
        let uses: Vec<Use> = checks.iter().map(|check| check.used.clone()).collect();
        let came = self.counters().add(&uses);
        if uses.iter().any(|one| one.spent.amount > 0) {
            self.counted.notify_one();
        }
        came
    }

    /// Yesterday's stay, for a clock that is set back a little.
    fn forget(&self) -> DateTime<Utc> {
        self.context.runtime.clock.now() - TimeDelta::days(2)
    }

    /// Says that a limit is reached, once for its time: to the person, and to the log.
    pub async fn tell(&self, reached: &LimitHit, inbound: Option<&Inbound>) {
        self.log(reached);
        let told = |inbound: &Inbound| match self.is_owner(inbound) {
            true => messages::owner_reached(reached),
            false => messages::reached(reached),
        };
        let draft = inbound.and_then(|i| self.outbox.draft_to(i, &told(i)));
        if let Some(draft) = draft {
            let since = reached.since.timestamp();
            // What everybody has used up is told in each conversation that meets it.
            let whose = match reached.whose {
                Whose::Everybody => inbound.map_or(String::new(), |i| i.conversation.to_string()),
                Whose::Person | Whose::Conversation => reached.who.clone(),
            };
            let key = format!("limit:{}:{whose}:{since}", reached.key());
            self.outbox.say_once(&key, draft).await;
        }
    }
}

/// The limits that a task counts against.
pub struct Shares<'a> {
    limits: &'a Limits,
    shares: Vec<Share>,
}

impl Quota for Shares<'_> {
    fn count(&self, usage: Usage) -> Option<QuotaError> {
        let now = self.limits.context.runtime.now();
        let unpriced = if usage.micro_usd == 0 { usage.tokens() } else { 0 };
        let used = [
            (What::Calls, u64::from(usage.calls)),
            (What::Cost, usage.micro_usd),
            (What::Tokens, unpriced),
        ];
        let used = used.into_iter().filter(|(_, amount)| *amount > 0);
        let checks: Vec<Check> =
            used.flat_map(|(what, amount)| checks_of(&self.shares, what, now, amount)).collect();
        let came = self.limits.add(&checks);
        let reached = checks.into_iter().zip(came).find(|(check, came)| *came >= check.cap)?;
        let reached = reached.0.reached;
        self.limits.log(&reached);
        let why = format!("{} is reached", reached.key());
        Some(QuotaError { why, text: messages::stopped(&reached) })
    }
}

/// A counter, what is added to it, and how far it may go. What has no limit is not counted.
struct Check {
    used: Use,
    cap: u64,
    reached: LimitHit,
}

fn checks_of(shares: &[Share], what: What, at: DateTime<Utc>, amount: u64) -> Vec<Check> {
    let since = what.since(at);
    let check = |Share { whose, who, caps }: &Share| {
        let spent = UsageDelta { who: who.clone(), what: what.name(), since, amount };
        let used = Use { spent, until: since + what.window() };
        let reached = LimitHit { whose: *whose, what, who: who.clone(), since };
        Some(Check { used, cap: what.of(*caps)?, reached })
    };
    shares.iter().filter_map(check).collect()
}
