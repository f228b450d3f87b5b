//! What everybody but an owner may use: messages, and commands and taps, in a minute; model calls, their cost
//! and bytes of files in a day. Counted in the ledger, so that a restart is no fresh start. Whoever reaches a limit is told once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::{ConversationId, Inbound, PersonId};
use tokio::sync::Notify;

use crate::agent::{Exhausted, Quota};
use crate::domain::facts::Trust;
use crate::domain::usage::{Spent, Usage};
use crate::flow::desk::Desk;
use crate::store::Claimed;

mod reached;
pub mod settings;
mod tally;
mod words;

use reached::{Reached, What, Whose};
use settings::Caps;
use tally::{Tally, Use};

/// What is counted in this time is written at once, and may be lost by a kill: no message waits for it.
const BEHIND: Duration = Duration::from_secs(1);

/// What is counted, and the limits that are reached just now, for the owner to read.
pub(super) struct Limits {
    tally: Mutex<Tally>,
    /// Rung when something was added.
    counted: Notify,
    reached: Mutex<BTreeMap<String, DateTime<Utc>>>,
}

/// Who uses something.
struct User<'a> {
    person: Option<&'a PersonId>,
    conversation: &'a ConversationId,
}

impl Limits {
    /// Counts from `now` on, on top of what the ledger holds.
    pub(super) fn new(now: DateTime<Utc>) -> Self {
        Self {
            tally: Mutex::new(Tally::new(now)),
            counted: Notify::new(),
            reached: Mutex::default(),
        }
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists what is reached just now: `limits.person.calls_per_day (tg:4711)`.
    pub(super) fn reached(&self, now: DateTime<Utc>) -> Vec<String> {
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        reached.retain(|_, until| *until > now);
        reached.keys().cloned().collect()
    }

    /// Notes one that is reached; whether it was not known.
    fn note(&self, reached: &Reached) -> bool {
        let mut all = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        let line = format!("{} ({})", reached.key(), reached.who);
        let until = reached.since + reached.what.window();
        all.insert(line, until) != Some(until)
    }

    /// Notes one that is reached, and logs it the first time.
    fn log(&self, reached: &Reached) -> bool {
        let is_new = self.note(reached);
        if is_new {
            let (limit, who) = (reached.key(), &reached.who);
            tracing::warn!(limit, who, "a limit is reached: what comes beyond it is not answered");
        }
        is_new
    }
}

impl<'a> User<'a> {
    /// The counters of a use, each with its limit.
    fn shares(&self, desk: &Desk) -> Vec<(Whose, String, Caps)> {
        let settings = &desk.settings.limits;
        let person = self
            .person
            .map(|person| (Whose::Person, format!("person {person}"), settings.person.caps()));
        let conversation = (
            Whose::Conversation,
            format!("conversation {}", self.conversation),
            settings.conversation.caps(),
        );
        let everybody = (Whose::Everybody, "everybody".to_owned(), settings.everybody.caps());
        person.into_iter().chain([conversation, everybody]).collect()
    }
}

/// Writes what is counted, a moment later. Runs until the daemon's end.
pub(super) async fn write_behind(desk: Arc<Desk>) {
    let ends = &desk.stop.work;
    while !ends.is_cancelled() {
        ends.run_until_cancelled(desk.limits.counted.notified()).await;
        ends.run_until_cancelled(tokio::time::sleep(BEHIND)).await;
        write(&desk).await;
    }
}

/// Writes what is counted and not written yet.
pub(super) async fn write(desk: &Arc<Desk>) {
    let unwritten = desk.limits.tally().unwritten();
    if unwritten.is_empty() {
        return;
    }
    match desk.ledger.spend(unwritten.clone(), forget(desk)).await {
        Ok(_) => desk.limits.tally().leave(desk.clock.now()),
        Err(error) => {
            desk.limits.tally().take_back(unwritten);
            desk.limits.counted.notify_one();
            desk.trouble(&error);
        }
    }
}

/// Counts the messages of a task that begins, and returns the limit that stands in its way.
pub(super) async fn stops(desk: &Arc<Desk>, claimed: &Claimed, trust: Trust) -> Option<Reached> {
    if trust == Trust::Owner || desk.account(&claimed.conversation).is_none() {
        return None;
    }
    let user = User { person: claimed.facts.speaker.as_ref(), conversation: &claimed.conversation };
    let now = desk.clock.now();
    let newest = claimed.heard.last().map_or(now, |(_, inbound)| inbound.at);
    // A task that goes on was counted when it began.
    let fresh = if claimed.header.is_none() { claimed.heard.len() as u64 } else { 0 };
    let messages = checks(desk, &user, What::Messages, newest, fresh);
    let day = [What::Calls, What::Cost].map(|what| checks(desk, &user, what, now, 0));
    let reached =
        first_reached(desk, messages.into_iter().chain(day.into_iter().flatten())).await?;
    tell(desk, &reached, claimed.heard.last().map(|(_, inbound)| inbound)).await;
    Some(reached)
}

/// Returns the limit that keeps a conversation's lines from the model of the gate.
pub(super) async fn stops_gate(desk: &Arc<Desk>, conversation: &ConversationId) -> Option<Reached> {
    let user = User { person: None, conversation };
    let now = desk.clock.now();
    let checks = [What::Calls, What::Cost].map(|what| checks(desk, &user, what, now, 0));
    let reached = first_reached(desk, checks.into_iter().flatten()).await?;
    tell(desk, &reached, None).await;
    Some(reached)
}

/// Counts a command or a tap of anybody but an owner, and returns the limit that stands in its way. They have
/// counters of their own: who has written too much can still stop what runs.
pub(super) async fn stops_command(desk: &Arc<Desk>, inbound: &Inbound) -> Option<Reached> {
    let account = desk.account(&inbound.conversation)?;
    let trust = desk.policy(account, |p| p.principal(inbound))?;
    if trust == Trust::Owner {
        return None;
    }
    let user = User { person: Some(&inbound.speaker.id), conversation: &inbound.conversation };
    let checks = checks(desk, &user, What::Commands, inbound.at, 1);
    first_reached(desk, checks.into_iter()).await
}

/// Says once that commands are beyond a limit.
pub(super) async fn tell_command(desk: &Arc<Desk>, reached: &Reached, inbound: &Inbound) {
    tell(desk, reached, Some(inbound)).await;
}

/// Notes that taps are beyond a limit; returns the line for whoever tapped, the first time.
pub(super) fn tap_told(desk: &Desk, reached: &Reached) -> Option<&'static str> {
    desk.limits.log(reached).then(words::taps)
}

