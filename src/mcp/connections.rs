//! All servers of the config behind one handle.

use std::collections::BTreeMap;
use std::sync::Arc;

use selkie_domain::chance::Chance;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::asking;
use crate::call::CallContext;
use crate::deps::ConnectionDeps;
use crate::error::McpError;
use crate::listing::ServerList;
use crate::login::Login;
use crate::outcome::CallOutcome;
use crate::server::Server;
use crate::settings::ServerSettings;
use crate::start::Start;

/// The servers. One handle for the daemon; a copy is the same.
#[derive(Clone)]
pub struct Connections(Arc<Inner>);

struct Inner {
    servers: BTreeMap<String, Arc<Server>>,
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Connections {
    /// Takes the servers of the config, by their names there. Nothing is started.
    pub fn new(deps: ConnectionDeps, servers: BTreeMap<String, ServerSettings>) -> Self {
        let deps = Arc::new(deps);
        let tracker = TaskTracker::new();
        let stop = CancellationToken::new();
        let servers = servers.into_iter().map(|(name, settings)| {
            let deps = Arc::clone(&deps);
            let way = Start { name: name.clone(), settings, deps, tracker: tracker.clone() };
            (name, Server::new(way, &stop))
        });
        Self(Arc::new(Inner { servers: servers.collect(), tracker, stop }))
    }

    /// Lists what a server offers, all pages of it; starts it where it does not run.
    pub async fn list(&self, server: &str) -> Result<ServerList, McpError> {
        let server = self.server(server)?;
        let list = asking::list(server).await?;
        // What is agreed to is kept as it is written.
        let written = serde_json::to_string(&list.offer).unwrap_or_default();
        match server.way.deps.tokens.redactor.knows_any_in(&written) {
            true => Err(McpError::Protocol(
                "puts a secret that it was given into its list: nothing of it is used".to_owned(),
            )),
            false => Ok(list),
        }
    }

    /// Calls a tool; starts its server where that does not run. What a call does when its caller goes away is as when it
    /// is cancelled: the server is told.
    pub async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: &Map<String, Value>,
        of: CallContext,
    ) -> Result<CallOutcome, McpError> {
        asking::call(self.server(server)?, tool, arguments, &of).await
    }

    /// Begins to sign in at a server, with these scopes besides those that it or the config wants.
    pub async fn login(
        &self,
        server: &str,
        scopes: &[String],
        chance: &dyn Chance,
    ) -> Result<Login<'_>, McpError> {
        Login::begin(&self.server(server)?.way, scopes, chance).await
    }

    /// Ends every server with all that it started; nothing is left of any when this returns, and nothing can be asked
    /// afterwards.
    pub async fn end(&self) {
        self.0.stop.cancel();
        self.0.tracker.close();
        self.0.tracker.wait().await;
    }

    fn server(&self, name: &str) -> Result<&Arc<Server>, McpError> {
        self.0.servers.get(name).ok_or_else(|| McpError::Unknown(name.to_owned()))
    }
}
