//! What connections to servers stand on.

use std::path::PathBuf;
use std::sync::Arc;

use selkie_domain::clock::SharedClock;
use selkie_sandbox::Policy;
use selkie_tools::auth::AuthProfiles;
use selkie_tools::paths::Ours;
use selkie_tools::shell::SpokenPrograms;
use selkie_tools::web::client::GuardedClient;

use crate::login::TokenFolder;

/// What connections stand on.
#[derive(Clone)]
pub struct ConnectionDeps {
    /// What starts programs, and ends them with all that they start.
    pub programs: SpokenPrograms,
    /// Whether they run in the sandbox; those that do reach the network.
    pub policy: Policy,
    /// What is the bot's own: no program in the sandbox reaches it.
    pub ours: Ours,
    /// The way to the network.
    pub network: Arc<GuardedClient>,
    /// Credentials of the config.
    pub auth: Arc<AuthProfiles>,
    /// The time of day.
    pub clock: SharedClock,
    /// The folder in which each program gets a folder of its own, made when it starts.
    pub folder: PathBuf,
    /// What was granted to whom signed in at servers.
    pub tokens: TokenFolder,
    /// Hears that a server's list has changed.
    pub watcher: Arc<dyn ListWatcher>,
}

/// Hears what servers tell unasked.
pub trait ListWatcher: Send + Sync {
    /// A server says that its list of tools has changed: what is known of it may be out of date. Called at most once a
    /// second for each server, and not to be kept waiting.
    fn list_changed(&self, server: &str);
}
