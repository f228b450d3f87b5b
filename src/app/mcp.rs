//! The MCP servers of a config: their connections, and what an owner has agreed to of them.

use std::path::Path;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use selkie_channel_core::Redactor;

use selkie_domain::clock::SharedClock;
use selkie_engine::flow::Flow;
use selkie_mcp::pins::PinFolder;
use selkie_mcp::{
    ConnectionDeps, Connections, ListNews, OwnerTeller, PinnedTools, Servers, Settings, TokenFolder,
};
use selkie_sandbox::Policy;
use selkie_tools::PictureKeeper;
use selkie_tools::base::ToolDeps;
use selkie_tools::paths::Ours;

/// The folder of the state folder in which each server has one of its own.
const FOLDER: &str = "servers";

/// What servers are started with besides the config.
pub struct McpDeps<'a> {
    /// What tools stand on.
    pub means: &'a ToolDeps,
    /// Whether programs run in the sandbox.
    pub sandbox: &'a Policy,
    /// What is closed to them.
    pub ours: &'a Ours,
    /// The state folder.
    pub state: &'a Path,
    /// The time.
    pub clock: &'a SharedClock,
    /// Learns the servers' secrets.
    pub redactor: &'a Redactor,
}

/// Has owners told by these channels when a server offers other tools than were agreed to.
pub fn tell_by(servers: &Servers, flow: &Arc<Flow>) {
    servers.tell_by(Arc::new(ByFlow(Arc::downgrade(flow))));
}

/// Reads what was agreed to of the servers. Nothing is started.
pub fn tools(settings: &Settings, deps: &McpDeps<'_>) -> PinnedTools {
    learn_headers(settings, deps.redactor);
    let news = Arc::<ListNews>::default();
    let connections = ConnectionDeps {
        programs: deps.means.spoken(),
        policy: deps.sandbox.clone(),
        ours: deps.ours.clone(),
        network: Arc::clone(&deps.means.client),
        auth: Arc::clone(&deps.means.auth),
        clock: Arc::clone(deps.clock),
        folder: deps.state.join(FOLDER),
        tokens: TokenFolder::of(deps.state, deps.redactor),
        watcher: Arc::clone(&news) as _,
    };
    let connections = Connections::new(connections, settings.servers.clone());
    let keeper = PictureKeeper { isolate: Arc::clone(&deps.means.isolate) };
    PinnedTools::of(connections, news, &PinFolder::of(deps.state), &settings.servers, &keeper)
}

/// Has the redactor know what stands in the files of headers.
fn learn_headers(settings: &Settings, redactor: &Redactor) {
    let files = settings.servers.values().filter_map(|server| server.headers_file.as_ref());
    for text in files.filter_map(|file| std::fs::read_to_string(file).ok()) {
        let values =
            text.lines().filter_map(|line| line.split_once(':')).map(|(_, value)| value.trim());
        for value in values {
            redactor.learn(value);
            value.split_once(' ').into_iter().for_each(|(_, bare)| redactor.learn(bare.trim()));
        }
    }
}

/// Tells owners by the channels of a running daemon.
struct ByFlow(Weak<Flow>);

#[async_trait]
impl OwnerTeller for ByFlow {
    async fn tell(&self, key: &str, text: &str) {
        if let Some(flow) = self.0.upgrade() {
            flow.alert(key, text, &[]).await;
        }
    }
}
