//! One server from its first call on: started when somebody asks it, kept warm, and left alone for a while when it fails.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use selkie_channel_core::locked;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::connection::{Connection, InUse};
use crate::error::McpError;
use crate::handshake::shake;
use crate::link::Link;
use crate::news::ListBell;
use crate::start::Start;

/// How long a server may take to start and to shake hands.
const START: Duration = Duration::from_secs(60);
/// The first rest after a failure, and the longest: each is twice the one before.
const FIRST_REST: Duration = Duration::from_secs(1);
const MAX_REST: Duration = Duration::from_secs(60);
/// A server that has lived for so long has not failed again.
const SOUND: Duration = Duration::from_secs(60);
/// The rest between two words that a list has changed.
const CHANGE_REST: Duration = Duration::from_secs(1);

pub(crate) struct Server {
    pub(crate) way: Start,
    stop: CancellationToken,
    state: Mutex<State>,
    /// It was found to be of the older era.
    is_legacy: AtomicBool,
}

#[derive(Default)]
struct State {
    phase: Phase,
    failures: u32,
}

#[derive(Default)]
enum Phase {
    /// Nobody has asked it, or nobody has for long.
    #[default]
    Idle,
    Starting(watch::Receiver<Option<StartResult>>),
    Ready(Arc<Connection>),
    Resting {
        until: Instant,
        why: String,
    },
}

type StartResult = Result<Arc<Connection>, McpError>;

impl Server {
    pub(crate) fn new(way: Start, stop: &CancellationToken) -> Arc<Self> {
        let state = Mutex::default();
        Arc::new(Self { way, stop: stop.clone(), state, is_legacy: AtomicBool::default() })
    }

    /// Returns a connection, which is made where there is none. It is made even when the caller goes away.
    pub(crate) async fn connection(self: &Arc<Self>) -> Result<InUse, McpError> {
        let mut starting = {
            let mut state = locked(&self.state);
            match &state.phase {
                _ if self.stop.is_cancelled() => return Err(McpError::Stopping),
                Phase::Ready(connection) => return Ok(connection.begin()),
                Phase::Starting(starting) => starting.clone(),
                Phase::Resting { until, why } if Instant::now() < *until => {
                    let left = *until - Instant::now();
                    return Err(McpError::Resting { why: why.clone(), left });
                }
                Phase::Resting { .. } | Phase::Idle => {
                    let (tell, starting) = watch::channel(None);
                    state.phase = Phase::Starting(starting.clone());
                    self.way.tracker.spawn(Arc::clone(self).start(tell));
                    starting
                }
            }
        };
        let started = starting.wait_for(Option::is_some).await;
        let started = started.ok().and_then(|started| started.clone());
        Ok(started.unwrap_or(Err(McpError::Stopping))?.begin())
    }

    /// Asks this connection no more.
    pub(crate) fn retire(&self, connection: &Arc<Connection>) {
        let mut state = locked(&self.state);
        if matches!(&state.phase, Phase::Ready(ready) if Arc::ptr_eq(ready, connection)) {
            state.phase = Phase::Idle;
        }
        connection.retired.cancel();
    }

    /// Says what an error means with this server's settings: a credential of the config is no matter of signing in.
    pub(crate) fn explain(&self, error: McpError) -> McpError {
        match (error, &self.way.settings.auth) {
            (McpError::SignIn { status, .. }, Some(id)) => McpError::Settings(format!(
                "it refuses the credential of auth {id} (HTTP status {status})"
            )),
            (error, _) => error,
        }
    }

    async fn start(self: Arc<Self>, tell: watch::Sender<Option<StartResult>>) {
        let began = Instant::now();
        let connected = tokio::select! {
            () = self.stop.cancelled() => Err(McpError::Stopping),
            connected = timeout(START, self.connect()) => connected.unwrap_or_else(|_| {
                let most = START.as_secs();
                Err(McpError::NotStarted(format!("it did not answer within {most} seconds")))
            }),
        };
        let connected = connected.map(Arc::new);
        let server = &self.way.name;
        match &connected {
            Ok(connection) => {
                let millis = began.elapsed().as_millis();
                let says = &connection.peer.server;
                tracing::info!(server, says, millis, "an MCP server is ready");
                locked(&self.state).phase = Phase::Ready(Arc::clone(connection));
                self.way.tracker.spawn(Arc::clone(&self).attend(Arc::clone(connection)));
            }
            Err(error) => {
                tracing::warn!(server, %error, "an MCP server is not there");
                let why = error.to_string();
                self.rest(why.replacen("the MCP server", "it", 1));
            }
        }
        tell.send(Some(connected)).ok();
    }

    async fn connect(&self) -> Result<Connection, McpError> {
        let is_legacy = self.is_legacy.load(Ordering::Relaxed);
        let connected = match self.connect_in(is_legacy).await {
            // Some of the older era end at the first word that they do not know.
            Err(McpError::Gone(_)) if !is_legacy => self.connect_in(true).await,
            connected => connected,
        };
        let connected = connected.map_err(|error| match error {
            // It was asked for nothing yet.
            McpError::Gone(how) => McpError::NotStarted(format!("it {how}")),
            other => other,
        })?;
        self.is_legacy.store(connected.peer.is_legacy(), Ordering::Relaxed);
        Ok(connected)
    }

    async fn connect_in(&self, is_legacy: bool) -> Result<Connection, McpError> {
        let bell = ListBell::default();
        let link = self.way.link(&bell).await?;
        match shake(&link, is_legacy).await {
            Ok(peer) => Ok(Connection::new(link, peer, bell)),
            Err(McpError::Gone(_) | McpError::NotStarted(_)) if matches!(link, Link::Stdio(_)) => {
                Err(McpError::Gone(link.over().await))
            }
            Err(error) => {
                link.end().await;
                Err(error)
            }
        }
    }

    /// Looks after a connection until its end.
    async fn attend(self: Arc<Self>, connection: Arc<Connection>) {
        let server = &self.way.name;
        let news = async {
            loop {
                connection.bell.notified().await;
                self.way.deps.watcher.list_changed(server);
                sleep(CHANGE_REST).await;
            }
        };
        let idle = async {
            loop {
                connection.rest().await;
                let mut state = locked(&self.state);
                if connection.is_idle() {
                    state.phase = Phase::Idle;
                    return;
                }
            }
        };
        let how = tokio::select! {
            how = connection.link.over() => Some(how),
            () = connection.retired.cancelled() => None,
            () = self.stop.cancelled() => None,
            () = idle => None,
            () = news => None,
            () = connection.listen() => None,
        };
        if connection.since.elapsed() >= SOUND {
            locked(&self.state).failures = 0;
        }
        match how {
            Some(how) => {
                tracing::warn!(server, how, "an MCP server has ended");
                self.rest(format!("it {how}"));
            }
            None => connection.link.end().await,
        }
    }

    fn rest(&self, why: String) {
        let mut state = locked(&self.state);
        let doubled = FIRST_REST * 2_u32.saturating_pow(state.failures.min(16));
        state.failures += 1;
        state.phase = Phase::Resting { until: Instant::now() + doubled.min(MAX_REST), why };
    }
}
