//! The binary: does one isolated job, or installs the TLS provider, reads the environment, hands in the channels.

mod channels;
#[cfg(feature = "playground")]
mod stand_in;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use selkie::app::Binary;
use selkie::cli;
use selkie::config::env::environment;
use selkie::llm::StandIn;
use selkie::tools::isolate::{self, Isolate};
use selkie_sandbox::{Launcher, supervised};

fn main() -> ExitCode {
    // Started again by the daemon, we look after one command.
    if let Some(ended) = supervised(std::env::args_os()) {
        return ended;
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == isolate::COMMAND) {
        return isolate::child();
    }
    // A provider that is there already is the same one.
    rustls::crypto::ring::default_provider().install_default().ok();
    let here = match std::env::current_dir() {
        Ok(here) => here,
        Err(error) => {
            eprintln!("selkie: the working folder cannot be read: {error}");
            return ExitCode::from(1);
        }
    };
    // This very binary, also when its file is another one by now.
    let launcher = Launcher::Supervised("/proc/self/exe".into());
    let binary = Binary {
        kits: channels::kits(),
        world: channels::playground,
        stand_in: stand_in(),
        launcher,
        env: environment(),
        isolate: isolated(),
        here,
    };
    cli::main(&binary, std::env::args_os())
}

/// What answers where no model does.
fn stand_in() -> StandIn {
    #[cfg(feature = "playground")]
    return StandIn::by(stand_in::step);
    #[cfg(not(feature = "playground"))]
    StandIn::absent()
}

/// Work that could end who does it is done by this executable: the one that runs, even when another has been
/// put in its place.
fn isolated() -> Arc<dyn Isolate> {
    let itself = PathBuf::from("/proc/self/exe");
    let executable = if itself.exists() { Ok(itself) } else { std::env::current_exe() };
    match executable {
        Ok(executable) => Arc::new(isolate::Processes::new(executable)),
        Err(_) => Arc::new(isolate::InProcess),
    }
}
