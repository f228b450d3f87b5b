//! The durable sockets: an event is stored, and only then acknowledged. Sockets are owned and counted:
//! each slot has one at most, and opens the next when its own is gone.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::select_all;
use selkie_channel_core::{AccountId, Inbound, Inbox, ListenEnd};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::api::{Api, Fault, Line, Refusal};
use crate::hear::{self, Envelope, Frame};
use crate::names::Names;
use crate::refusal::{Kind, kind, words};
use crate::socket::{Brought, Patience, Socket};
use crate::whoami::Whoami;
use selkie_channel_core::Pauses;

/// When Slack limits us and names no time.
const LIMITED: Duration = Duration::from_secs(10);
/// A socket that lived so long was a good one: the next is opened at once.
const GOOD: Duration = Duration::from_secs(30);

/// What listening needs.
pub struct Listener<'a> {
    /// Whose events.
    pub account: &'a AccountId,
    /// Opens connections.
    pub line: &'a Line,
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

/// Listens until the credential is refused.
pub async fn listen(listener: Listener<'_>) -> ListenEnd {
    let shared = Shared {
        listener: &listener,
        latest: AtomicI64::new(0),
        open: AtomicUsize::new(0),
        first: Notify::new(),
        begun: AtomicBool::new(false),
    };
    let slots = (0..listener.sockets).map(|slot| Box::pin(shared.keep(slot)));
    let (end, _, _) = select_all(slots).await;
    end
}

struct Shared<'a> {
    listener: &'a Listener<'a>,
    /// The newest order seen.
    latest: AtomicI64,
    /// Sockets that are open now.
    open: AtomicUsize,
    /// The first socket works: the others may follow.
    first: Notify,
    begun: AtomicBool,
}

/// Why a socket ended.
enum End {
    /// Slack asked for it: another is opened at once.
    Renewed,
    /// It broke, was silent, or never came to be.
    Broken(String),
    /// Slack names a time to wait.
    Limited(Duration),
    /// The app was forbidden to use sockets.
    Disabled,
    /// No token will be taken until it is replaced.
    Refused(String),
}

impl Shared<'_> {
    /// Keeps one slot filled. Only the first slot opens a socket before one has worked.
    async fn keep(&self, slot: u8) -> ListenEnd {
        if slot > 0 {
            while !self.begun.load(Ordering::SeqCst) {
                self.first.notified().await;
            }
        }
        let mut fails: u32 = 0;
        loop {
            let begun = Instant::now();
            let end = self.once().await;
            if begun.elapsed() >= GOOD {
                fails = 0;
            }
            match end {
                End::Renewed => fails = 0,
                End::Refused(why) => return ListenEnd::Refused(why),
                End::Limited(wait) => {
                    tracing::warn!(?wait, "Slack asks us to open sockets more slowly");
                    sleep(wait).await;
                }
                End::Broken(why) => {
                    fails = fails.saturating_add(1);
                    grumble(slot, fails, &why);
                    sleep(self.listener.pauses.after(fails)).await;
                }
                End::Disabled => {
                    fails = fails.saturating_add(8);
                    let (inbox, account) = (self.listener.inbox, self.listener.account);
                    inbox.notice(account, "slack-link-disabled", DISABLED).await;
                    sleep(self.listener.pauses.after(fails)).await;
                }
            }
        }
    }

    /// Opens a socket and reads it to its end.
    async fn once(&self) -> End {
        let url = match self.listener.api.socket_url().await {
            Ok(url) => url,
            Err(fault) => return refused(fault),
        };
        let tls = &self.listener.line.tls;
        let mut socket = match Socket::connect(&url, tls, self.listener.patience).await {
            Ok(socket) => socket,
            Err(why) => return End::Broken(self.listener.api.clean(&why)),
        };
        let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
        tracing::debug!(open, "a socket is open");
        let counted = Counted(&self.open);
        let end = self.read(&mut socket).await;
        // The old one is closed before the next is opened: never more than the settings say.
        socket.close().await;
        drop(counted);
        end
    }

    async fn read(&self, socket: &mut Socket) -> End {
        loop {
            let frames = match socket.next().await {
                Brought::Frames(frames) => frames,
                Brought::End(why) => return End::Broken(why),
            };
            self.listener.inbox.heard(self.listener.account);
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
        let me = self.listener.whoami.get().await;
        let mut batch: Vec<Inbound> = Vec::new();
        let mut ids = Vec::new();
        let mut end = None;
        for raw in frames {
            let frame = Frame {
                account: self.listener.account,
                me: &me,
                teams: self.listener.teams,
                latest: self.latest.load(Ordering::SeqCst),
                redactor: &self.listener.line.redactor,
            };
            match hear::read(raw, frame) {
                Envelope::Hello { sockets } => self.hello(socket, sockets),
                Envelope::Disconnect { reason } => {
                    tracing::info!(reason, "Slack renews a socket");
                    end =
                        Some(if reason == "link_disabled" { End::Disabled } else { End::Renewed });
                }
                Envelope::Event { id, inbound } => {
                    self.latest.fetch_max(inbound.order, Ordering::SeqCst);
                    batch.push(*inbound);
                    ids.extend(id);
                }
            }
        }
        if let Err(broken) = self.store(socket, batch, ids).await {
            return Some(end.unwrap_or(broken));
        }
        end
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

    fn hello(&self, socket: &mut Socket, sockets: u64) {
        socket.greeted();
        let ours = u64::from(self.listener.sockets);
        if sockets > ours {
            tracing::warn!(
                sockets,
                ours,
                "more sockets of this app are open than are ours: does another program use its token?"
            );
        }
        self.begun.store(true, Ordering::SeqCst);
        self.first.notify_waiters();
    }
}

/// Counts a socket as open while it lives.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn refused(fault: Fault) -> End {
    let refusal = match fault {
        Fault::NotSent(why) | Fault::Unclear(why) => return End::Broken(why),
        Fault::Refused(refusal) => refusal,
    };
    match kind(&refusal) {
        Kind::Limited => End::Limited(refusal.retry_after.unwrap_or(LIMITED)),
        Kind::Token | Kind::Scope => End::Refused(credential(&refusal)),
        _ => End::Broken(words(&refusal)),
    }
}

/// Says that a socket failed: loudly at first and now and then, so that an outage fills no log.
fn grumble(slot: u8, fails: u32, error: &str) {
    if fails <= 3 || fails.is_multiple_of(20) {
        tracing::warn!(slot, error, fails, "a socket failed; opening another");
    } else {
        tracing::debug!(slot, error, fails, "a socket failed; opening another");
    }
}

const DISABLED: &str = "Slack has switched Socket Mode off for this app, so I hear nothing there. \
    Switch it on under \"Socket Mode\" in the app's settings. I keep trying.";

fn credential(refusal: &Refusal) -> String {
    format!(
        "Slack refuses the app's token ({}). Make one with connections:write under \"Basic \
         Information\", put it into slack.app_token_file or slack.app_token, check slack.base_url, \
         and start again.",
        words(refusal)
    )
}
