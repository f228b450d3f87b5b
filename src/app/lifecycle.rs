//! From the first thread to the last: the runtime, signals, and how a daemon ends.

use std::io;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::app::App;
use crate::process;
use selkie_engine::delivery::runtime::Stop;
use selkie_store::read::Counts;

/// How long running tasks may take to end after the first signal.
const DRAIN: Duration = Duration::from_secs(30);
/// How long everything may take to notice that it is over.
const LAST: Duration = Duration::from_secs(5);
/// How long no hint means that it is time to look.
const LOOK: Duration = Duration::from_millis(250);
/// More threads than this cost memory and answer no message sooner.
const MAX_THREADS: usize = 4;

/// Builds the runtime of the daemon and of commands that wait for something.
///
/// # Errors
/// When the system gives no threads.
pub fn runtime() -> io::Result<Runtime> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime =
        Builder::new_multi_thread().worker_threads(cores.min(MAX_THREADS)).enable_all().build()?;
    // A file that may not grow is a full disk, and no end of the process. The handler stays; commands do not
    // inherit it.
    let entered = runtime.enter();
    drop(signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?);
    drop(entered);
    Ok(runtime)
}

/// SIGTERM and SIGINT, which end us; SIGHUP, which has the config read again, or ends us where the terminal is gone that we
/// were started in; and SIGUSR1 and SIGUSR2, which ask nothing of us.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
    user: [Signal; 2],
    /// Started in a terminal, and not to outlive it.
    at_terminal: bool,
    /// SIGHUP came when there was nothing to be reloaded yet.
    owed: bool,
}

/// What a signal asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalRequest {
    /// The end; the signal's name.
    End(&'static str),
    /// That the config is read again.
    Reload,
}

impl Signals {
    /// Listens from now on.
    ///
    /// # Errors
    /// When the system refuses a handler.
    pub fn listen() -> io::Result<Self> {
        // Whoever starts us with SIGHUP ignored (nohup) wants us to stay.
        let at_terminal = !process::ignores_hang_up() && has_terminal();
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
            user: [signal(SignalKind::user_defined1())?, signal(SignalKind::user_defined2())?],
            at_terminal,
            owed: false,
        })
    }

    /// Waits for the next one that asks something of us.
    pub async fn next(&mut self) -> SignalRequest {
        match std::mem::take(&mut self.owed) {
            true => SignalRequest::Reload,
            false => self.received().await,
        }
    }

    /// Waits for the next one that ends us and returns its name. The config is read again as soon as there is something to
    /// be reloaded.
    pub async fn end(&mut self) -> &'static str {
        loop {
            match self.received().await {
                SignalRequest::End(name) => return name,
                SignalRequest::Reload => {
                    tracing::info!(
                        "SIGHUP is ignored: selkie reads its config again while it runs, not while it starts or stops"
                    );
                    self.owed = true;
                }
            }
        }
    }

    async fn received(&mut self) -> SignalRequest {
        let [first, second] = &mut self.user;
        loop {
            let ignored = tokio::select! {
                _ = self.terminate.recv() => return SignalRequest::End("SIGTERM"),
                _ = self.interrupt.recv() => return SignalRequest::End("SIGINT"),
                _ = self.hang_up.recv() => return match self.at_terminal && !has_terminal() {
                    true => SignalRequest::End("SIGHUP"),
                    false => SignalRequest::Reload,
                },
                _ = first.recv() => "SIGUSR1",
                _ = second.recv() => "SIGUSR2",
            };
            tracing::info!(signal = ignored, "selkie ignores this signal");
        }
    }
}

/// Whether there is a terminal that this process belongs to: one that was closed is none.
fn has_terminal() -> bool {
    std::fs::File::open("/dev/tty").is_ok()
}

/// Ends the daemon in order: nothing is heard or begun any more, then running tasks and what they said may end,
/// within limits or until a second signal; what is left, and what waits, goes on at the next start.
pub async fn stop(app: &App, tracker: &TaskTracker, stop: &Stop, signals: &mut Signals) {
    stop.receivers.cancel();
    tokio::select! {
        () = drained(app) => {}
        name = signals.end() => tracing::warn!(signal = name, "a second signal: ending at once"),
    }
    stop.work.cancel();
    tracker.close();
    if timeout(LAST, tracker.wait()).await.is_err() {
        tracing::warn!("something does not end: it is left behind");
    }
    app.plan.processes.end().await;
    app.ledger.close().await;
}

/// Waits until nothing runs, and then a little for what was said.
async fn drained(app: &App) {
    if timeout(DRAIN, until(app, |counts| counts.running == 0)).await.is_err() {
        tracing::warn!(
            "tasks are still running after {} s: they continue at the next start",
            DRAIN.as_secs()
        );
        return;
    }
    match timeout(LAST, said(app)).await {
        Ok(0) => {}
        Ok(parts) => {
            tracing::info!(parts, "what cannot be sent now is sent at the next start");
        }
        Err(_) => tracing::info!("what was not sent in time is sent at the next start"),
    }
}

/// Waits until all has left that can leave now. Returns how much cannot: its platform has asked for a longer rest, or an
/// attempt failed and is made again later.
async fn said(app: &App) -> u64 {
    let mut events = app.events.listen();
    while let Ok(counts) = app.ledger.counts().await {
        let left = counts.queued + counts.sending;
        if left <= app.flow.held_back(LAST) {
            return left;
        }
        // A hint may be missed: look again after a while without one.
        timeout(LOOK, events.recv()).await.ok();
    }
    0
}

/// Waits until the counts are so; a store that cannot tell ends the waiting.
async fn until(app: &App, so: fn(&Counts) -> bool) {
    let mut events = app.events.listen();
    while let Ok(counts) = app.ledger.counts().await {
        if so(&counts) {
            return;
        }
        // A hint may be missed: look again after a while without one.
        timeout(LOOK, events.recv()).await.ok();
    }
}
