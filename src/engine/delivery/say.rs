//! The owner's own words from the command line into any conversation: stored first, sent like all speech,
//! and answered for.

use std::sync::Arc;
use std::time::Duration;

use selkie_channel_core::{Body, Outbound};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::delivery::moments::after;
use crate::delivery::month::month;
use crate::delivery::outbox::Outbox;
use crate::delivery::rendered::rendered;
use crate::delivery::waiters::{self, Trouble};
use selkie_domain::crash::CrashPoint;
use selkie_domain::ids::OutboundId;
use selkie_store::{DeliveryState, Draft, QueuedOutbound, StoreError};

/// Longer than a platform takes to answer, and added to the time after which a doubt is looked up.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long what failed is waited for: then the cause is told.
const SOON: Duration = Duration::from_secs(5);

/// What became of the owner's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "said", rename_all = "snake_case")]
pub enum SayOutcome {
    /// It stands so; `open` when the delivery worker still has to do with it.
    Stands {
        /// Where it goes.
        conversation: String,
        /// How it stands.
        standing: DeliveryState,
        /// Why it is not sent yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// No channel that is configured reads this as a conversation.
    Nowhere,
    /// The channel shows nothing of it.
    Nothing,
}

/// Says `markdown` in the conversation that `to` names and waits for what becomes of it.
pub async fn say(outbox: &Arc<Outbox>, to: &str, markdown: &str) -> Result<SayOutcome, StoreError> {
    let mut accounts: Vec<_> = outbox.accounts.all().collect();
    accounts.sort_by(|a, b| a.channel.account.cmp(&b.channel.account));
    let found = accounts.iter().find_map(|a| a.channel.address.parse(to).map(|id| (a, id)));
    let Some((account, conversation)) = found else { return Ok(SayOutcome::Nowhere) };
    let channel = &account.channel;
    let now = outbox.runtime.clock.now();
    let body = Body::Text { markdown: markdown.to_owned() };
    let outbound =
        Outbound::new(conversation.clone(), body).said(now).numbered(outbox.runtime.nonce());
    let parts = rendered(channel, &outbound, &outbox.runtime.redactor);
    if parts.is_empty() {
        return Ok(SayOutcome::Nothing);
    }
    let expires_at = Some(after(now, outbox.settings.now().outbox.answer_expires));
    let month = month(channel, now);
    // The name is this outbound's own: what is said twice is meant twice.
    let key = format!("say:{}:{}:{}", conversation.full(), now.timestamp_millis(), outbound.nonce);
    let (shared, draft) = (Arc::clone(outbox), Draft { outbound, parts, expires_at, month });
    let stored = async move {
        let queued = shared.storage.ledger.say_once(&key, draft).await?;
        shared.runtime.crash.hit(CrashPoint::AfterSaid);
        Ok::<_, StoreError>(match queued {
            None => None,
            Some(queued) if queued.parts.is_empty() => Some(StoreOutcome::Refused(queued.outbound)),
            Some(queued) => Some(StoreOutcome::Sent(sent(&shared, queued))),
        })
    };
    let (standing, why) = match outbox.runtime.to_the_end(stored).await? {
        Some(StoreOutcome::Sent(watched)) => receipt(outbox, watched).await,
        Some(StoreOutcome::Refused(outbound)) => {
            let post = outbox.storage.ledger.post_of(outbound).await?;
            let closed = || {
                let reason = format!(
                    "{conversation} is closed: the platform let the bot speak no more there"
                );
                DeliveryState::Refused { reason }
            };
            (post.map_or_else(closed, |post| post.standing), None)
        }
        None => (DeliveryState::Open, None),
    };
    Ok(SayOutcome::Stands { conversation: conversation.key().to_owned(), standing, why })
}

/// What is watched of words that the delivery worker has.
struct PartWatch {
    standing: watch::Receiver<DeliveryState>,
    troubles: Option<watch::Receiver<Option<Trouble>>>,
}

/// What became of words that were stored.
enum StoreOutcome {
    /// The delivery worker has them.
    Sent(PartWatch),
    /// They were refused at once: the conversation is closed, or its month is used up.
    Refused(OutboundId),
}

/// Gives them to the delivery worker.
fn sent(outbox: &Outbox, queued: QueuedOutbound) -> PartWatch {
    let standing = outbox.waiters.watch(queued.outbound);
    let troubles = outbox.waiters.troubles(queued.outbound);
    outbox.send(queued);
    PartWatch { standing, troubles }
}

async fn receipt(outbox: &Outbox, watched: PartWatch) -> (DeliveryState, Option<String>) {
    let PartWatch { mut standing, mut troubles } = watched;
    let patience = TIMEOUT + outbox.settings.now().outbox.unclear_after.0;
    let settled = waiters::settled(&mut standing);
    let standing = tokio::select! {
        standing = tokio::time::timeout(patience, settled) => standing.unwrap_or(DeliveryState::Open),
        () = tried_in_vain(troubles.as_mut()) => DeliveryState::Open,
    };
    let why = troubles.and_then(|troubles| Some(troubles.borrow().clone()?.why));
    (standing.clone(), why.filter(|_| standing == DeliveryState::Open))
}

/// Waits until an attempt failed and what is tried soon after did not help either.
async fn tried_in_vain(troubles: Option<&mut watch::Receiver<Option<Trouble>>>) {
    let first = match troubles {
        Some(troubles) => troubles.wait_for(Option::is_some).await.ok().and_then(|t| t.clone()),
        None => None,
    };
    match first {
        Some(trouble) => tokio::time::sleep(SOON + trouble.decided_in).await,
        None => std::future::pending().await,
    }
}
