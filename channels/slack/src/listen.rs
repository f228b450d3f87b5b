//! The durable sockets: an event is stored, and only then acknowledged. Sockets are owned and counted:
//! each slot has one at most, and opens the next when its own is gone.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::select_all;
use selkie_channel_core::{AccountId, Inbound, Inbox, ListenEnd, Pulse};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::api::{Api, ClientFactory};
use crate::ending::{DISABLED, End, TAKEN, grumble};
use crate::hear::{self, Envelope, Frame};
use crate::names::Names;
use crate::socket::{Patience, Socket, SocketEvent};
use crate::stubs;
use crate::whoami::{Me, Whoami};
use selkie_channel_core::Pauses;

/// A socket that lived so long was a good one: the next is opened at once.
const GOOD: Duration = Duration::from_secs(30);
/// Renewals in a row that are followed at once.
const QUICK: u32 = 2;
/// Failures in a row after which another program is spoken of, and after which it is waited for no more:
/// some seconds, in which sockets of our own last life are gone too.
const TOLD_AT: u32 = 3;
const JOIN_AT: u32 = 6;

/// Refusals in a row after which a token that has worked is believed to be refused.
const BELIEVED: u32 = 3;

/// The waits while a token is refused and another socket still hears: one to five minutes.
fn slow(usual: Pauses) -> Pauses {
    Pauses { first: usual.most * 4, most: usual.most * 10 }
}

/// What listening needs.
pub struct Listener<'a> {
    /// Whose events.
    pub account: &'a AccountId,
    /// Opens connections.
    pub line: &'a ClientFactory,
    /// A client that is ready.
    pub api: &'a Api,
    /// Who the bot is.
    pub whoami: &'a Whoami,
    /// Who everybody else is.
    pub names: &'a Names,
    /// Workspaces that are heard; empty is the bot's own.
    pub teams: &'a BTreeSet<String>,
    /// Where events go.
    pub inbox: &'a dyn Inbox,
    /// Sockets at most.
    pub sockets: u8,
    /// How long to wait after failures.
    pub pauses: Pauses,
    /// How patient a socket is.
    pub patience: Patience,
}

/// Listens until the credential is refused and no socket is left: a refused renewal takes nothing from one
/// that hears.
pub async fn listen(listener: Listener<'_>) -> ListenEnd {
    let shared = ListenState {
        listener: &listener,
        latest: AtomicI64::new(0),
        open: AtomicUsize::new(0),
        first: Notify::new(),
        begun: AtomicBool::new(false),
        joins: AtomicBool::new(false),
    };
    let slots = (0..listener.sockets).map(|slot| Box::pin(shared.keep(slot)));
    let (end, _, _) = select_all(slots).await;
    end
}

struct ListenState<'a> {
    listener: &'a Listener<'a>,
    /// The newest order seen.
    latest: AtomicI64,
    /// Sockets that are open now.
    open: AtomicUsize,
    /// The first socket works: the others may follow.
    first: Notify,
    begun: AtomicBool,
    /// Other programs' sockets are not waited for any more.
    joins: AtomicBool,
}

