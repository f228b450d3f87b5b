//! One tool of a server, as it stands in the base: nothing is asked of its server before the first call.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::call::CallContext;
use crate::names::tool_name;
use crate::outcome::{CallOutcome, CallResult};
use crate::pins::PinnedTool;
use crate::servers::{LookError, Servers};
use crate::settings::ServerSettings;
use selkie_domain::foreign::{Foreign, lasting};
use selkie_domain::tool::{Recovery, ToolSpec};
use selkie_guard::visible::harmless;
use selkie_tools::foreign::Who;
use selkie_tools::paths::Roots;
use selkie_tools::scope::Scope;
use selkie_tools::shown::Preview;
use selkie_tools::{Handler, Output, ToolError};

/// How much longer than the server's own limit a call may take, so that the server's end is what is told.
const MARGIN: std::time::Duration = std::time::Duration::from_secs(70);

/// The tool.
pub(crate) struct McpTool {
    servers: Arc<Servers>,
    server: &'static str,
    /// Its name at its server.
    tool: String,
    schema: Arc<Value>,
    spec: ToolSpec,
}

impl McpTool {
    /// Makes it as an owner has agreed to it.
    pub(crate) fn new(
        servers: &Arc<Servers>,
        server: &str,
        settings: &ServerSettings,
        pinned: &PinnedTool,
        schema: Value,
    ) -> Self {
        let foreign = Foreign {
            server: Some(lasting(server)),
            is_for_allowed: settings.who == Who::Allowed,
            is_placed: !settings.places.is_empty(),
            identity: format!("{server}:{}", pinned.hash()),
        };
        let name = lasting(&tool_name(server, &pinned.name));
        let spec = ToolSpec {
            description: harmless(pinned.description.trim()),
            group: "servers",
            foreign: Some(foreign),
            longest: Some(settings.timeout.0 + MARGIN),
            ..ToolSpec::new(name, settings.class_of(&pinned.name), Recovery::Unknown, schema)
        };
        Self {
            servers: Arc::clone(servers),
            server: lasting(server),
            tool: pinned.name.clone(),
            schema: Arc::new(pinned.schema.clone()),
            spec,
        }
    }

    async fn ask(&self, scope: &Scope, arguments: Map<String, Value>) -> Result<Output, ToolError> {
        let context = CallContext {
            progress: Arc::clone(&scope.progress),
            cancel: scope.cancel.clone(),
            deadline: scope.deadline.max(Instant::now()),
            schema: Some(Arc::clone(&self.schema)),
            answers: None,
        };
        let call = self.servers.connections.call(self.server, &self.tool, arguments, context);
        match call.await {
            Ok(CallOutcome::Done(result)) => Ok(output(result)),
            Ok(CallOutcome::Asks(_)) => {
                Err(ToolError::tell("the server asks a person, which is not possible here"))
            }
            Err(error) => Err(ToolError::tell(error.to_string())),
        }
    }
}

#[async_trait]
impl Handler for McpTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Value::Object(arguments) = args else {
            return Err(ToolError::tell("the arguments must be one JSON object"));
        };
        match self.servers.look(self.server, &self.tool).await {
            Ok(()) => self.ask(scope, arguments).await,
            Err(LookError::Server(error)) => Err(ToolError::tell(error.to_string())),
            Err(why) => Err(ToolError::tell(format!("{} was not called: {why}", self.spec.name))),
        }
    }

    fn refuses(&self, _: &Scope, _: &Value) -> Option<String> {
        let is_changed = self.servers.is_changed(self.server, &self.tool);
        is_changed.then(|| format!("{} was not called: {}", self.spec.name, LookError::Changed))
    }

    fn preview(&self, _: &Roots, _: &Value) -> Option<Preview> {
        let said = format!("use {}, a tool of the MCP server {}", self.tool, self.server);
        Some(Preview::of(said, &[]))
    }
}

fn output(result: CallResult) -> Output {
    let CallResult { text, is_error, .. } = result;
    let text = if text.is_empty() { "(no output)".to_owned() } else { text };
    Output { is_error, ..Output::outside(text) }
}
