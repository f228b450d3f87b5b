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
    let mut asked = pin!(async {
        match end {
            // A dropped sender means that its owner is gone.
            Some(end) => drop(end.await),
            None => std::future::pending().await,
        }
    });
    let (tracker, stops) = (TaskTracker::new(), Stop::default());
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
    let vitals = Arc::new(Vitals::of(&app));
    let peek = reread.as_ref().map(|reread| Arc::clone(&reread.peek));
    let in_force = InForce::new(app.plan.written.clone(), peek, Arc::clone(&app.clock));
    let in_force = Arc::new(in_force);
    let desk = Arc::new(StatusDesk::of(&app, Arc::clone(&vitals), Arc::clone(&in_force)));
    // Health is told also while a restored life waits for a word.
    let console = match console(&app, &desk, &tracker, &stops).await {
        Ok(console) => console,
        Err(error) => {
            stops.work.cancel();
            app.ledger.close().await;
            return Err(error);
        }
    };
    let may_go_on = tokio::select! {
        waited = restored_mode::wait(&app, Arc::clone(&desk), &manager) => waited.map(|()| true),
        name = signals.end() => {
            tracing::info!(signal = name, "stopping: nobody has run `selkie resume`");
            Ok(false)
        }
        () = &mut asked => Ok(false),
    };
    if !matches!(may_go_on, Ok(true)) {
        stops.work.cancel();
        socket::remove(&app.plan.folders.state);
        app.ledger.close().await;
        return may_go_on.map(drop);
    }
    let reloader = Arc::new(Reloader::of(&app, reread, &manager, in_force));
    let alerts = Alerts::of(&app, Arc::clone(&desk));
    let stage = Stage::Works(Arc::clone(&reloader));
    let desk = Desk { app: Arc::clone(&app), status: desk, stage };
    if let Err(error) = start(&app, desk, &tracker, &stops).await {
        stops.receivers.cancel();
        stops.work.cancel();
        app.ledger.close().await;
        return Err(error);
    }
    let channels: Vec<&str> = app.plan.channels.iter().map(|c| c.name).collect();
    let state = app.plan.folders.state.display().to_string();
    let console_at = console.map_or_else(|| "off".to_owned(), |address| address.to_string());
    let memory = app.plan.finds_memory_by();
    drop(patience);
    manager.ready();
    tracker.spawn(Arc::clone(&vitals).watch(Arc::clone(&manager), stops.work.clone()));
    tracker.spawn(idle_memory::watch(stops.work.clone()));
    if let Some(alerts) = alerts {
        tracker.spawn(alerts.run(stops.work.clone()));
    }
    tracing::info!(
        version = VERSION,
        ?channels,
        state,
        console = console_at,
        memory,
        "selkie is up"
    );
    // Nobody waiting for it is no reason to end.
    up.send(Up { app: Arc::clone(&app), console }).ok();
    let hopeless = tokio::select! {
        why = app.flow.hopeless() => Some(why),
        () = until_asked(&mut signals, &reloader, &tracker) => None,
        () = &mut asked => None,
    };
    manager.stopping();
    let _patience = StartExtender::of(&manager);
    stop(&app, &tracker, &stops, &mut signals).await;
    socket::remove(&app.plan.folders.state);
    tracing::info!("selkie has stopped");
    match hopeless {
        Some(why) => bail!("no channel works, and none has since the start: {why}"),
        None => Ok(()),
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

/// Opens the read API where the config wants it.
async fn console(
    app: &App,
    desk: &Arc<StatusDesk>,
    tracker: &TaskTracker,
    stops: &Stop,
) -> anyhow::Result<Option<SocketAddr>> {
    let console = app.plan.settings.console.listen().await?;
    let address = console.as_ref().and_then(|l| l.local_addr().ok());
    if let (None, Some(listen)) = (address, &app.plan.settings.console.listen) {
        bail!("console.listen {listen} has no address");
    }
    if let Some(listener) = console {
        let health = Arc::new(HealthDesk(Arc::clone(desk)));
        tracker.spawn(app.console(health).serve(listener, stops.work.clone()));
    }
    Ok(address)
}

async fn start(app: &App, desk: Desk, tracker: &TaskTracker, stops: &Stop) -> anyhow::Result<()> {
    // The store's lock is held: whatever lies at the socket's path is stale.
    let listener = socket::listen(&app.plan.folders.state)?;
    app.flow.start(tracker, stops.clone()).await?;
    if let Some(backups) = &app.backups {
        tracker.spawn(Arc::clone(backups).run(stops.work.clone()));
    }
    if let Some(exporter) = locked(&app.exporter).take() {
        tracker.spawn(exporter.run(stops.work.clone()));
    }
    tracker.spawn(socket::serve(desk, listener, stops.work.clone()));
    Ok(())
}
