//! An owner's word on a stranger's code: at once, everybody who asks whom the bot listens to hears it.

use std::sync::Arc;

use selkie_channel_core::PersonId;

use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::intake::messages::pairing as messages;
use selkie_store::{PairingOutcome, StoreError};

/// Lets in whose request has this code, and tells them.
pub async fn approve(
    context: &Context,
    outbox: &Arc<Outbox>,
    code: &str,
) -> Result<PairingOutcome, StoreError> {
    let approved = context.storage.ledger.approve_pairing(code).await?;
    if let PairingOutcome::Done { person, .. } = &approved {
        welcome(context, outbox, person, code).await;
    }
    Ok(approved)
}

/// Listens to somebody from now on, and tells them.
pub async fn welcome(context: &Context, outbox: &Arc<Outbox>, person: &PersonId, code: &str) {
    context.accounts.let_in(person);
    tracing::info!(%person, "paired: let in by an owner");
    let private = context.accounts.private(person);
    let Some(draft) = private.and_then(|c| outbox.draft(&c, messages::YOU_ARE_IN, None, None))
    else {
        return;
    };
    outbox.say_once(&format!("pairing:{person}:{code}:in"), draft).await;
}
