//! `selkie run`: the daemon.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::outcome::{Failure, Outcome};
use super::unconfigured;
use selkie_app::Binary;
use selkie_app::build::{Carryover, ConfigChoice, plan_anew, plan_to_run, sources};
use selkie_app::config_drift::ConfigPeek;
use selkie_app::lifecycle;
use selkie_app::lifecycle::Signals;
use selkie_app::reload::Reread;
use selkie_app::run;
use selkie_app::run::Attendant;
use selkie_app::service_manager::ServiceManager;
use selkie_app::telemetry;
use selkie_config as config;
use selkie_config::paths::Folders;

/// Runs until a signal.
pub fn run(binary: &Binary, chosen: &ConfigChoice) -> Outcome {
    // SIGHUP is no end, also while the config is read.
    let runtime = lifecycle::runtime()?;
    let entered = runtime.enter();
    let signals = Some(Signals::listen()?);
    drop(entered);
    let plan = plan_to_run(binary, chosen)?;
    if let Some(says) = plan.needs_something_to_do() {
        unconfigured::told(binary, chosen);
        return Err(Failure::Usage(says));
    }
    telemetry::start(plan.settings.logging, &plan.redactor, telemetry::colour(&binary.env));
    for note in &plan.notes {
        tracing::warn!("{note}");
    }
    let (up, _) = oneshot::channel();
    let waits = |what: String| tracing::warn!("{what}");
    let manager = ServiceManager::of(&binary.env, std::process::id());
    let reread = Some(reread(binary, chosen));
    let attendant = Attendant { up, end: None, waits: &waits, manager, signals, reread };
    Ok(runtime.block_on(run::daemon(plan, attendant))?)
}

/// Reads the config as at the start: the same file, variables and flags, and the files of secrets anew.
fn reread(binary: &Binary, chosen: &ConfigChoice) -> Reread {
    let of_read = binary.clone();
    let of_peek = binary.clone();
    let sources = sources(binary, chosen);
    let chosen = chosen.clone();
    let read = move |kept: Carryover, folders: Option<&Folders>| {
        let flags = chosen.flags.iter().cloned().chain(folders.map(Folders::as_flag)).collect();
        plan_anew(&of_read, &ConfigChoice { flags, ..chosen.clone() }, kept)
    };
    let peek = move || {
        let own = sources.file.path().map(|file| sources.here.join(file));
        let files: Vec<PathBuf> = own.into_iter().collect();
        match config::read(&sources, &of_peek.kits) {
            Ok(reading) => ConfigPeek {
                effective: Some(reading.effective()),
                faults: reading.problems.len(),
                files: files.into_iter().chain(reading.files.iter().cloned()).collect(),
            },
            Err(problems) => ConfigPeek { effective: None, faults: problems.0.len().max(1), files },
        }
    };
    Reread { read: Arc::new(read), peek: Arc::new(peek) }
}
