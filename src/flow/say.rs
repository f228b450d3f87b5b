//! The owner's own words from the command line into any conversation: stored first, sent like all speech,
//! and answered for.

use std::sync::Arc;
use std::time::Duration;

use selkie_channel_core::{Body, Outbound};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::domain::crash::CrashPoint;
use crate::flow::desk::{Desk, after};
use crate::flow::standings;
use crate::store::{Draft, Queued, Standing, StoreError};

/// Longer than a platform takes to answer, and added to the time after which a doubt is looked up.
const PATIENCE: Duration = Duration::from_secs(30);

/// What became of the owner's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "said", rename_all = "snake_case")]
pub enum Told {
    /// It stands so; `open` when the courier still has to do with it.
    Stands {
        /// Where it goes.
        conversation: String,
        /// How it stands.
        standing: Standing,
    },
    /// No channel that is configured reads this as a conversation.
    Nowhere,
    /// The channel shows nothing of it.
    Nothing,
}

/// Says `markdown` in the conversation that `to` names and waits for what becomes of it.
pub(super) async fn say(desk: &Arc<Desk>, to: &str, markdown: &str) -> Result<Told, StoreError> {
    let mut channels: Vec<_> = desk.accounts.values().map(|a| &a.channel).collect();
    channels.sort_by(|a, b| a.account.cmp(&b.account));
    let found = channels.iter().find_map(|c| c.address.parse(to).map(|id| (c, id)));
    let Some((channel, conversation)) = found else { return Ok(Told::Nowhere) };
    let now = desk.clock.now();
    let body = Body::Text { markdown: markdown.to_owned() };
    let outbound = Outbound::new(conversation.clone(), body).said(now).numbered(desk.nonce());
    let parts = channel.mouth.render(&outbound);
    if parts.is_empty() {
        return Ok(Told::Nothing);
    }
    let expires_at = Some(after(now, desk.settings.outbox.answer_expires));
    // The name is this outbound's own: what is said twice is meant twice.
    let key = format!("say:{}:{}:{}", conversation.full(), now.timestamp_millis(), outbound.nonce);
    let (shared, draft) = (Arc::clone(desk), Draft { outbound, parts, expires_at });
    let stored = async move {
        let queued = shared.ledger.say_once(&key, draft).await?;
        shared.crash.hit(CrashPoint::AfterSaid);
        Ok::<_, StoreError>(queued.map(|queued| sent(&shared, queued)))
    };
    let standing = match desk.to_the_end(stored).await? {
        Some(Some(watch)) => receipt(desk, watch).await,
        Some(None) => Standing::Refused {
            reason: format!(
                "{conversation} is closed: the platform let the bot speak no more there"
            ),
        },
        None => Standing::Open,
    };
    Ok(Told::Stands { conversation: conversation.key().to_owned(), standing })
}

/// Gives it to the courier; `None` when there is nothing that it could carry.
fn sent(desk: &Desk, queued: Queued) -> Option<watch::Receiver<Standing>> {
    if queued.parts.is_empty() {
        return None;
    }
    let watch = desk.standings.watch(queued.outbound);
    desk.send(queued);
    Some(watch)
}

async fn receipt(desk: &Desk, mut watch: watch::Receiver<Standing>) -> Standing {
    let patience = PATIENCE + desk.settings.outbox.unclear_after.0;
    tokio::time::timeout(patience, standings::settled(&mut watch)).await.unwrap_or(Standing::Open)
}
