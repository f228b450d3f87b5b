//! The daemon: everything started, then stopped in order. `run` and `demo` are the same daemon.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use anyhow::{Context, bail};
use selkie_channel_core::locked;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use crate::alerts::Alerts;
use crate::app::App;
use crate::build::{AppConfig, VERSION};
use crate::config_drift::InForce;
use crate::health::HealthDesk;
use crate::idle_memory;
use crate::ledger;
use crate::lifecycle::{SignalRequest, Signals, stop};
use crate::process;
use crate::reload::{Reloader, Reread};
use crate::restored_mode;
use crate::service_manager::{ServiceManager, StartExtender};
use crate::socket;
use crate::socket::{Desk, Stage};
use crate::status::StatusDesk;
use crate::vitals::Vitals;
use crate::webhooks;
use selkie_engine::delivery::runtime::Stop;

/// What a started daemon tells whoever started it.
pub struct Up {
    /// What runs.
    pub app: Arc<App>,
    /// The read API's address, when it listens.
    pub console: Option<SocketAddr>,
}

/// Who a daemon is run for, and how they hear of it.
pub struct Attendant<'a> {
    /// Is told when everything has started.
    pub up: oneshot::Sender<Up>,
    /// Ends it, besides a signal.
    pub end: Option<oneshot::Receiver<()>>,
    /// Is told what the start waits for.
    pub waits: &'a (dyn Fn(String) + Sync),
    /// Who supervises the process.
    pub manager: ServiceManager,
    /// Signals, where they are listened to already.
    pub signals: Option<Signals>,
    /// Reads the config once more; none where there is none to be read.
    pub reread: Option<Reread>,
}

/// Runs until a signal, or until its attendant ends it.
///
/// # Errors
/// When something cannot start, or when every channel is refused and none has ever worked; any other daemon that
/// runs ends without error.
pub async fn daemon(plan: AppConfig, attendant: Attendant<'_>) -> anyhow::Result<()> {
    let Attendant { up, end, waits, manager, signals, reread } = attendant;
    let manager = Arc::new(manager);
    process::take_files();
    let signals = signals.map_or_else(Signals::listen, Ok);
    let mut signals = signals.context("signals cannot be handled")?;
    let mut asked = pin!(until_let_go(end));
    let patience = StartExtender::of(&manager);
    let waits = |what: String| {
        manager.status(&what);
        waits(what);
    };
    let app = tokio::select! {
        app = open(plan, &mut signals, &waits) => app?,
        () = &mut asked => None,
    };
    let Some(app) = app else { return Ok(()) };
    let daemon = Daemon::of(app, manager, reread.as_ref());
    // Health is told also while a restored life waits for a word.
    let console = daemon.or_close(daemon.console().await).await?;
    let may_go_on = tokio::select! {
        waited = daemon.until_resumed(&mut signals) => waited,
        () = &mut asked => Ok(false),
    };
    if !matches!(may_go_on, Ok(true)) {
        socket::remove(&daemon.app.plan.folders.state);
        daemon.close().await;
        return may_go_on.map(drop);
    }
    let reloader = daemon.reloader(reread);
    let alerts = Alerts::of(&daemon.app, Arc::clone(&daemon.status));
    daemon.or_close(daemon.start(&reloader).await).await?;
    drop(patience);
    daemon.manager.ready();
    daemon.watch(alerts);
    report_sandbox(&daemon.app.plan.sandbox);
    daemon.log_up(console);
    // Nobody waiting for it is no reason to end.
    up.send(Up { app: Arc::clone(&daemon.app), console }).ok();
    let hopeless = tokio::select! {
        why = daemon.app.flow.hopeless() => Some(why),
        () = until_asked(&mut signals, &reloader, &daemon.tracker) => None,
        () = &mut asked => None,
    };
    daemon.stop(&mut signals).await;
    match hopeless {
        Some(why) => bail!("no channel works, and none has since the start: {why}"),
        None => Ok(()),
    }
}

/// Waits until whoever started the daemon ends it; for ever where nobody can.
async fn until_let_go(end: Option<oneshot::Receiver<()>>) {
    match end {
        // A dropped sender means that its owner is gone.
        Some(end) => drop(end.await),
        None => std::future::pending().await,
    }
}

/// A daemon whose store is open.
struct Daemon {
    app: Arc<App>,
    manager: Arc<ServiceManager>,
    vitals: Arc<Vitals>,
    in_force: Arc<InForce>,
    status: Arc<StatusDesk>,
    /// What runs beside it.
    tracker: TaskTracker,
    stops: Stop,
}

impl Daemon {
    fn of(app: Arc<App>, manager: Arc<ServiceManager>, reread: Option<&Reread>) -> Self {
        let vitals = Arc::new(Vitals::of(&app));
        let peek = reread.map(|reread| Arc::clone(&reread.peek));
        let in_force = InForce::new(app.plan.written.clone(), peek, Arc::clone(&app.clock));
        let in_force = Arc::new(in_force);
        let status = Arc::new(StatusDesk::of(&app, Arc::clone(&vitals), Arc::clone(&in_force)));
        let tracker = TaskTracker::new();
        Self { app, manager, vitals, in_force, status, tracker, stops: Stop::default() }
    }

