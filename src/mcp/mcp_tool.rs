//! One tool of a server, as it stands in the base: nothing is asked of its server before the first call.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize as _;
use serde_json::Value;
use tokio::time::Instant;

use crate::ask::MODERN;
use crate::call::CallContext;
use crate::inquiry::Inquiry;
use crate::names::tool_name;
use crate::outcome::{CallOutcome, CallResult};
use crate::pins::{PinnedList, PinnedTool};
use crate::servers::{LookError, Servers};
use crate::settings::ServerSettings;
use crate::text::short;
use selkie_domain::count::counted;
use selkie_domain::foreign::{Foreign, lasting};
use selkie_domain::schema::check;
use selkie_domain::tool::{Recovery, ToolSpec};
use selkie_guard::visible::harmless;
use selkie_tools::args::fault_words;
use selkie_tools::foreign::Who;
use selkie_tools::paths::Roots;
use selkie_tools::scope::Scope;
use selkie_tools::shown::Preview;
use selkie_tools::{CallQuestion, Handler, Output, PictureKeeper, ToolError};

/// How much longer than the server's own limit a call may take, so that the server's end is what is told.
const MARGIN: std::time::Duration = std::time::Duration::from_secs(70);

/// Characters of what is wrong with a structured answer.
const MAX_MISFIT: usize = 300;

pub(crate) struct McpTool {
    servers: Arc<Servers>,
    server: &'static str,
    tool: String,
    schema: Arc<Value>,
    answers: Option<Value>,
    keeper: PictureKeeper,
    spec: ToolSpec,
}

/// A server with what is known of its tools.
pub(crate) struct ServerPins<'a> {
    pub(crate) name: &'a str,
    pub(crate) settings: &'a ServerSettings,
    pub(crate) list: &'a PinnedList,
    /// What was seen otherwise.
    pub(crate) seen: Option<PinnedList>,
    pub(crate) keeper: &'a PictureKeeper,
}

impl McpTool {
    /// Makes it as an owner has agreed to it.
    pub(crate) fn new(
        servers: &Arc<Servers>,
        of: &ServerPins<'_>,
        pinned: &PinnedTool,
        schema: Value,
    ) -> Self {
        let ServerPins { name: server, settings, list, .. } = of;
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
            // What may ask a person waits for them, and nothing is called beside it.
            stands_alone: list.protocol == MODERN,
            ..ToolSpec::new(name, settings.class_of(&pinned.name), Recovery::Unknown, schema)
        };
        Self {
            servers: Arc::clone(servers),
            server: lasting(server),
            tool: pinned.name.clone(),
            schema: Arc::new(pinned.schema.clone()),
            answers: pinned.answers.clone(),
            keeper: of.keeper.clone(),
            spec,
        }
    }

    /// Asks a person what is open. Where nobody is there who could answer, the server is told so.
    fn inquire(&self, scope: &Scope, inquiry: &mut Inquiry) -> Result<(), ToolError> {
        if !scope.is_attended() {
            inquiry.close();
        }
        let Some(ask) = inquiry.question(self.server) else { return Ok(()) };
        if !self.spec.stands_alone {
            let server = self.server;
            return Err(ToolError::tell(format!(
                "{server} asks a person, which it could not when an owner agreed to it: they can look at it with \
                 `selkie mcp trust {server}`"
            )));
        }
        let kept =
            serde_json::to_value(&*inquiry).map_err(|error| ToolError::Abort(error.to_string()))?;
        Err(ToolError::Ask(Box::new(CallQuestion { ask, kept: Some(kept) })))
    }

    /// What a model gets of an answer: its pictures too, kept as files.
    async fn output(&self, scope: &Scope, result: CallResult, outcome: Option<&str>) -> Output {
        let mut notes: Vec<String> = outcome.into_iter().map(str::to_owned).collect();
        notes.extend(self.misfit(&result));
        let mut pictures = Vec::new();
        for picture in result.pictures {
            match self.keeper.keep(picture.bytes, &scope.roots.own).await {
                Ok(picture) => pictures.push(picture),
                Err(why) => notes.push(format!("a picture ({}) is not shown: {why}", picture.mime)),
            }
        }
        let notes = notes.iter().map(|note| format!("[{note}]"));
        let text = notes.chain((!result.text.is_empty()).then_some(result.text));
        let mut text = text.collect::<Vec<_>>().join("\n");
        if text.is_empty() {
            text = counted(pictures.len() as u64, ["picture", "pictures"]);
        }
        Output { is_error: result.is_error, pictures, ..Output::outside(text) }
    }

    /// Says how a structured answer differs from what its server says that it gives.
    fn misfit(&self, result: &CallResult) -> Option<String> {
        let schema = self.answers.as_ref().filter(|_| !result.is_error)?;
        let why = match &result.structured {
            None => "there is none, or it is too large to be checked".to_owned(),
            Some(value) => {
                let faults = check(schema, value);
                short(&fault_words(schema, faults.first()?), MAX_MISFIT)
            }
        };
        Some(format!("the structured answer is not what the server says that it gives: {why}"))
    }
}

/// What an earlier call has asked, with the answer that it goes on with.
fn taken_up(scope: &Scope) -> Result<Option<Inquiry>, ToolError> {
    let Some(kept) = &scope.kept else { return Ok(None) };
    let mut inquiry = Inquiry::deserialize(kept).map_err(|error| {
        ToolError::tell(format!("what the server asked cannot be read: {error}"))
    })?;
    if let Some(given) = scope.given.last() {
        inquiry.take(given);
    }
    Ok(Some(inquiry))
}

#[async_trait]
impl Handler for McpTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    /// Calls the tool, and calls it again with what a person has answered to what its server asks.
    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Value::Object(arguments) = args else {
            return Err(ToolError::tell("the arguments must be one JSON object"));
        };
        let mut inquiry = taken_up(scope)?;
        loop {
            if let Some(inquiry) = &mut inquiry {
                self.inquire(scope, inquiry)?;
            }
            let looked = self.servers.look(self.server, &self.tool).await;
            looked.map_err(|why| match why {
                LookError::Server(error) => ToolError::tell(error.to_string()),
                why => ToolError::tell(format!("{} was not called: {why}", self.spec.name)),
            })?;
            let context = CallContext {
                progress: Arc::clone(&scope.progress),
                cancel: scope.cancel.clone(),
                deadline: scope.deadline.max(Instant::now()),
                schema: Some(Arc::clone(&self.schema)),
                answers: inquiry.as_ref().map(Inquiry::answers).unwrap_or_default(),
            };
            let call = self.servers.connections.call(self.server, &self.tool, &arguments, context);
            let asks = match call.await.map_err(|error| ToolError::tell(error.to_string()))? {
                CallOutcome::Done(result) => {
                    let outcome = inquiry.as_ref().and_then(Inquiry::outcome);
                    return Ok(self.output(scope, result, outcome).await);
                }
                CallOutcome::Asks(asks) => asks,
            };
            let next = Inquiry::begin(asks, inquiry.as_ref()).map_err(|why| {
                let server = self.server;
                ToolError::tell(format!("{server} asks a person what nobody is asked here: {why}"))
            });
            inquiry = Some(next?);
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
