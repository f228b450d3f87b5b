//! A server that answers: what is known of it, and since when nobody has asked it anything.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use selkie_channel_core::locked;
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::ask::{Ask, Era};
use crate::error::McpError;
use crate::handshake::Peer;
use crate::link::Link;
use crate::news::ListBell;

/// A server that nobody asks for so long is ended.
const IDLE: Duration = Duration::from_secs(10 * 60);
/// The rest before news are listened to again.
const LISTEN_REST: Duration = Duration::from_secs(30);

pub(crate) struct Connection {
    pub(crate) link: Link,
    pub(crate) peer: Peer,
    /// Rings when the list has changed.
    pub(crate) bell: ListBell,
    pub(crate) since: Instant,
    /// Says that nobody asks it any more.
    pub(crate) retired: CancellationToken,
    usage: Mutex<Usage>,
}

struct Usage {
    open: usize,
    last: Instant,
}

/// A use of it. While there is one it is not idle.
pub(crate) struct InUse(Arc<Connection>);

impl Connection {
    pub(crate) fn new(link: Link, peer: Peer, bell: ListBell) -> Self {
        let now = Instant::now();
        let usage = Mutex::new(Usage { open: 0, last: now });
        Self { link, peer, bell, since: now, retired: CancellationToken::new(), usage }
    }

    pub(crate) fn begin(self: &Arc<Self>) -> InUse {
        locked(&self.usage).open += 1;
        InUse(Arc::clone(self))
    }

    /// Whether nobody has used it for long.
    pub(crate) fn is_idle(&self) -> bool {
        let usage = locked(&self.usage);
        usage.open == 0 && usage.last.elapsed() >= IDLE
    }

    /// Waits until it may be idle.
    pub(crate) async fn rest(&self) {
        let last = locked(&self.usage).last;
        sleep_until(last + IDLE).await;
        if !self.is_idle() {
            // Something is under way.
            sleep(LISTEN_REST).await;
        }
    }

    /// Hears its news, as far as it has any, for as long as it is waited for.
    pub(crate) async fn listen(&self) {
        if self.peer.tells_of_changes {
            while self.hear().await {
                sleep(LISTEN_REST).await;
            }
        }
        std::future::pending().await
    }

    /// Hears its news until it says no more; whether to listen again.
    async fn hear(&self) -> bool {
        let era = self.peer.era;
        match (&self.link, era) {
            (link, Era::Modern) => {
                let wanted = json!({ "notifications": { "toolsListChanged": true } });
                let heard = link.ask(era, Ask::new("subscriptions/listen", wanted)).await;
                !matches!(heard, Err(McpError::Refused { .. }))
            }
            (Link::Http(link), Era::Legacy(_)) => link.listen(era).await,
            // They come in between.
            (Link::Stdio(_), Era::Legacy(_)) => false,
        }
    }
}

impl std::ops::Deref for InUse {
    type Target = Arc<Connection>;

    fn deref(&self) -> &Arc<Connection> {
        &self.0
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut usage = locked(&self.0.usage);
        usage.open -= 1;
        usage.last = Instant::now();
    }
}
