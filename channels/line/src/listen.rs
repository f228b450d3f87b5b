//! Listens: takes webhooks, stores their events, and asks LINE now and then whether we are still known.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, join_all};
use futures_util::stream::FuturesUnordered;
use secrecy::ExposeSecret;
use selkie_channel_core::http::Fault;
use selkie_channel_core::server::{Caps, Door as Served};
use selkie_channel_core::settings::Token;
use selkie_channel_core::{AccountId, Inbox, ListenEnd, MessageRef, Now, Pulse, Quote};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::api::Api;
use crate::hear::{self, Frame};
use crate::known::{RecentMessage, RecentMessages};
use crate::names::Names;
use crate::own_id::OwnId;
use crate::quota::{Notice, Quota};
use crate::webhook::{Door, Knock};

/// Webhooks that may wait to be stored.
const WAITING: usize = 256;
/// How often LINE is asked who we are: proof that the token and the way there are good.
const CHECK: Duration = Duration::from_secs(300);
const AGAIN: Duration = Duration::from_secs(30);
/// How long names that nobody knows yet are waited for, and of how many events.
const NAMES: Duration = Duration::from_millis(500);
const MAX_NAMES: usize = 20;

/// What listening takes.
pub struct Listener {
    /// Which bot.
    pub account: AccountId,
    /// The client.
    pub api: Api,
    /// What was said lately.
    pub known: Arc<RecentMessages>,
    /// What people are called.
    pub names: Names,
    /// Signs webhooks.
    pub secret: Token,
    /// Where the webhook listens.
    pub address: SocketAddr,
    /// The webhook's path.
    pub path: String,
    /// How long after an event its reply token waits for the answer.
    pub deadline: TimeDelta,
    /// Knows how to tell the owner of a refused token.
    pub quota: Quota,
    /// The clock.
    pub now: Now,
    /// What the owner should know.
    pub notices: Mutex<mpsc::Receiver<Notice>>,
}

/// Listens until `stop`, unless the port is taken.
pub async fn listen(listener: &Listener, inbox: &dyn Inbox, stop: CancellationToken) -> ListenEnd {
    let socket = match TcpListener::bind(listener.address).await {
        Ok(socket) => socket,
        Err(error) => return ListenEnd::Refused(taken(listener.address, &error)),
    };
    tracing::info!(listen = %listener.address, path = listener.path, "LINE's webhook listens");
    let (sender, knocks) = mpsc::channel(WAITING);
    let own = OwnId::default();
    let now = Arc::clone(&listener.now);
    let door = Door::new(listener.secret.expose_secret(), own.clone(), sender, now);
    let routes = door.routes(&listener.path);
    // LINE is anybody to a listener on the internet: no rule on who asks, the signature is the rule.
    let door = Served { routes, caps: Caps::PUBLIC };
    tokio::select! {
        () = door.serve_webhooks(socket, stop) => {}
        never = take(listener, inbox, knocks) => match never {},
        never = check(listener, inbox, &own) => match never {},
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

/// Stores what arrives, webhooks side by side, and tells the owner what the sender has to tell.
async fn take(
    listener: &Listener,
    inbox: &dyn Inbox,
    mut knocks: mpsc::Receiver<Knock>,
) -> Infallible {
    let mut notices = listener.notices.lock().await;
    let mut work: FuturesUnordered<BoxFuture<'_, ()>> = FuturesUnordered::new();
    loop {
        tokio::select! {
            Some(knock) = knocks.recv() => work.push(Box::pin(store(listener, inbox, knock))),
            Some(notice) = notices.recv() => work.push(Box::pin(tell(listener, inbox, notice))),
            Some(()) = work.next() => {}
            else => return std::future::pending().await,
        }
    }
}

async fn store(listener: &Listener, inbox: &dyn Inbox, knock: Knock) {
    for event in &knock.events {
        recall(listener, inbox, event).await;
    }
    let strangers =
        knock.events.iter().take(MAX_NAMES).map(|event| hear::learn(event, &listener.names));
    // Who speaks is worth a moment; a webhook is answered quickly all the same.
    _ = timeout(NAMES, join_all(strangers)).await;
    let frame = Frame {
        now: (listener.now)(),
        account: &listener.account,
        known: &listener.known,
        names: &listener.names,
        redactor: listener.api.client().redactor(),
        deadline: listener.deadline,
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
async fn recall(listener: &Listener, inbox: &dyn Inbox, event: &Value) {
    let Some((spot, id)) = hear::quoted(event).filter(|(_, id)| !listener.known.knows(id)) else {
        return;
    };
    let conversation = spot.conversation(&listener.account);
    match inbox.quoted(&conversation, &MessageRef::new(&*id)).await {
        Ok(Some(Quote { speaker, text, ours, attachments, .. })) => {
            let said = RecentMessage { speaker, text, ours, quote_token: None, attachments };
            listener.known.put(&id, said);
        }
        Ok(None) => {}
        Err(error) => tracing::warn!(%error, "what is quoted could not be looked up"),
    }
}

async fn tell(listener: &Listener, inbox: &dyn Inbox, notice: Notice) {
    tracing::warn!(key = notice.key, "{}", notice.text);
    inbox.notice(&listener.account, notice.key, &notice.text).await;
}

/// Asks who the bot is, for ever. A refused token does not end listening: what people write is stored and
/// answered when there is a good one.
async fn check(listener: &Listener, inbox: &dyn Inbox, own: &OwnId) -> Infallible {
    let mut introduced = false;
    loop {
        let pause = match listener.api.get("info").await {
            Ok(me) => {
                inbox.pulse(&listener.account, Pulse::Heard);
                let id = me["userId"].as_str();
                let name = me["displayName"].as_str();
                id.map_or_else(|| own.miss(), |id| own.learn(id));
                if !introduced {
                    tracing::info!(id, name, "the bot on LINE");
                    introduced = true;
                }
                CHECK
            }
            Err(Fault::Refused(refusal)) if refusal.status == 401 => {
                listener.quota.token_refused(&refusal.words);
                own.miss();
                CHECK
            }
            Err(fault) => {
                tracing::debug!(why = %fault, "LINE did not say who we are");
                own.miss();
                AGAIN
            }
        };
        inbox.pulse(&listener.account, Pulse::Turns(pause));
        sleep(pause).await;
    }
}
