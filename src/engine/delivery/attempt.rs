//! One attempt at one part: mark, call, receipt; or the decision about an unclear one.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::FutureExt as _;
use selkie_channel_core::locked;
use selkie_channel_core::{ConversationId, Delivery, Lookup, Part, Sender};
use tokio::time::Instant;

use crate::delivery::account::Account;
use crate::delivery::chain::{self, ChainState};
use crate::delivery::messages;
use crate::delivery::moments::until;
use crate::delivery::outbox::Outbox;
use crate::delivery::outcome::{self, AttemptOutcome, Moment, Penalty};
use crate::delivery::rate_limiter::{ACCOUNT, MAX_PENALTY};
use crate::delivery::waiters;
use crate::delivery::waiters::Trouble;
use selkie_domain::crash::CrashPoint;
use selkie_domain::event::Event;
use selkie_domain::metrics::Phase;
use selkie_store::{DeliveryState, DuePart, Outcome, StoreError};

/// Shorter penalties are not worth a row.
const WORTH_STORING: TimeDelta = TimeDelta::seconds(2);

/// A platform that is asked whether something arrived has so long to answer.
const MAX_LOOKUP: Duration = Duration::from_secs(30);
/// A pause that whoever waits for an outcome waits out.
const SHORT: Duration = Duration::from_secs(31);

/// What the delivery worker does with the part now.
pub enum Next {
    /// Nothing: the lane's next part goes on.
    Settled,
    /// The same, and the platform has answered.
    Answered,
    /// Tries it again in this form.
    Again(Box<DuePart>),
    /// The platform was asked whether it arrived, and nobody knows yet: it is asked again.
    Open(Box<DuePart>),
}

/// Asks the platform whether a part arrived; no answer in time is one that comes later.
pub async fn looked_up(sender: &dyn Sender, part: &Part) -> Lookup {
    let asked = tokio::time::timeout(MAX_LOOKUP, sender.lookup(part)).await;
    let why = || "the platform does not say whether it arrived".to_owned();
    asked.unwrap_or_else(|_| Lookup::Later { after: MAX_LOOKUP, at_most: None, why: why() })
}

/// Makes one attempt. Nothing leaves without a durable mark.
pub async fn attempt(outbox: &Arc<Outbox>, account: &Account, due: DuePart) -> Next {
    let now = outbox.runtime.clock.now();
    let sender = &*account.channel.sender;
    let mut due = match chain::joined(outbox, sender, due).await {
        ChainState::Ready(due) => due,
        ChainState::Wait(due) => return Next::Again(due),
        ChainState::Broken(due, verdict) => return settle(outbox, account, &due, verdict).await,
    };
    if due.unclear {
        let known = looked_up(sender, &due.part).await;
        let verdict = outcome::of_lookup(known, due.clone(), sender, moment(outbox));
        return match settle(outbox, account, &due, verdict).await {
            Next::Again(part) if part.unclear => Next::Open(part),
            next => next,
        };
    }
    if due.expires_at.is_some_and(|at| at <= now) {
        let expired = AttemptOutcome { outcome: Outcome::Expired, again: None, penalty: None };
        return settle(outbox, account, &due, expired).await;
    }
    // Its mark is of this attempt.
    let may = match std::mem::take(&mut due.departs) {
        true => Ok(true),
        false => outbox.storage.ledger.sending(due.id, &outbox.runtime.instance).await,
    };
    match may {
        Ok(true) => {}
        Ok(false) => {
            outbox.waiters.tell(due.outbound, &DeliveryState::Cancelled);
            outbox.files.settle(&due.part);
            return Next::Settled;
        }
        Err(error) => {
            outbox.storage.trouble(&error);
            return match error {
                StoreError::Broken(_) => Next::Again(Box::new(due)),
                // A defect of this row must not hold the lane.
                _ => Next::Settled,
            };
        }
    }
    outbox.runtime.crash.hit(CrashPoint::AfterSending);
    let began = Instant::now();
    let delivered = AssertUnwindSafe(sender.deliver(&due.part)).catch_unwind().await;
    outbox.runtime.metrics.took(Phase::Send, began.elapsed());
    outbox.runtime.crash.hit(CrashPoint::AfterDeliver);
    let delivery =
        delivered.unwrap_or_else(|_| Delivery::Unclear { why: "the channel panicked".to_owned() });
    let moment = moment(outbox);
    settle(outbox, account, &due.clone(), outcome::of_delivery(delivery, due, sender, moment)).await
}

