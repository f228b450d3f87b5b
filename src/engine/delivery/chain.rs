//! Parts that go on from one another: a part that follows is made with the message of the part before it,
//! and never without.

use std::sync::Arc;

use chrono::TimeDelta;
use selkie_channel_core::Sender;

use crate::delivery::outbox::Outbox;
use crate::delivery::outcome::AttemptOutcome;
use selkie_store::{DeliveryState, DuePart, Outcome, StoreError};

/// How soon a part looks again after one whose end is not stored yet.
const SOON: TimeDelta = TimeDelta::seconds(1);

/// Begins the reason of every part that is not sent because of one before it.
const ALONE: &str = "not sent alone: the part before it ";

/// Whether a part may be attempted.
pub enum ChainState {
    /// It may, in this form.
    Ready(DuePart),
    /// Not yet: it is asked again in this form.
    Wait(Box<DuePart>),
    /// Never: what it follows is not there.
    Broken(Box<DuePart>, AttemptOutcome),
}

/// Gives a part that follows another the message it goes on from.
pub async fn joined(outbox: &Arc<Outbox>, sender: &dyn Sender, due: DuePart) -> ChainState {
    if !due.part.follows {
        return ChainState::Ready(due);
    }
    let before = match outbox.storage.ledger.before(due.id).await {
        Ok(before) => before,
        Err(error) => {
            outbox.storage.trouble(&error);
            return match error {
                StoreError::Broken(_) => ChainState::Wait(Box::new(due)),
                // A defect of that row must not hold the lane.
                _ => broken(due, "cannot be read"),
            };
        }
    };
    match before {
        None => ChainState::Ready(due),
        Some(DeliveryState::Delivered { message: Some(message) }) => {
            let part = sender.following(&due.part, &message);
            ChainState::Ready(DuePart { part, ..due })
        }
        Some(DeliveryState::Open) => {
            let not_before = Some(outbox.runtime.clock.now() + SOON);
            ChainState::Wait(Box::new(DuePart { not_before, ..due }))
        }
        Some(DeliveryState::Delivered { message: None }) => {
            broken(due, "arrived under an unknown id")
        }
        Some(DeliveryState::Unclear) => broken(due, "is unclear"),
        Some(DeliveryState::Partly { reason } | DeliveryState::Refused { reason }) => {
            // Further on in a thread the first refusal is what matters, and it is told once.
            match reason.starts_with(ALONE) {
                true => refused(due, reason),
                false => broken(due, &format!("was refused ({reason})")),
            }
        }
        Some(DeliveryState::Cancelled) => broken(due, "was withdrawn"),
        Some(DeliveryState::Expired) => broken(due, "came too late"),
    }
}

fn broken(due: DuePart, what: &str) -> ChainState {
    refused(due, format!("{ALONE}{what}"))
}

fn refused(due: DuePart, reason: String) -> ChainState {
    let outcome = Outcome::Refused { reason, close: false };
    ChainState::Broken(Box::new(due), AttemptOutcome { outcome, again: None, penalty: None })
}
