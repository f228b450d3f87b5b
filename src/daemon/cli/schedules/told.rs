//! What the daemon, or the command alone, tells of schedules.

use anyhow::anyhow;

use crate::daemon::build::AppConfig;
use crate::daemon::cli::outcome::Failure;
use crate::daemon::client::Running;
use crate::daemon::lifecycle;
use crate::daemon::schedules::{Asked, Told, View, carry_out};
use crate::schedule::line::Line;

/// Asks the daemon, or does it alone.
pub(super) fn told(plan: AppConfig, asked: Asked) -> Result<Told, Failure> {
    let told: Told = lifecycle::runtime()?.block_on(async {
        match Running::find(&plan.tls, &plan.folders.state).await? {
            Some(daemon) => daemon.call("/v1/schedules", &asked).await,
            None if matches!(asked, Asked::Run { .. }) => {
                anyhow::bail!("selkie is not running: start it, then run the schedule")
            }
            None => {
                let app = plan.open()?;
                let told = carry_out(&app.flow, asked).await;
                app.ledger.close().await;
                told
            }
        }
    })?;
    match &told.refused {
        Some(why) => Err(Failure::Failed(anyhow!("{why}"))),
        None => Ok(told),
    }
}

/// One schedule in a line.
pub(super) fn line(view: &View) -> String {
    let View { id, state, why, when, next, does, name, to, .. } = view;
    let next = next.first().map(String::as_str);
    let line = Line { id: *id, when, state: *state, why, next, does, to: Some(to.key()), name };
    format!("{line}\n")
}
