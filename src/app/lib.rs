//! The composition root: builds everything, starts it, stops it; the command line.

pub mod app;
pub mod build;
pub mod demo;

pub mod alerts;
pub mod answered;
pub mod approvals;
pub mod asking;
pub mod backup;
pub mod certificates;
pub mod client;
pub mod closed;
pub mod config_drift;
mod configured_program;
pub mod credentials;
pub mod forgetting;
pub mod health;
pub mod host_zone;
pub mod http;
pub mod idle_memory;
pub mod kits;
pub mod ledger;
pub mod lifecycle;
mod manual_ports;
pub mod manual_tool_call;
mod mcp;
mod models;
pub mod notes;
pub mod otlp;
pub mod pairing;
pub mod people;
pub mod posts;
pub mod process;
pub mod reload;
pub mod request;
pub mod restored_mode;
pub mod run;
pub mod running_config;
pub mod schedules;
mod schemas;
pub mod service_manager;
pub mod sessions;
mod skills;
pub mod socket;
mod speech;
pub mod state;
pub mod status;
pub mod telemetry;
pub mod templates;
mod tooling;
mod transcription;
pub mod travel;
pub mod vitals;
mod webhooks;

use std::path::PathBuf;
use std::sync::Arc;

use selkie_channel_core::ChannelKit;

use selkie_config::source::Environment;
use selkie_llm::StandIn;
use selkie_sandbox::Launcher;
use selkie_tools::isolate::Isolate;

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
