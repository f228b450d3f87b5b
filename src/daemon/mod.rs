//! The composition root: builds everything, starts it, stops it; the command line.

pub mod app;
pub mod build;
pub mod cli;
pub mod demo;

pub mod alerts;
mod answered;
mod approvals;
mod asking;
mod at_rest;
mod backup;
mod certificates;
mod client;
mod closed;
mod credentials;
mod doctor;
mod elsewhere;
mod forgetting;
mod hand;
mod health;
mod held;
mod host_zone;
mod http;
mod in_force;
mod init;
mod ledger;
mod lifecycle;
mod notes;
pub mod otlp;
mod pairing;
mod people;
mod posts;
mod process;
mod reload;
mod request;
mod run;
mod schedules;
mod service;
mod service_manager;
mod sessions;
mod socket;
mod state;
mod status;
mod support;
mod telemetry;
mod templates;
mod travel;
mod vitals;

use std::path::PathBuf;
use std::sync::Arc;

use selkie_channel_core::ChannelKit;

use crate::config::source::Environment;
use crate::llm::StandIn;
use crate::tools::isolate::Isolate;
use crate::tools::shell::Launcher;

/// What the binary hands in: everything that names platforms or the process.
#[derive(Clone)]
pub struct Binary {
    /// The kinds of channel that were built in.
    pub kits: Vec<ChannelKit>,
    /// Makes the emulated platforms for `demo`; `None` when they were not built in.
    pub world: fn() -> Option<Box<dyn demo::World>>,
    /// Answers where no model is configured.
    pub stand_in: StandIn,
    /// Who starts commands: ourselves, or our binary as a supervisor.
    pub launcher: Launcher,
    /// The environment, read once.
    pub env: Environment,
    /// Where work on foreign bytes is done that could end who does it.
    pub isolate: Arc<dyn Isolate>,
    /// The working folder.
    pub here: PathBuf,
}