/// The limits that a task of anybody but an owner counts against.
pub(super) struct Shares<'a> {
    desk: &'a Desk,
    shares: Vec<(Whose, String, Caps)>,
}

/// Returns the limits that a task counts against; `None` for an owner's.
pub(super) fn shares<'a>(desk: &'a Desk, claimed: &Claimed) -> Option<Shares<'a>> {
    let user = User { person: claimed.facts.speaker.as_ref(), conversation: &claimed.conversation };
    let is_held = claimed.facts.trust != Trust::Owner;
    is_held.then(|| Shares { desk, shares: user.shares(desk) })
}

/// Counts the last usage of a task.
pub(super) fn used(desk: &Desk, claimed: &Claimed, usage: Usage) {
    // Its end is said already: a limit that it reached stands in the way of the next.
    let _reached = shares(desk, claimed).and_then(|shares| shares.count(usage));
}

/// Counts what a decision of the gate has used.
pub(super) fn used_at_gate(desk: &Desk, conversation: &ConversationId, usage: Usage) {
    let shares = User { person: None, conversation }.shares(desk);
    let _reached = Shares { desk, shares }.count(usage);
}

impl Quota for Shares<'_> {
    fn count(&self, usage: Usage) -> Option<Exhausted> {
        let now = self.desk.clock.now();
        let used = [(What::Calls, u64::from(usage.calls)), (What::Cost, usage.micro_usd)];
        let used = used.into_iter().filter(|(_, amount)| *amount > 0);
        let checks: Vec<Check> =
            used.flat_map(|(what, amount)| checks_of(&self.shares, what, now, amount)).collect();
        let came = add(self.desk, &checks);
        let reached = checks.into_iter().zip(came).find(|(check, came)| *came >= check.cap)?;
        let reached = reached.0.reached;
        self.desk.limits.log(&reached);
        let why = format!("{} is reached", reached.key());
        Some(Exhausted { why, text: words::stopped(&reached) })
    }
}

/// Returns how many bytes may still be fetched of what a person sends.
pub(super) async fn bytes_left(desk: &Arc<Desk>, inbound: &Inbound) -> Result<u64, Reached> {
    if is_owner(desk, inbound) {
        return Ok(u64::MAX);
    }
    let checks = bytes(desk, inbound, 0);
    let known = count(desk, &checks).await;
    let mut left = u64::MAX;
    for (check, known) in checks.into_iter().zip(known) {
        match check.cap.saturating_sub(known) {
            0 => {
                desk.limits.log(&check.reached);
                return Err(check.reached);
            }
            room => left = left.min(room),
        }
    }
    Ok(left)
}