fn moment(outbox: &Outbox) -> Moment {
    Moment {
        now: outbox.runtime.clock.now(),
        unit: outbox.runtime.chance.unit(),
        unclear_after: outbox.settings.now().outbox.unclear_after,
    }
}

/// Stores what came of it; while the store is broken the receipt is kept here and the lane waits.
async fn settle(
    outbox: &Arc<Outbox>,
    account: &Account,
    due: &DuePart,
    verdict: AttemptOutcome,
) -> Next {
    let AttemptOutcome { outcome, again, penalty } = verdict;
    tell_log(due, &outcome);
    outbox.runtime.metrics.part(account.channel.name, outcome.name());
    if let Some(penalty) = penalty {
        punish(outbox, account, &due.part.conversation, penalty).await;
    }
    if let Outcome::Moved { to, .. } = &outcome {
        let from = account.channel.address.place(&due.part.conversation);
        outbox.follow(account, &from, to).await;
    }
    let stored = outbox.storage.insist(|ledger| ledger.settle(due.id, outcome.clone())).await;
    tracing::debug!(part = %due.id, standing = stored.as_ref().map(waiters::name), "the receipt is stored");
    outbox.runtime.crash.hit(CrashPoint::AfterReceipt);
    if matches!(outcome, Outcome::Refused { .. } | Outcome::Expired) {
        // It may have been a question: its task goes on.
        outbox.woken.notify_one();
    }
    if stored.is_some() && again.is_none() {
        outbox.files.settle(&due.part);
    }
    if outcome == Outcome::LeftUnclear
        && account.channel.receiver.is_none()
        && !is_told_elsewhere(outbox, due).await
    {
        // Nobody answers there and no task of that conversation would ever be told.
        let text = messages::left_unclear(account.channel.name, &due.part.shown);
        outbox.tell_owner(&format!("unclear:{}", due.id), &text).await;
    }
    if let Some(trouble) = trouble(&outcome, outbox.runtime.clock.now()) {
        outbox.waiters.tell_trouble(due.outbound, trouble);
    }
    if let Some(standing) = stored {
        outbox.waiters.tell(due.outbound, &standing);
        if matches!(
            standing,
            DeliveryState::Refused { .. } | DeliveryState::Expired | DeliveryState::Unclear
        ) {
            // It may have been the button of a held answer.
            outbox.late.held.notify_one();
        }
        if due.part.asks && matches!(standing, DeliveryState::Partly { .. }) {
            let draft = outbox.draft(&due.part.conversation, messages::CUT_SHORT, None, None);
            if let Some(draft) = draft {
                outbox.say_once(&format!("cut:{}", due.outbound.0), draft).await;
            }
        }
        if standing != DeliveryState::Open {
            outbox.runtime.events.emit(|| Event::Delivered {
                conversation: due.part.conversation.clone(),
                outbound: due.outbound,
                state: waiters::name(&standing).to_owned(),
            });
        }
    }
    match again {
        Some(part) => Next::Again(Box::new(part)),
        None if matches!(outcome, Outcome::Sent(_) | Outcome::Refused { .. }) => Next::Answered,
        None => Next::Settled,
    }
}

/// Whether whoever asked for a post is told what becomes of it.
async fn is_told_elsewhere(outbox: &Outbox, due: &DuePart) -> bool {
    let post = outbox.storage.insist(|ledger| ledger.post_of(due.outbound)).await.flatten();
    post.is_some_and(|post| !post.told)
}

