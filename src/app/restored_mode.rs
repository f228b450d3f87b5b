//! The daemon of a restored life: it tells how it stands and waits for its owner's word; no channel is open, nothing is
//! sent, no schedule is looked at.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::service_manager::ServiceManager;
use crate::socket::{self, Desk, Stage};
use crate::status::StatusDesk;
use crate::vitals;
use selkie_schedule::words::moment;

/// Returns at once when nothing holds the life, else when its owner lets it go on.
///
/// # Errors
/// When the store cannot be read, or the socket not be made.
pub async fn wait(
    app: &Arc<App>,
    status: Arc<StatusDesk>,
    manager: &ServiceManager,
) -> anyhow::Result<()> {
    let Some(restored) = app.ledger.restored().await? else { return Ok(()) };
    let message = restored.says(&moment(restored.made_at, app.plan.zone));
    tracing::warn!("{message}");
    manager.status(&message);
    manager.ready();
    let listener = socket::listen(&app.plan.folders.state)?;
    let resumed = CancellationToken::new();
    let stage = Stage::Waits { message, resumed: resumed.clone() };
    let desk = Desk { app: Arc::clone(app), status, stage };
    // Nothing turns yet but this: who waits for a word lives.
    tokio::select! {
        () = socket::serve(desk, listener, resumed) => {}
        never = vitals::feed(manager) => match never {},
    }
    Ok(())
}
