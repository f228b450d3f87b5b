//! Listens: takes webhooks, stores their events, and asks LINE now and then whether we are still known.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::ListenerExt as _;
use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, join_all};
use futures_util::stream::FuturesUnordered;
use secrecy::ExposeSecret;
use selkie_channel_core::door::{Caps, Door as Served};
use selkie_channel_core::{Inbox, ListenEnd, MessageRef, Quote};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::api::Fault;
use crate::ears::LineEars;
use crate::hear::{self, Frame};
use crate::known::Said;
use crate::quota::Notice;
use crate::webhook::{Door, Knock};

/// Webhooks that may wait to be stored.
const WAITING: usize = 256;
/// How often LINE is asked who we are: proof that the token and the way there are good.
const CHECK: Duration = Duration::from_secs(300);
const AGAIN: Duration = Duration::from_secs(30);
/// How long names that nobody knows yet are waited for, and of how many events.
const NAMES: Duration = Duration::from_millis(500);
const MOST_NAMES: usize = 20;
/// How long requests in flight may take when the daemon stops.
const GRACE: Duration = Duration::from_secs(5);

/// Listens until `stop`, unless the port is taken.
pub async fn listen(ears: &LineEars, inbox: &dyn Inbox, stop: CancellationToken) -> ListenEnd {
    let listener = match TcpListener::bind(ears.listen).await {
        Ok(listener) => listener,
        Err(error) => return ListenEnd::Refused(taken(ears.listen, &error)),
    };
    tracing::info!(listen = %ears.listen, path = ears.path, "LINE's webhook listens");
    let (sender, knocks) = mpsc::channel(WAITING);
    let routes =
        Door::new(ears.secret.expose_secret(), sender, Arc::clone(&ears.now)).routes(&ears.path);
    // LINE is anybody to a listener on the internet: no rule on who asks, the signature is the rule.
    let door = Served { routes, caps: Caps::PUBLIC };
    let listener = listener.tap_io(|stream| {
        // Small answers must not wait for more; without it they are merely slower.
        stream.set_nodelay(true).ok();
    });
    let served = door.serve(listener, stop.clone());
    let grace = async {
        stop.cancelled().await;
        sleep(GRACE).await;
    };
    tokio::select! {
        () = served => {}
        () = grace => tracing::warn!("webhooks in flight were left behind"),
        never = take(ears, inbox, knocks) => match never {},
        never = check(ears, inbox) => match never {},
    }
    ListenEnd::Stopped
}

/// Why the webhook's port cannot be opened, and what to do.
fn taken(listen: SocketAddr, error: &std::io::Error) -> String {
    format!(
        "{listen} cannot be opened ({error}): stop the program that holds it, or choose another \
         line.webhook_listen"
    )
}

/// Stores what arrives, webhooks side by side, and tells the owner what the mouth has to tell.
async fn take(ears: &LineEars, inbox: &dyn Inbox, mut knocks: mpsc::Receiver<Knock>) -> Infallible {
    let mut notices = ears.notices.lock().await;
    let mut work: FuturesUnordered<BoxFuture<'_, ()>> = FuturesUnordered::new();
    loop {
        tokio::select! {
            Some(knock) = knocks.recv() => work.push(Box::pin(store(ears, inbox, knock))),
            Some(notice) = notices.recv() => work.push(Box::pin(tell(ears, inbox, notice))),
            Some(()) = work.next() => {}
            else => return std::future::pending().await,
        }
    }
}

async fn store(ears: &LineEars, inbox: &dyn Inbox, knock: Knock) {
    for event in &knock.events {
        recall(ears, inbox, event).await;
    }
    let strangers =
        knock.events.iter().take(MOST_NAMES).map(|event| hear::learn(event, &ears.names));
    // Who speaks is worth a moment; a webhook is answered quickly all the same.
    _ = timeout(NAMES, join_all(strangers)).await;
    let frame = Frame {
        now: (ears.now)(),
        account: &ears.account,
        known: &ears.known,
        names: &ears.names,
        redactor: ears.api.redactor(),
        deadline: ears.deadline,
    };
    let batch: Vec<_> = knock.events.iter().map(|event| hear::read(event, frame)).collect();
    let stored = inbox.accept(batch, None).await;
    if let Err(error) = &stored {
        tracing::warn!(%error, events = knock.events.len(), "a webhook was not stored: LINE is told so");
    }
    // Whoever asked may have hung up; the rows stand, and a redelivery is a no-op.
    _ = knock.stored.send(stored.is_ok());
}

/// Learns again what a restart has forgotten of a message that is quoted.
async fn recall(ears: &LineEars, inbox: &dyn Inbox, event: &Value) {
    let Some((spot, id)) = hear::quoted(event).filter(|(_, id)| !ears.known.knows(id)) else {
        return;
    };
    let conversation = spot.conversation(&ears.account);
    match inbox.quoted(&conversation, &MessageRef::new(&*id)).await {
        Ok(Some(Quote { speaker, text, ours, .. })) => {
            ears.known.put(&id, Said { speaker, text, ours, quote_token: None });
        }
        Ok(None) => {}
        Err(error) => tracing::warn!(%error, "what is quoted could not be looked up"),
    }
}

async fn tell(ears: &LineEars, inbox: &dyn Inbox, notice: Notice) {
    tracing::warn!(key = notice.key, "{}", notice.text);
    inbox.notice(&ears.account, notice.key, &notice.text).await;
}

/// Asks who the bot is, for ever. A refused token does not end listening: what people write is stored and
/// answered when there is a good one.
async fn check(ears: &LineEars, inbox: &dyn Inbox) -> Infallible {
    let mut introduced = false;
    loop {
        let pause = match ears.api.get("info").await {
            Ok(me) => {
                inbox.heard(&ears.account);
                if !introduced {
                    let (id, name) = (me["userId"].as_str(), me["displayName"].as_str());
                    tracing::info!(id, name, "the bot on LINE");
                    introduced = true;
                }
                CHECK
            }
            Err(Fault::Refused(refusal)) if refusal.code == 401 => {
                ears.quota.token_refused(&refusal.text);
                CHECK
            }
            Err(fault) => {
                tracing::debug!(why = fault.words(), "LINE did not say who we are");
                AGAIN
            }
        };
        sleep(pause).await;
    }
}
