//! The config of a daemon that runs where none is found: what it was started with is what is looked at.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;

use crate::Binary;
use crate::asking::plan_to_ask;
use crate::build::{AppConfig, ConfigChoice, sources};
use crate::client::RunningDaemon;
use selkie_config::paths::{ConfigFile, looked_for};
use selkie_config::state_folder::state_folder;

/// What to do where the daemon's config is not known.
pub const NAME_IT: &str =
    "name that one with --config, or set the variables that selkie was started with";
/// How long a daemon may take to tell it: its store may be slow.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Which config is looked at.
pub enum ConfigTarget {
    /// The one that was named or found, or none.
    Chosen,
    /// None was; this is the running daemon's.
    Daemons {
        /// The choice of it.
        chosen: ConfigChoice,
        /// Says so.
        message: String,
    },
    /// None was, and the running daemon goes by one that it does not name: says so.
    Unknown(String),
}

/// Finds it.
pub async fn meant(binary: &Binary, chosen: &ConfigChoice) -> ConfigTarget {
    if chosen.file != ConfigFile::None {
        return ConfigTarget::Chosen;
    }
    let Ok(plan) = plan_to_ask(binary, chosen) else { return ConfigTarget::Chosen };
    // What does not answer is told by whoever looks at the daemon.
    let Some(status) = status(&plan).await else { return ConfigTarget::Chosen };
    let found = looked_for(&binary.here, &binary.env);
    if let Some(file) = status["config_file"].as_str() {
        let message = format!("{found}, so the config of the running selkie is used: {file}");
        let chosen = named(binary, chosen, file.into(), plan.folders.state);
        return ConfigTarget::Daemons { chosen, message };
    }
    let has_channels = status["channels"].as_array().is_some_and(|all| !all.is_empty());
    match plan.is_unconfigured() && has_channels {
        true => ConfigTarget::Unknown(format!("{found}, and selkie runs with another config")),
        false => ConfigTarget::Chosen,
    }
}

async fn status(plan: &AppConfig) -> Option<Value> {
    let asked = async {
        let daemon = RunningDaemon::find(&plan.tls, &plan.folders.state).await.ok()??;
        daemon.status().await.ok()
    };
    timeout(TIMEOUT, asked).await.ok().flatten()
}

/// Chooses the file, and the folder in which the daemon was found.
fn named(binary: &Binary, chosen: &ConfigChoice, file: PathBuf, state: PathBuf) -> ConfigChoice {
    let named = ConfigChoice { file: ConfigFile::Named(file), ..chosen.clone() };
    match state_folder(&sources(binary, &named), &binary.kits) {
        Some(found) if found != state => ConfigChoice { state: Some(state), ..named },
        _ => named,
    }
}
