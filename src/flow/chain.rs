//! Parts that go on from one another: a part that follows is made with the message of the part before it,
//! and never without.

use std::sync::Arc;

use chrono::TimeDelta;
use selkie_channel_core::Mouth;

use crate::flow::desk::Desk;
use crate::flow::verdict::Verdict;
use crate::store::{DuePart, Outcome, Standing, StoreError};

/// How soon a part looks again after one whose end is not stored yet.
const SOON: TimeDelta = TimeDelta::seconds(1);

/// Begins the reason of every part that is not sent because of one before it.
const ALONE: &str = "not sent alone: the part before it ";

/// Whether a part may be attempted.
pub(super) enum Joined {
    /// It may, in this form.
    Ready(DuePart),
    /// Not yet: it is asked again in this form.
    Wait(Box<DuePart>),
    /// Never: what it follows is not there.
    Broken(Box<DuePart>, Verdict),
}

/// Gives a part that follows another the message it goes on from.
pub(super) async fn joined(desk: &Arc<Desk>, mouth: &dyn Mouth, due: DuePart) -> Joined {
    if !due.part.follows {
        return Joined::Ready(due);
    }
    let before = match desk.ledger.before(due.id).await {
        Ok(before) => before,
        Err(error) => {
            desk.trouble(&error);
            return match error {
                StoreError::Broken(_) => Joined::Wait(Box::new(due)),
                // A defect of that row must not hold the lane.
                _ => broken(due, "cannot be read"),
            };
        }
    };
    match before {
        None => Joined::Ready(due),
        Some(Standing::Delivered { message: Some(message) }) => {
            let part = mouth.following(&due.part, &message);
            Joined::Ready(DuePart { part, ..due })
        }
        Some(Standing::Open) => {
            let not_before = Some(desk.clock.now() + SOON);
            Joined::Wait(Box::new(DuePart { not_before, ..due }))
        }
        Some(Standing::Delivered { message: None }) => broken(due, "arrived under an unknown id"),
        Some(Standing::Unclear) => broken(due, "is unclear"),
        Some(Standing::Partly { reason } | Standing::Refused { reason }) => {
            // Further on in a thread the first refusal is what matters, and it is told once.
            match reason.starts_with(ALONE) {
                true => refused(due, reason),
                false => broken(due, &format!("was refused ({reason})")),
            }
        }
        Some(Standing::Cancelled) => broken(due, "was withdrawn"),
        Some(Standing::Expired) => broken(due, "came too late"),
    }
}

fn broken(due: DuePart, what: &str) -> Joined {
    refused(due, format!("{ALONE}{what}"))
}

fn refused(due: DuePart, reason: String) -> Joined {
    let outcome = Outcome::Refused { reason, close: false };
    Joined::Broken(Box::new(due), Verdict { outcome, again: None, penalty: None })
}
