//! The binary: installs the TLS provider, reads the environment, hands in the channels.

mod channels;

use std::process::ExitCode;

use selkie::config::env::environment;
use selkie::daemon::{Binary, cli};

fn main() -> ExitCode {
    // A provider that is there already is the same one.
    rustls::crypto::ring::default_provider().install_default().ok();
    let here = match std::env::current_dir() {
        Ok(here) => here,
        Err(error) => {
            eprintln!("selkie: the working folder cannot be read: {error}");
            return ExitCode::from(1);
        }
    };
    let (kits, world) = (channels::kits(), channels::playground as fn() -> _);
    cli::main(&Binary { kits, world, env: environment(), here }, std::env::args_os())
}