/// What an attempt that is made again tells those who wait.
fn trouble(outcome: &Outcome, now: DateTime<Utc>) -> Option<Trouble> {
    match outcome {
        Outcome::Retry { at, why } => {
            let decided_in =
                Some(until(*at, now)).filter(|wait| *wait <= SHORT).unwrap_or_default();
            Some(Trouble { why: why.clone(), decided_in })
        }
        Outcome::Unclear { decide_at, why } => {
            Some(Trouble { why: why.clone(), decided_in: until(*decide_at, now) })
        }
        _ => None,
    }
}

/// Holds everybody back whom the platform asked to wait.
pub async fn punish(
    outbox: &Arc<Outbox>,
    account: &Account,
    conversation: &ConversationId,
    penalty: Penalty,
) {
    if !penalty.account && account.channel.sender.keeps_limits() {
        return;
    }
    let now = outbox.runtime.clock.now();
    let place = account.channel.address.place(conversation);
    let scope = if penalty.account { ACCOUNT } else { place.key() };
    let until = penalty.until.min(now + MAX_PENALTY);
    {
        let mut limiter = locked(&account.limiter);
        limiter.punish(scope, until, now);
    }
    if until - now < WORTH_STORING {
        return;
    }
    let stored = outbox.storage.ledger.penalty(&account.channel.account, scope, until).await;
    if let Err(error) = stored {
        outbox.storage.trouble(&error);
    }
}

/// The one place that logs a delivery that went wrong.
fn tell_log(due: &DuePart, outcome: &Outcome) {
    let (part, to) = (due.id, &due.part.conversation);
    match outcome {
        Outcome::Sent(receipt) => tracing::debug!(%part, %to, ?receipt, "sent"),
        Outcome::Retry { at, why } => tracing::info!(%part, %to, %at, why, "will be tried again"),
        Outcome::Refused { reason, close } => {
            tracing::warn!(%part, %to, reason, close, "the platform will not take it");
        }
        Outcome::Unclear { decide_at, why } => {
            tracing::warn!(%part, %to, %decide_at, why, "nobody knows whether it arrived");
        }
        Outcome::LeftUnclear => {
            tracing::warn!(%part, %to, "left unclear: see `selkie trace`, and send it again by hand if need be");
        }
        Outcome::Repeat(_) => tracing::warn!(%part, %to, "goes out once more, marked"),
        Outcome::Instead { why, .. } => tracing::info!(%part, %to, why, "goes out in another form"),
        Outcome::Moved { to: new, .. } => tracing::info!(%part, %to, %new, "its place has moved"),
        Outcome::Expired => tracing::warn!(%part, %to, "expired before it could be sent"),
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use selkie_channel_core::Outbound;

    use super::*;
    use crate::flow::testing;

    #[test]
    fn a_short_pause_is_waited_out() {
        let now = DateTime::UNIX_EPOCH;
        let retry = |seconds| {
            let at = now + TimeDelta::seconds(seconds);
            trouble(&Outcome::Retry { at, why: "429".to_owned() }, now).unwrap().decided_in
        };
        assert_eq!(retry(20), Duration::from_secs(20));
        assert_eq!([retry(-1), retry(900)], [Duration::ZERO; 2], "nothing is waited for so long");
    }

    /// Never says whether anything arrived.
    struct Silent;

    #[async_trait]
    impl Sender for Silent {
        fn render(&self, _: &Outbound) -> Vec<Part> {
            Vec::new()
        }

        async fn deliver(&self, _: &Part) -> Delivery {
            Delivery::Unclear { why: "cut".to_owned() }
        }

        async fn lookup(&self, _: &Part) -> Lookup {
            std::future::pending().await
        }

        fn marked(&self, part: &Part) -> Part {
            part.clone()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_platform_that_never_says_is_asked_again_later() {
        let known = looked_up(&Silent, &testing::due(1).part).await;
        assert!(matches!(known, Lookup::Later { after, .. } if after == MAX_LOOKUP));
    }
}