impl ListenState<'_> {
    /// Keeps one slot filled. Only the first slot opens a socket before one has worked.
    async fn keep(&self, slot: u8) -> ListenEnd {
        if slot > 0 {
            while !self.begun.load(Ordering::SeqCst) {
                self.first.notified().await;
            }
        }
        let mut fails: u32 = 0;
        let mut refused: u32 = 0;
        loop {
            let begun = Instant::now();
            let end = self.once().await;
            if begun.elapsed() >= GOOD {
                fails = 0;
            }
            if !matches!(end, End::Refused(_)) {
                refused = 0;
            }
            fails = match end {
                // One that is renewed as soon as it is there is no good one.
                End::Renewed if begun.elapsed() >= GOOD || fails < QUICK => fails + 1,
                End::Renewed => self.wait(fails + 1).await,
                End::Refused(why) => {
                    refused += 1;
                    let quick = refused < BELIEVED && self.begun.load(Ordering::SeqCst);
                    if !quick && self.open.load(Ordering::SeqCst) == 0 {
                        return ListenEnd::Refused(why);
                    }
                    grumble(slot, refused, &why);
                    let pauses = self.listener.pauses;
                    let pauses = if quick { pauses } else { slow(pauses) };
                    self.rest(pauses.after(refused)).await;
                    continue;
                }
                End::Limited(asked) => {
                    let wait = Pauses::asked(asked);
                    tracing::warn!(?asked, ?wait, "Slack asks us to open sockets more slowly");
                    self.rest(wait).await;
                    fails
                }
                End::Broken(why) => {
                    grumble(slot, fails + 1, &why);
                    self.wait(fails + 1).await
                }
                End::Disabled => {
                    tracing::warn!(slot, "{DISABLED}");
                    self.notice("slack-link-disabled", DISABLED).await;
                    self.wait(fails + 8).await
                }
                End::Taken(others) => {
                    self.taken(fails + 1, others).await;
                    self.wait(fails + 1).await
                }
            };
        }
    }

    /// Waits after so many failures in a row and returns their number.
    async fn wait(&self, fails: u32) -> u32 {
        self.rest(self.listener.pauses.after(fails)).await;
        fails
    }

    /// Waits, and says for how long it will be still.
    async fn rest(&self, pause: Duration) {
        self.pulse(Pulse::Turns(pause));
        sleep(pause).await;
    }

    fn pulse(&self, pulse: Pulse) {
        self.listener.inbox.pulse(self.listener.account, pulse);
    }

    async fn notice(&self, key: &str, text: &str) {
        self.listener.inbox.notice(self.listener.account, key, text).await;
    }

    /// Another program uses this app's token: we wait for its end, and say so. A socket of our own last
    /// life, which Slack may still count, is worth no words.
    async fn taken(&self, fails: u32, others: u64) {
        if fails < TOLD_AT {
            tracing::debug!(others, "sockets of this app are open that are not ours");
            return;
        }
        tracing::warn!(others, "another program uses this app's token");
        self.notice("slack-taken", TAKEN).await;
        if fails >= JOIN_AT {
            tracing::warn!("waited long enough: listening beside the other program");
            self.joins.store(true, Ordering::SeqCst);
        }
    }

    /// Opens a socket and reads it to its end.
    async fn once(&self) -> End {
        self.pulse(Pulse::Turns(self.listener.patience.silence));
        let url = match self.listener.api.socket_url().await {
            Ok(url) => url,
            Err(fault) => return End::of_fault(fault),
        };
        let tls = &self.listener.line.http.tls;
        let mut socket = match Socket::connect(&url, tls, self.listener.patience).await {
            Ok(socket) => socket,
            Err(why) => return End::Broken(self.listener.api.clean(&why)),
        };
        let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
        tracing::debug!(open, "a socket is open");
        let counted = SocketCount(&self.open);
        let end = self.read(&mut socket).await;
        // The old one is closed before the next is opened: never more than the settings say.
        socket.close().await;
        drop(counted);
        end
    }

    async fn read(&self, socket: &mut Socket) -> End {
        loop {
            self.pulse(Pulse::Turns(self.listener.patience.silence));
            let frames = match socket.next().await {
                SocketEvent::Frames(frames) => frames,
                SocketEvent::End(why) => return End::Broken(why),
            };
            self.pulse(Pulse::Heard);
            if frames.is_empty() {
                continue;
            }
            if let Some(end) = self.take(socket, &frames).await {
                return end;
            }
        }
    }

    /// Stores what frames say, then acknowledges it. What cannot be stored is not acknowledged: Slack
    /// sends it again.
    async fn take(&self, socket: &mut Socket, frames: &[String]) -> Option<End> {
        let me = self.me(frames).await;
        let mut batch: Vec<Inbound> = Vec::new();
        let mut ids = Vec::new();
        let mut end = None;
        for raw in frames {
            let frame = Frame {
                account: self.listener.account,
                me: &me,
                teams: self.listener.teams,
                latest: self.latest.load(Ordering::SeqCst),
                redactor: &self.listener.line.http.redactor,
            };
            match hear::read(raw, frame) {
                Envelope::Hello { sockets } => end = self.hello(socket, sockets).or(end),
                Envelope::Disconnect { reason } => {
                    tracing::info!(reason, "Slack closes a socket");
                    end = Some(End::of_disconnect(&reason));
                }
                Envelope::Event { id, inbound } => {
                    self.latest.fetch_max(inbound.order, Ordering::SeqCst);
                    batch.push(*inbound);
                    ids.extend(id);
                }
            }
        }
        // What came over a socket that is not to be ours is sent again to whose it is.
        if matches!(end, Some(End::Taken(_))) {
            return end;
        }
        if let Err(broken) = self.store(socket, batch, ids).await {
            return Some(end.unwrap_or(broken));
        }
        end
    }

    /// Says who we are: events tell it themselves, and nobody waits for `auth.test` but one that does not.
    async fn me(&self, frames: &[String]) -> Me {
        let whoami = self.listener.whoami;
        let me = whoami.known();
        if !me.user.is_empty() {
            return me;
        }
        let mut told = frames.iter().filter_map(|raw| hear::told(raw));
        if let Some(told) = told.find(|told| !told.user.is_empty()) {
            whoami.learn(&told);
        } else if frames.iter().any(|raw| hear::asks_who_we_are(raw)) {
            return whoami.get().await;
        }
        whoami.known()
    }

    async fn store(
        &self,
        socket: &mut Socket,
        mut batch: Vec<Inbound>,
        ids: Vec<String>,
    ) -> Result<(), End> {
        if batch.is_empty() {
            return Ok(());
        }
        stubs::fill(self.listener.api, &mut batch).await;
        self.listener.names.fill(self.listener.api, &mut batch).await;
        let count = batch.len();
        if let Err(error) = self.listener.inbox.accept(batch, None).await {
            tracing::error!(%error, count, "events are not acknowledged: the inbox cannot store them");
            return Ok(());
        }
        tracing::debug!(count, "stored a batch of events");
        for id in ids {
            let ack = json!({ "envelope_id": id }).to_string();
            socket.send(ack).await.map_err(End::Broken)?;
        }
        Ok(())
    }

    /// The first socket of this life finds none of the app's, unless another program uses its token.
    fn hello(&self, socket: &mut Socket, sockets: u64) -> Option<End> {
        socket.greeted();
        let alone = self.begun.load(Ordering::SeqCst) || self.joins.load(Ordering::SeqCst);
        if sockets > 1 && !alone {
            return Some(End::Taken(sockets - 1));
        }
        let ours = u64::from(self.listener.sockets);
        if sockets > ours {
            tracing::warn!(sockets, ours, "more sockets of this app are open than are ours");
        }
        self.begun.store(true, Ordering::SeqCst);
        self.first.notify_waiters();
        None
    }
}

/// Counts a socket as open while it lives.
struct SocketCount<'a>(&'a AtomicUsize);

impl Drop for SocketCount<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
