//! `message_agent`: says something to agents that work, and asks those again that have ended.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::settings::Settings;
use super::{ChildOrder, Start};
use crate::args::typed;
use crate::paths::Roots;
use crate::ports::{KnownAgent, Role};
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Also, Class, OtherParameter, Recovery, ToolSpec};

/// Agents that are told something at once.
const MAX_NAMES: usize = 50;
/// Characters of a message.
const MAX: usize = 8_000;

/// Other harnesses' word for what is said.
const ALSO: Also =
    Also { names: &[], parameters: &[OtherParameter::new("content", "message")], absent: &[] };

/// The tool.
pub(crate) struct MessageAgent(pub(crate) Settings);

#[derive(Deserialize, JsonSchema)]
struct Args {
    names: Vec<String>,
    /// At most 8,000 characters.
    message: String,
}

#[async_trait]
impl Handler for MessageAgent {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Tell agents something: those at work read it, those that have ended are asked again with \
                          what they know, and you read their answer."
                .to_owned(),
            group: "agents",
            sources: &["S2"],
            doing: "talking to agents",
            also: ALSO,
            groups: true,
            ..spec::<Args>("message_agent", Class::Agent, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { names, message } = typed(args)?;
        if names.is_empty() {
            return Err(ToolError::tell("names is empty: name the agents"));
        }
        if message.chars().count() > MAX || names.len() > MAX_NAMES {
            return Err(ToolError::tell(format!(
                "message takes {MAX} characters and {MAX_NAMES} names at once"
            )));
        }
        let known = scope.agents.list(&scope.visitor()).await?;
        let mut orders: Vec<ChildOrder> = Vec::with_capacity(names.len());
        for name in &names {
            let agent = reachable(&known, name.trim())?;
            if let Some(own) = &agent.choice.agent {
                scope.agents.own(&scope.visitor(), own)?;
            }
            if orders.iter().all(|order| order.name != agent.name) {
                orders.push(self.order(agent, &message));
            }
        }
        Err(ToolError::Spawn(orders))
    }

    fn preview(&self, _: &Roots, args: &Value) -> Option<Preview> {
        let text = args.get("message").and_then(Value::as_str).unwrap_or_default();
        Some(Preview::of("tell agents", &["names", "message"]).with(text))
    }
}

impl MessageAgent {
    fn order(&self, agent: &KnownAgent, message: &str) -> ChildOrder {
        let Settings { side_by_side, timeout, .. } = self.0;
        // Who works goes on, and its end is told as it was to be.
        let start = if agent.is_open { Start::Joins } else { Start::GoesOn };
        ChildOrder {
            name: agent.name.clone(),
            task: message.to_owned(),
            awaited: !agent.is_open,
            start,
            timeout: timeout.0,
            narrowed: agent.narrowed.clone(),
            choice: agent.choice.clone(),
            schema: None,
            side_by_side,
        }
    }
}

/// An agent that can be told something: one's own.
fn reachable<'a>(known: &'a [KnownAgent], name: &str) -> Result<&'a KnownAgent, ToolError> {
    let why = match known.iter().find(|agent| agent.name == name) {
        Some(agent) if agent.role == Role::Child => return Ok(agent),
        Some(KnownAgent { role: Role::Own, .. }) => format!("{name} is you"),
        Some(KnownAgent { role: Role::Parent, .. }) => {
            format!("{name} reads your last message: end with what it has to know")
        }
        Some(_) => {
            format!("{name} is a task of another conversation: sessions_send sends words there")
        }
        None => {
            let own = known.iter().filter(|agent| agent.role == Role::Child);
            let names: Vec<&str> = own.map(|agent| agent.name.as_str()).collect();
            let names = if names.is_empty() {
                "none yet: spawn starts one".to_owned()
            } else {
                names.join(", ")
            };
            format!("there is no agent {name} (your agents: {names})")
        }
    };
    Err(ToolError::Tell(why))
}