/// Counts bytes that were fetched of what a person sent.
pub(super) async fn fetched(desk: &Arc<Desk>, inbound: &Inbound, amount: u64) {
    if !is_owner(desk, inbound) {
        count(desk, &bytes(desk, inbound, amount)).await;
    }
}

fn bytes(desk: &Desk, inbound: &Inbound, amount: u64) -> Vec<Check> {
    let user = User { person: Some(&inbound.speaker.id), conversation: &inbound.conversation };
    checks(desk, &user, What::Bytes, desk.clock.now(), amount)
}

fn is_owner(desk: &Desk, inbound: &Inbound) -> bool {
    let account = desk.account(&inbound.conversation);
    let trust = account.and_then(|account| desk.policy(account, |p| p.principal(inbound)));
    trust == Some(Trust::Owner)
}

/// A counter, what is added to it, and how far it may go. What has no limit is not counted.
struct Check {
    used: Use,
    cap: u64,
    reached: Reached,
}

fn checks(desk: &Desk, user: &User<'_>, what: What, at: DateTime<Utc>, amount: u64) -> Vec<Check> {
    checks_of(&user.shares(desk), what, at, amount)
}

fn checks_of(
    shares: &[(Whose, String, Caps)],
    what: What,
    at: DateTime<Utc>,
    amount: u64,
) -> Vec<Check> {
    let since = what.since(at);
    let check = |(whose, who, caps): &(Whose, String, Caps)| {
        let spent = Spent { who: who.clone(), what: what.name(), since, amount };
        let used = Use { spent, until: since + what.window() };
        let reached = Reached { whose: *whose, what, who: who.clone(), since };
        Some(Check { used, cap: what.of(*caps)?, reached })
    };
    shares.iter().filter_map(check).collect()
}

/// Adds what is to be added, and returns the first limit that is reached.
async fn first_reached(desk: &Arc<Desk>, checks: impl Iterator<Item = Check>) -> Option<Reached> {
    let checks: Vec<Check> = checks.collect();
    let known = count(desk, &checks).await;
    let over = |(check, known): &(Check, u64)| match check.used.spent.amount {
        // What is looked at only is reached when nothing is left of it.
        0 => *known >= check.cap,
        _ => *known > check.cap,
    };
    checks.into_iter().zip(known).find(over).map(|(check, _)| check.reached)
}

/// Adds, and returns what each counter has come to, in the same order. Waits for the ledger only when it asks
/// for what an earlier start counted.
async fn count(desk: &Arc<Desk>, checks: &[Check]) -> Vec<u64> {
    let uses: Vec<Use> = checks.iter().map(|check| check.used.clone()).collect();
    let unknown = desk.limits.tally().unknown(&uses);
    if !unknown.is_empty() {
        let looks = || unknown.iter().map(|one| Spent { amount: 0, ..one.spent.clone() }).collect();
        let read = desk.insist(|| desk.ledger.spend(looks(), forget(desk))).await;
        desk.limits.tally().learn(&unknown, read.unwrap_or_default());
    }
    add(desk, checks)
}

/// Adds, and returns what each counter has come to since it is known. Whoever begins a task has it read first.
fn add(desk: &Desk, checks: &[Check]) -> Vec<u64> {
    let uses: Vec<Use> = checks.iter().map(|check| check.used.clone()).collect();
    let came = desk.limits.tally().add(&uses);
    if uses.iter().any(|one| one.spent.amount > 0) {
        desk.limits.counted.notify_one();
    }
    came
}

/// Yesterday's stay, for a clock that is set back a little.
fn forget(desk: &Desk) -> DateTime<Utc> {
    desk.clock.now() - TimeDelta::days(2)
}

/// Says that a limit is reached, once for its time: to the person, and to the log.
async fn tell(desk: &Arc<Desk>, reached: &Reached, inbound: Option<&Inbound>) {
    desk.limits.log(reached);
    let draft = inbound.and_then(|i| desk.draft_to(i, &words::reached(reached)));
    if let Some(draft) = draft {
        let since = reached.since.timestamp();
        // What everybody has used up is told in each conversation that meets it.
        let whose = match reached.whose {
            Whose::Everybody => inbound.map_or(String::new(), |i| i.conversation.to_string()),
            Whose::Person | Whose::Conversation => reached.who.clone(),
        };
        let key = format!("limit:{}:{whose}:{since}", reached.key());
        desk.say_once(&key, draft).await;
    }
}
