//! A post that was refused, or of which nobody knows whether it arrived, is tried once more when a person says so: after
//! a look at the timeline, and from the part that is missing.

use std::sync::Arc;
use std::time::Duration;

use selkie_channel_core::{Lookup, Part};

use crate::delivery::chain::{self, ChainState};
use crate::delivery::moments::after;
use crate::delivery::month::month;
use crate::delivery::outbox::Outbox;
use crate::delivery::posts;
use crate::delivery::rendered::rendered;
use selkie_domain::ids::{OutboundId, PartId};
use selkie_schedule::book::BookError;
use selkie_store::{DeliveryState, DuePart, OnceMore, Outcome, PostRow, PostedAgain};

/// A thread's parts have ids side by side.
const PARTS: i64 = 4096;

/// Tries it again; says why not, where it is not.
pub async fn again(outbox: &Arc<Outbox>, outbound: OutboundId) -> Result<(), BookError> {
    let ledger = &outbox.storage.ledger;
    let Some(row) = ledger.post_of(outbound).await? else {
        return refused(format!("there is no post p{}", outbound.0));
    };
    if let Some(why) = why_not(&row) {
        return refused(why);
    }
    let Some(account) = outbox.accounts.of(&row.said.conversation) else {
        return refused("its channel is no longer configured".to_owned());
    };
    let parts = rendered(&account.channel, &row.said, &outbox.runtime.redactor);
    if row.standing == DeliveryState::Unclear {
        // The first that has not arrived is the one in doubt: what follows it never went out.
        let Some(place) = row.missing.first().copied() else { return Ok(()) };
        if let Err(why) = look(outbox, &row, &parts, place).await {
            return refused(why);
        }
        let now = ledger.post_of(outbound).await?;
        if now.is_some_and(|row| matches!(row.standing, DeliveryState::Delivered { .. })) {
            posts::follow(outbox, outbound, Duration::ZERO);
            return Ok(());
        }
    }
    let expires = after(outbox.runtime.now(), outbox.settings.now().outbox.answer_expires);
    let month = month(&account.channel, outbox.runtime.now());
    let once_more = OnceMore { parts, expires_at: Some(expires), month };
    let queued = match ledger.post_again(outbound, once_more).await? {
        PostedAgain::Queued(queued) => queued,
        PostedAgain::Nothing => return refused("nothing of it is missing".to_owned()),
        PostedAgain::Over(why) => {
            return refused(format!("p{} is not tried again: {why}", outbound.0));
        }
    };
    posts::follow(outbox, outbound, Duration::ZERO);
    outbox.send(queued);
    Ok(())
}

fn refused<T>(why: String) -> Result<T, BookError> {
    Err(BookError::Refused(why))
}

fn why_not(row: &PostRow) -> Option<String> {
    let why = match &row.standing {
        DeliveryState::Open => "it is being posted",
        DeliveryState::Delivered { .. } => "it was posted",
        DeliveryState::Cancelled => "it was withdrawn: ask for it again",
        DeliveryState::Refused { .. }
        | DeliveryState::Partly { .. }
        | DeliveryState::Unclear
        | DeliveryState::Expired => return None,
    };
    Some(format!("p{} is not tried again: {why}", row.outbound.0))
}

/// Looks whether the part in doubt stands there, and notes it when it does.
async fn look(
    outbox: &Arc<Outbox>,
    row: &PostRow,
    parts: &[Part],
    place: usize,
) -> Result<(), String> {
    let unknown = |why: &str| format!("p{} is not tried again: {why}", row.outbound.0);
    let Some(part) = parts.get(place).cloned() else {
        return Err(unknown("another version stored it"));
    };
    let Some(account) = outbox.accounts.of(&row.said.conversation) else {
        return Err(unknown("its channel is no longer configured"));
    };
    let place = i64::try_from(place).unwrap_or_default();
    let due = DuePart {
        id: PartId(row.outbound.0 * PARTS + place),
        outbound: row.outbound,
        part,
        attempts: 0,
        not_before: None,
        expires_at: None,
        unclear: true,
        answer: false,
        departs: false,
    };
    let sender = &*account.channel.sender;
    let due = match chain::joined(outbox, sender, due).await {
        ChainState::Ready(due) => due,
        ChainState::Wait(_) | ChainState::Broken(..) => {
            return Err(unknown("the post before it did not arrive"));
        }
    };
    match sender.lookup(&due.part).await {
        Lookup::Sent(receipt) => {
            let settled = outbox.storage.ledger.settle(due.id, Outcome::Sent(receipt)).await;
            settled.map(|_| ()).map_err(|error| unknown(&error.to_string()))
        }
        Lookup::NotSent => Ok(()),
        Lookup::Unknown | Lookup::Later { .. } | Lookup::Lapsed => Err(unknown(
            "the timeline does not tell whether it stands there, so it could stand there twice. Look there yourself; \
             if it is missing, post it again",
        )),
    }
}
