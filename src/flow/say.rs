//! The owner's own words from the command line into any conversation: stored first, sent like all speech,
//! and answered for.

use std::sync::Arc;
use std::time::Duration;

use selkie_channel_core::{Body, Outbound};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::domain::crash::CrashPoint;
use crate::flow::desk::{Desk, after};
use crate::flow::standings::{self, Trouble};
use crate::store::{Draft, Queued, Standing, StoreError};

/// Longer than a platform takes to answer, and added to the time after which a doubt is looked up.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long what failed is waited for: then the cause is told.
const SOON: Duration = Duration::from_secs(5);

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
    let (standing, why) = match desk.to_the_end(stored).await? {
        Some(Some(watched)) => receipt(desk, watched).await,
        Some(None) => {
            let reason =
                format!("{conversation} is closed: the platform let the bot speak no more there");
            (Standing::Refused { reason }, None)
        }
        None => (Standing::Open, None),
    };
    Ok(Told::Stands { conversation: conversation.key().to_owned(), standing, why })
}

/// What is watched of words that the courier has.
struct Watched {
    standing: watch::Receiver<Standing>,
    troubles: Option<watch::Receiver<Option<Trouble>>>,
}

/// Gives it to the courier; `None` when there is nothing that it could carry.
fn sent(desk: &Desk, queued: Queued) -> Option<Watched> {
    if queued.parts.is_empty() {
        return None;
    }
    let standing = desk.standings.watch(queued.outbound);
    let troubles = desk.standings.troubles(queued.outbound);
    desk.send(queued);
    Some(Watched { standing, troubles })
}

async fn receipt(desk: &Desk, watched: Watched) -> (Standing, Option<String>) {
    let Watched { mut standing, mut troubles } = watched;
    let patience = PATIENCE + desk.settings.outbox.unclear_after.0;
    let settled = standings::settled(&mut standing);
    let standing = tokio::select! {
        standing = tokio::time::timeout(patience, settled) => standing.unwrap_or(Standing::Open),
        () = tried_in_vain(troubles.as_mut()) => Standing::Open,
    };
    let why = troubles.and_then(|troubles| Some(troubles.borrow().clone()?.why));
    (standing.clone(), why.filter(|_| standing == Standing::Open))
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
