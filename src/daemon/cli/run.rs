//! `selkie run`: the daemon.

use tokio::sync::oneshot;

use super::outcome::{Failure, Outcome};
use crate::daemon::build::{Chosen, plan_to_run};
use crate::daemon::run::Attendant;
use crate::daemon::service_manager::ServiceManager;
use crate::daemon::{Binary, lifecycle, run, telemetry};

/// Runs until a signal.
pub fn run(binary: &Binary, chosen: &Chosen) -> Outcome {
    let plan = plan_to_run(binary, chosen)?;
    if let Some(says) = run::needs_something_to_do(&plan) {
        return Err(Failure::Usage(says));
    }
    telemetry::start(plan.settings.logging, &plan.redactor, telemetry::colour(&binary.env));
    for note in &plan.notes {
        tracing::warn!("{note}");
    }
    let (up, _) = oneshot::channel();
    let waits = |what: String| tracing::warn!("{what}");
    let manager = ServiceManager::of(&binary.env, std::process::id());
    let attendant = Attendant { up, end: None, waits: &waits, manager };
    Ok(lifecycle::runtime()?.block_on(run::daemon(plan, attendant))?)
}