    /// Opens the read API where the config wants it.
    async fn console(&self) -> anyhow::Result<Option<SocketAddr>> {
        let console = self.app.plan.settings.console.listen().await?;
        let address = console.as_ref().and_then(|l| l.local_addr().ok());
        if let (None, Some(listen)) = (address, &self.app.plan.settings.console.listen) {
            bail!("console.listen {listen} has no address");
        }
        if let Some(listener) = console {
            let health = Arc::new(HealthDesk(Arc::clone(&self.status)));
            let served = self.app.console(health).serve(listener, self.stops.work.clone());
            self.tracker.spawn(served);
        }
        Ok(address)
    }

    /// Waits while a restored life has not been resumed; `false` when a signal came before.
    async fn until_resumed(&self, signals: &mut Signals) -> anyhow::Result<bool> {
        tokio::select! {
            waited = restored_mode::wait(&self.app, Arc::clone(&self.status), &self.manager) => {
                waited.map(|()| true)
            }
            name = signals.end() => {
                tracing::info!(signal = name, "stopping: nobody has run `selkie resume`");
                Ok(false)
            }
        }
    }

    fn reloader(&self, reread: Option<Reread>) -> Arc<Reloader> {
        let in_force = Arc::clone(&self.in_force);
        Arc::new(Reloader::of(&self.app, reread, &self.manager, in_force))
    }

    /// Starts everything that answers people and programs.
    async fn start(&self, reloader: &Arc<Reloader>) -> anyhow::Result<()> {
        let app = &self.app;
        let work = &self.stops.work;
        let stage = Stage::Works(Arc::clone(reloader));
        let desk = Desk { app: Arc::clone(app), status: Arc::clone(&self.status), stage };
        // The store's lock is held: whatever lies at the socket's path is stale.
        let listener = socket::listen(&app.plan.folders.state)?;
        let webhooks = webhooks::listen(app, self.stops.receivers.clone()).await?;
        app.flow.start(&self.tracker, self.stops.clone()).await?;
        webhooks.map(|webhooks| self.tracker.spawn(webhooks));
        if let Some(backups) = &app.backups {
            self.tracker.spawn(Arc::clone(backups).run(work.clone()));
        }
        if let Some(exporter) = locked(&app.exporter).take() {
            self.tracker.spawn(exporter.run(work.clone()));
        }
        self.tracker.spawn(socket::serve(desk, listener, work.clone()));
        Ok(())
    }

    /// Starts what watches it.
    fn watch(&self, alerts: Option<Alerts>) {
        let work = &self.stops.work;
        self.tracker.spawn(Arc::clone(&self.vitals).watch(Arc::clone(&self.manager), work.clone()));
        self.tracker.spawn(idle_memory::watch(work.clone()));
        if let Some(alerts) = alerts {
            self.tracker.spawn(alerts.run(work.clone()));
        }
    }

    fn log_up(&self, console: Option<SocketAddr>) {
        let plan = &self.app.plan;
        let channels: Vec<&str> = plan.channels.iter().map(|channel| channel.name).collect();
        tracing::info!(
            version = VERSION,
            ?channels,
            state = plan.folders.state.display().to_string(),
            console = console.map_or_else(|| "off".to_owned(), |address| address.to_string()),
            memory = plan.finds_memory_by(),
            "selkie is up"
        );
    }

    /// Closes the store when something could not start.
    async fn or_close<T>(&self, started: anyhow::Result<T>) -> anyhow::Result<T> {
        if started.is_err() {
            self.close().await;
        }
        started
    }

    /// Ends what has started, and closes the store.
    async fn close(&self) {
        self.stops.receivers.cancel();
        self.stops.work.cancel();
        self.app.ledger.close().await;
    }

    /// Stops in order.
    async fn stop(&self, signals: &mut Signals) {
        self.manager.stopping();
        let _patience = StartExtender::of(&self.manager);
        stop(&self.app, &self.tracker, &self.stops, signals).await;
        socket::remove(&self.app.plan.folders.state);
        tracing::info!("selkie has stopped");
    }
}

/// Waits for a signal that ends the daemon; SIGHUP has the config read again, as often as it comes.
async fn until_asked(signals: &mut Signals, reloader: &Arc<Reloader>, tracker: &TaskTracker) {
    loop {
        match signals.next().await {
            SignalRequest::Reload => {
                tracing::info!(signal = "SIGHUP", "the config is read again");
                tracker.spawn(Arc::clone(reloader).reload());
            }
            SignalRequest::End(name) => {
                tracing::info!(
                    signal = name,
                    "stopping: running tasks may end, a second signal ends at once"
                );
                return;
            }
        }
    }
}

/// Opens the store and what works on it; `None` when a signal came before its database was there.
async fn open(
    plan: AppConfig,
    signals: &mut Signals,
    waits: &(dyn Fn(String) + Sync),
) -> anyhow::Result<Option<Arc<App>>> {
    plan.prepare()?;
    let instance = AppConfig::instance();
    let ledger = tokio::select! {
        ledger = ledger::wait_for(plan.ledger_for(&instance), waits) => ledger?,
        name = signals.end() => {
            tracing::info!(signal = name, "stopping: the database was never there");
            return Ok(None);
        }
    };
    Ok(Some(Arc::new(plan.open_on(ledger, instance))))
}

/// Logs how commands run, which no config alone decides.
fn report_sandbox(policy: &selkie_sandbox::Policy) {
    let usual = policy.of(true, |_| false);
    let how = usual.describe();
    match usual.is_in_force() {
        true => {
            tracing::info!(how, gaps = ?usual.reach.gaps(), "the sandbox of commands is in force")
        }
        false => tracing::warn!(how, "no sandbox holds commands: see selkie doctor"),
    }
}
