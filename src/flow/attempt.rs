//! One attempt at one part: mark, call, receipt; or the decision about an unclear one.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use chrono::TimeDelta;
use futures_util::FutureExt as _;
use selkie_channel_core::{ConversationId, Delivery, Lookup, Mouth, Part};

use crate::domain::crash::CrashPoint;
use crate::domain::happening::Happening;
use crate::flow::account::Account;
use crate::flow::chain::{self, Joined};
use crate::flow::desk::{Desk, until};
use crate::flow::governor::ACCOUNT;
use crate::flow::standings::Trouble;
use crate::flow::verdict::{self, Moment, Penalty, Verdict};
use crate::flow::{standings, words};
use crate::store::{DuePart, Outcome, Standing, StoreError};

/// Shorter penalties are not worth a row.
const WORTH_STORING: TimeDelta = TimeDelta::seconds(2);

/// A platform that is asked whether something arrived has so long to answer.
const LONGEST_LOOKUP: Duration = Duration::from_secs(30);

/// What the courier does with the part now.
pub(super) enum Next {
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
async fn looked_up(mouth: &dyn Mouth, part: &Part) -> Lookup {
    let asked = tokio::time::timeout(LONGEST_LOOKUP, mouth.lookup(part)).await;
    let why = || "the platform does not say whether it arrived".to_owned();
    asked.unwrap_or_else(|_| Lookup::Later { after: LONGEST_LOOKUP, at_most: None, why: why() })
}

/// Makes one attempt. Nothing leaves without a durable mark.
pub(super) async fn attempt(desk: &Arc<Desk>, account: &Account, due: DuePart) -> Next {
    let now = desk.clock.now();
    let mouth = &*account.channel.mouth;
    let mut due = match chain::joined(desk, mouth, due).await {
        Joined::Ready(due) => due,
        Joined::Wait(due) => return Next::Again(due),
        Joined::Broken(due, verdict) => return settle(desk, account, &due, verdict).await,
    };
    if due.unclear {
        let known = looked_up(mouth, &due.part).await;
        let verdict = verdict::of_lookup(known, due.clone(), mouth, moment(desk));
        return match settle(desk, account, &due, verdict).await {
            Next::Again(part) if part.unclear => Next::Open(part),
            next => next,
        };
    }
    if due.expires_at.is_some_and(|at| at <= now) {
        let expired = Verdict { outcome: Outcome::Expired, again: None, penalty: None };
        return settle(desk, account, &due, expired).await;
    }
    // Its mark is of this attempt.
    let may = match std::mem::take(&mut due.departs) {
        true => Ok(true),
        false => desk.ledger.sending(due.id, &desk.boot).await,
    };
    match may {
        Ok(true) => {}
        Ok(false) => {
            desk.standings.tell(due.outbound, &Standing::Cancelled);
            desk.spool.settle(&due.part);
            return Next::Settled;
        }
        Err(error) => {
            desk.trouble(&error);
            return match error {
                StoreError::Broken(_) => Next::Again(Box::new(due)),
                // A defect of this row must not hold the lane.
                _ => Next::Settled,
            };
        }
    }
    desk.crash.hit(CrashPoint::AfterSending);
    let delivered = AssertUnwindSafe(mouth.deliver(&due.part)).catch_unwind().await;
    desk.crash.hit(CrashPoint::AfterDeliver);
    let delivery =
        delivered.unwrap_or_else(|_| Delivery::Unclear { why: "the channel panicked".to_owned() });
    let moment = moment(desk);
    settle(desk, account, &due.clone(), verdict::of_delivery(delivery, due, mouth, moment)).await
}

fn moment(desk: &Desk) -> Moment {
    Moment {
        now: desk.clock.now(),
        unit: desk.chance.unit(),
        unclear_after: desk.settings.outbox.unclear_after,
    }
}

/// Stores what came of it; while the store is broken the receipt is kept here and the lane waits.
async fn settle(desk: &Arc<Desk>, account: &Account, due: &DuePart, verdict: Verdict) -> Next {
    let Verdict { outcome, again, penalty } = verdict;
    tell_log(due, &outcome);
    if let Some(penalty) = penalty {
        punish(desk, account, &due.part.conversation, penalty).await;
    }
    if let Outcome::Moved { to, .. } = &outcome {
        let from = account.channel.address.place(&due.part.conversation);
        desk.follow(account, &from, to).await;
    }
    let stored = desk.insist(|| desk.ledger.settle(due.id, outcome.clone())).await;
    tracing::debug!(part = %due.id, standing = stored.as_ref().map(standings::name), "the receipt is stored");
    desk.crash.hit(CrashPoint::AfterReceipt);
    if matches!(outcome, Outcome::Refused { .. } | Outcome::Expired) {
        // It may have been a question: its task goes on.
        desk.woken.notify_one();
    }
    if stored.is_some() && again.is_none() {
        desk.spool.settle(&due.part);
    }
    if outcome == Outcome::LeftUnclear && account.channel.ears.is_none() {
        // Nobody answers there and no task of that conversation would ever be told.
        let text = words::left_unclear(account.channel.name, &due.part.shown);
        desk.tell_owner(&format!("unclear:{}", due.id), &text).await;
    }
    if let Some(trouble) = trouble(desk, &outcome) {
        desk.standings.tell_trouble(due.outbound, trouble);
    }
    if let Some(standing) = stored {
        desk.standings.tell(due.outbound, &standing);
        if matches!(standing, Standing::Refused { .. } | Standing::Expired | Standing::Unclear) {
            // It may have been the button of a held answer.
            desk.held.notify_one();
        }
        if standing != Standing::Open {
            desk.happenings.tell(|| Happening::Delivered {
                conversation: due.part.conversation.clone(),
                outbound: due.outbound,
                state: standings::name(&standing).to_owned(),
            });
        }
    }
    match again {
        Some(part) => Next::Again(Box::new(part)),
        None if matches!(outcome, Outcome::Sent(_) | Outcome::Refused { .. }) => Next::Answered,
        None => Next::Settled,
    }
}

/// What an attempt that is made again tells those who wait.
fn trouble(desk: &Desk, outcome: &Outcome) -> Option<Trouble> {
    let (why, decided_in) = match outcome {
        Outcome::Retry { why, .. } => (why, Duration::ZERO),
        Outcome::Unclear { decide_at, why } => (why, until(*decide_at, desk.clock.now())),
        _ => return None,
    };
    Some(Trouble { why: why.clone(), decided_in })
}

/// Holds everybody back whom the platform asked to wait.
pub(super) async fn punish(
    desk: &Arc<Desk>,
    account: &Account,
    conversation: &ConversationId,
    penalty: Penalty,
) {
    let now = desk.clock.now();
    let place = account.channel.address.place(conversation);
    let scope = if penalty.account { ACCOUNT } else { place.key() };
    {
        let mut governor = account.governor.lock().unwrap_or_else(PoisonError::into_inner);
        governor.punish(scope, penalty.until, now);
    }
    if penalty.until - now < WORTH_STORING {
        return;
    }
    let stored = desk.ledger.penalty(&account.channel.account, scope, penalty.until).await;
    if let Err(error) = stored {
        desk.trouble(&error);
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

    /// Never says whether anything arrived.
    struct Silent;

    #[async_trait]
    impl Mouth for Silent {
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
        assert!(matches!(known, Lookup::Later { after, .. } if after == LONGEST_LOOKUP));
    }
}
