//! What everybody but an owner may use: messages in a minute; model calls, their cost and bytes of files in
//! a day. Counted in the ledger, so that a restart is no fresh start. Whoever reaches a limit is told once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, DurationRound as _, TimeDelta, Utc};
use selkie_channel_core::{ConversationId, Inbound, PersonId};

use crate::domain::facts::Trust;
use crate::domain::usage::Usage;
use crate::flow::desk::Desk;
use crate::flow::words;
use crate::store::{Claimed, Spent};

pub mod settings;

use settings::Caps;

/// Whose share of something it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    Person,
    Conversation,
    Everybody,
}

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Messages,
    Calls,
    Cost,
    Bytes,
}

/// A limit that is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) whose: Whose,
    pub(super) what: What,
    /// The counter's name, and since when it counts.
    who: String,
    since: DateTime<Utc>,
}

/// The limits that are reached just now, for the owner to read.
#[derive(Default)]
pub(super) struct Limits(Mutex<BTreeMap<String, DateTime<Utc>>>);

/// Who uses something.
struct User<'a> {
    person: Option<&'a PersonId>,
    conversation: &'a ConversationId,
}

impl What {
    const fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Calls => "calls",
            Self::Cost => "micro_usd",
            Self::Bytes => "bytes",
        }
    }

    const fn of(self, caps: Caps) -> Option<u64> {
        match self {
            Self::Messages => caps.messages,
            Self::Calls => caps.calls,
            Self::Cost => caps.micro_usd,
            Self::Bytes => caps.bytes,
        }
    }

    fn window(self) -> TimeDelta {
        match self {
            Self::Messages => TimeDelta::minutes(1),
            _ => TimeDelta::days(1),
        }
    }

    /// When the time that is counted began.
    fn since(self, at: DateTime<Utc>) -> DateTime<Utc> {
        // Only times outside of the calendar cannot be cut.
        at.duration_trunc(self.window()).unwrap_or(at)
    }
}

impl Reached {
    /// Names it as the config does.
    pub(super) fn key(&self) -> String {
        let whose = match self.whose {
            Whose::Person => "person",
            Whose::Conversation => "conversation",
            Whose::Everybody => "everybody",
        };
        let what = match self.what {
            What::Messages => "messages_per_minute",
            What::Calls => "calls_per_day",
            What::Cost => "cost_usd_per_day",
            What::Bytes => "download_mb_per_day",
        };
        format!("limits.{whose}.{what}")
    }
}

impl Limits {
    /// Lists what is reached just now: `limits.person.calls_per_day (tg:4711)`.
    pub(super) fn reached(&self, now: DateTime<Utc>) -> Vec<String> {
        let mut reached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reached.retain(|_, until| *until > now);
        reached.keys().cloned().collect()
    }

    /// Notes one that is reached; whether it was not known.
    fn note(&self, reached: &Reached) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = format!("{} ({})", reached.key(), reached.who);
        all.insert(line, reached.since + reached.what.window()).is_none()
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

/// Counts what a task or a decision has used.
pub(super) async fn used(
    desk: &Arc<Desk>,
    person: Option<&PersonId>,
    conversation: &ConversationId,
    usage: Usage,
) {
    let user = User { person, conversation };
    let now = desk.clock.now();
    let calls = checks(desk, &user, What::Calls, now, u64::from(usage.calls));
    let cost = checks(desk, &user, What::Cost, now, usage.micro_usd);
    spend(desk, calls.into_iter().chain(cost).map(|check| check.spent).collect()).await;
}

/// Returns how many bytes may still be fetched of what a person sends.
pub(super) async fn bytes_left(desk: &Arc<Desk>, inbound: &Inbound) -> Result<u64, Reached> {
    if is_owner(desk, inbound) {
        return Ok(u64::MAX);
    }
    let checks = bytes(desk, inbound, 0);
    let spents = checks.iter().map(|check| check.spent.clone()).collect();
    let known = spend(desk, spents).await;
    let mut left = u64::MAX;
    for (check, known) in checks.into_iter().zip(known) {
        match check.cap.map(|cap| cap.saturating_sub(known)) {
            Some(0) => {
                desk.limits.note(&check.reached);
                return Err(check.reached);
            }
            Some(room) => left = left.min(room),
            None => {}
        }
    }
    Ok(left)
}

/// Counts bytes that were fetched of what a person sent.
pub(super) async fn fetched(desk: &Arc<Desk>, inbound: &Inbound, amount: u64) {
    if !is_owner(desk, inbound) {
        spend(desk, bytes(desk, inbound, amount).into_iter().map(|check| check.spent).collect())
            .await;
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

/// A counter, what is added to it, and how far it may go.
struct Check {
    spent: Spent,
    cap: Option<u64>,
    reached: Reached,
}

fn checks(desk: &Desk, user: &User<'_>, what: What, at: DateTime<Utc>, amount: u64) -> Vec<Check> {
    let since = what.since(at);
    let check = |(whose, who, caps): (Whose, String, Caps)| Check {
        spent: Spent { who: who.clone(), what: what.name(), since, amount },
        cap: what.of(caps),
        reached: Reached { whose, what, who, since },
    };
    user.shares(desk).into_iter().map(check).collect()
}

/// Adds what is to be added, and returns the first limit that is reached.
async fn first_reached(desk: &Arc<Desk>, checks: impl Iterator<Item = Check>) -> Option<Reached> {
    let checks: Vec<Check> = checks.collect();
    let known = spend(desk, checks.iter().map(|check| check.spent.clone()).collect()).await;
    let over = |(check, known): &(Check, u64)| match (check.cap, check.spent.amount) {
        (None, _) => false,
        // What is looked at only is reached when nothing is left of it.
        (Some(cap), 0) => *known >= cap,
        (Some(cap), _) => *known > cap,
    };
    checks.into_iter().zip(known).find(over).map(|(check, _)| check.reached)
}

async fn spend(desk: &Arc<Desk>, spent: Vec<Spent>) -> Vec<u64> {
    // Yesterday's stay, for a clock that is set back a little.
    let forget = desk.clock.now() - TimeDelta::days(2);
    let known = desk.insist(|| desk.ledger.spend(spent.clone(), forget)).await;
    known.unwrap_or_else(|| vec![0; spent.len()])
}

/// Says that a limit is reached, once for its time: to the person, and to the log.
async fn tell(desk: &Arc<Desk>, reached: &Reached, inbound: Option<&Inbound>) {
    if desk.limits.note(reached) {
        let (limit, who) = (reached.key(), &reached.who);
        tracing::warn!(limit, who, "a limit is reached: what comes beyond it is not answered");
    }
    let draft = inbound.and_then(|i| desk.draft_to(i, &words::limit_reached(reached)));
    if let Some(draft) = draft {
        let since = reached.since.timestamp();
        let key = format!("limit:{}:{}:{since}", reached.key(), reached.who);
        desk.say_once(&key, draft).await;
    }
}
