//! The daemon: everything started, then stopped in order. `run` and `demo` are the same daemon.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, bail};
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use crate::daemon::build::{House, Plan, VERSION};
use crate::daemon::lifecycle::{Signals, stop};
use crate::daemon::{process, socket};
use crate::domain::happening::Happenings;
use crate::flow::Stop;
use crate::store::Ledger;

/// What a started daemon tells whoever started it.
pub struct Up {
    /// The rows.
    pub ledger: Arc<dyn Ledger>,
    /// What happens, live.
    pub happenings: Happenings,
    /// The read API's address, when it listens.
    pub console: Option<SocketAddr>,
}

/// Says what is missing when a plan has nothing to do.
pub fn needs_something_to_do(plan: &Plan) -> Option<String> {
    let idle = plan.channels.is_empty() && plan.settings.console.listen.is_none();
    idle.then(|| {
        "no channel is configured: write a section with its token in config.yaml (see \
         `selkie config example`), or try `selkie demo`, which needs none"
            .to_owned()
    })
}

/// Runs until a signal, or until `end` fires; `up` is told when everything has started.
///
/// # Errors
/// When something cannot start, or when every channel is refused and none has ever worked; any other daemon that
/// runs ends without error.
pub async fn daemon(
    plan: Plan,
    up: oneshot::Sender<Up>,
    end: Option<oneshot::Receiver<()>>,
) -> anyhow::Result<()> {
    process::take_files();
    let mut signals = Signals::listen().context("signals cannot be handled")?;
    let house = plan.open()?;
    let (tracker, stops) = (TaskTracker::new(), Stop::default());
    let started = start(&house, &tracker, &stops).await;
    let console = match started {
        Ok(console) => console,
        Err(error) => {
            stops.receivers.cancel();
            stops.work.cancel();
            house.ledger.close().await;
            return Err(error);
        }
    };
    let channels: Vec<&str> = house.plan.channels.iter().map(|c| c.name).collect();
    let state = house.plan.folders.state.display().to_string();
    let console_at = console.map_or_else(|| "off".to_owned(), |address| address.to_string());
    tracing::info!(version = VERSION, ?channels, state, console = console_at, "selkie is up");
    // Nobody waiting for it is no reason to end.
    let (ledger, happenings) = (Arc::clone(&house.ledger), house.happenings.clone());
    up.send(Up { ledger, happenings, console }).ok();
    let asked = async {
        match end {
            // A dropped sender means that its owner is gone.
            Some(end) => drop(end.await),
            None => std::future::pending().await,
        }
    };
    let mut hopeless = None;
    tokio::select! {
        why = house.flow.hopeless() => hopeless = Some(why),
        name = signals.next() => {
            tracing::info!(signal = name, "stopping: running tasks may end, a second signal ends at once");
            if name == "SIGHUP" {
                tracing::warn!("SIGHUP does not reload the config: it stops selkie; start it again");
            }
        }
        () = asked => {}
    }
    stop(&house, &tracker, &stops, &mut signals).await;
    socket::remove(&house.plan.folders.state);
    tracing::info!("selkie has stopped");
    match hopeless {
        Some(why) => bail!("no channel works, and none has since the start: {why}"),
        None => Ok(()),
    }
}

async fn start(
    house: &House,
    tracker: &TaskTracker,
    stops: &Stop,
) -> anyhow::Result<Option<SocketAddr>> {
    // The store's lock is held: whatever lies at the socket's path is stale.
    let listener = socket::listen(&house.plan.folders.state)?;
    let console = house.plan.settings.console.listen().await?;
    let address = console.as_ref().and_then(|l| l.local_addr().ok());
    if let (None, Some(listen)) = (address, &house.plan.settings.console.listen) {
        bail!("console.listen {listen} has no address");
    }
    if let Some(listener) = console {
        tracker.spawn(house.console().serve(listener, stops.work.clone()));
    }
    house.flow.start(tracker, stops.clone()).await?;
    tracker.spawn(socket::serve(socket::Desk::of(house), listener, stops.work.clone()));
    Ok(address)
}
