//! `spawn`: an agent does something by itself. A runtime tool: what it gets is the rest of its task's.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::name::{after_task, slug};
use super::settings::Settings;
use super::{ChildOrder, MAIN, Start};
use crate::args::typed;
use crate::paths::Roots;
use crate::ports::{KnownAgent, Role, Small};
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, aliases, spec};
use selkie_domain::choice::Choice;
use selkie_domain::effort::Effort;
use selkie_domain::narrowing::Narrowing;
use selkie_domain::tool::{
    Also, Class, ImpliedValue, OtherName, OtherParameter, Recovery, ToolSpec,
};

/// The tools of an agent that only reads.
const READ_ONLY: [&str; 6] =
    ["read_file", "grep", "glob", "list_files", "memory_search", "memory_get"];
/// Bytes of a task, and of a schema.
const MAX_TASK: usize = 50 * 1024;
const MAX_SCHEMA: usize = 16 * 1024;

/// Other harnesses' names of it: one does not wait, one names what it does, one only reads.
const ALSO: Also = Also {
    names: &[
        OtherName::meaning("spawn_agent", "wait", ImpliedValue::Flag(false)),
        OtherName::meaning("task", "name", ImpliedValue::Word("")),
        OtherName::meaning("sessions_spawn", "tools", ImpliedValue::Word("read_only")),
    ],
    parameters: &[
        OtherParameter::new("prompt", "task"),
        OtherParameter::new("description", "name"),
        OtherParameter::new("timeout_seconds", "timeout"),
    ],
    absent: &[],
};

/// The tool.
pub(crate) struct Spawn {
    settings: Settings,
    model: Arc<dyn Small>,
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// With all that it has to know.
    task: String,
    name: Option<String>,
    /// Of the config.
    agent: Option<String>,
    /// Default: true. Else you are told when it ends.
    wait: Option<bool>,
    /// inherit, read_only, or names. Default: inherit.
    tools: Option<Tools>,
    model: Option<String>,
    effort: Option<String>,
    /// Seconds.
    timeout: Option<u32>,
    output_schema: Option<Map<String, Value>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Tools {
    Word(String),
    Names(Vec<String>),
}

impl Spawn {
    pub(crate) fn new(settings: &Settings, model: &Arc<dyn Small>) -> Self {
        Self { settings: settings.clone(), model: Arc::clone(model) }
    }

    /// Reads what an agent is to do, by an agent of which name.
    fn order(
        &self,
        scope: &Scope,
        args: Args,
        known: &[KnownAgent],
    ) -> Result<ChildOrder, ToolError> {
        let Args { task, name, agent, wait, tools, model, effort, timeout, output_schema } = args;
        let agent = agent.map(|agent| agent.trim().to_owned()).filter(|agent| !agent.is_empty());
        if let Some(agent) = &agent {
            scope.agents.own(&scope.visitor(), agent)?;
        }
        if task.len() > MAX_TASK {
            return Err(ToolError::tell(format!(
                "task has {} bytes: {MAX_TASK} are taken",
                task.len()
            )));
        }
        let limit = self.settings.timeout.0;
        let timeout = timeout.map_or(limit, |seconds| Duration::from_secs(seconds.max(1).into()));
        Ok(ChildOrder {
            name: free_name(name.as_deref(), &task, known, &scope.begun)?,
            task,
            awaited: wait.unwrap_or(true),
            start: Start::Afresh,
            timeout: timeout.min(limit),
            narrowed: narrowed(scope, tools)?.into_iter().collect(),
            choice: Choice {
                agent,
                model: self.profile(model)?,
                effort: effort.map(thinking).transpose()?,
            },
            schema: output_schema.map(schema).transpose()?,
            side_by_side: self.settings.side_by_side,
        })
    }

    /// A profile that there is.
    fn profile(&self, wanted: Option<String>) -> Result<Option<String>, ToolError> {
        let Some(wanted) = wanted.filter(|wanted| !wanted.trim().is_empty()) else {
            return Ok(None);
        };
        match self.model.named(wanted.trim()) {
            Ok(_) => Ok(Some(wanted.trim().to_owned())),
            Err(known) => {
                let known = if known.is_empty() { "no other".to_owned() } else { known.join(", ") };
                Err(ToolError::tell(format!("invalid model: {wanted} (takes {known})")))
            }
        }
    }
}

#[async_trait]
impl Handler for Spawn {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Let an agent with a context of its own do a subtask; you read its last message. Calls in a \
                          row run at once."
                .to_owned(),
            group: "agents",
            sources: &["S3", "S2", "S0", "S4"],
            doing: "letting agents work",
            also: ALSO,
            groups: true,
            ..spec::<Args>("spawn", Class::Agent, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let args: Args = typed(args)?;
        let known = scope.agents.list(&scope.visitor()).await?;
        let order = self.order(scope, args, &known)?;
        Err(ToolError::Spawn(vec![order]))
    }

    fn preview(&self, _: &Roots, args: &Value) -> Option<Preview> {
        let task = args.get("task").and_then(Value::as_str).unwrap_or_default();
        Some(Preview::of("let an agent work", &["task"]).with(task))
    }
}

/// The agent's name: what was asked for where that is free, or one after its task.
fn free_name(
    wanted: Option<&str>,
    task: &str,
    known: &[KnownAgent],
    begun: &[String],
) -> Result<String, ToolError> {
    let taken = |name: &str| known.iter().find(|agent| agent.name == name);
    let Some(wanted) = wanted else {
        let is_begun = |name: &str| begun.iter().any(|other| other == name);
        return Ok(after_task(task, |name| taken(name).is_some() || is_begun(name)));
    };
    let name = slug(wanted);
    if wanted.trim().is_empty() {
        return Err(ToolError::tell(
            "description is required: 3 to 5 words that name the agent (name, in calls of spawn)",
        ));
    }
    if name.is_empty() || name == MAIN {
        return Err(ToolError::tell(format!(
            "invalid name: {wanted} (takes letters, digits and dashes, and not {MAIN})"
        )));
    }
    match taken(&name) {
        None => Ok(name),
        Some(KnownAgent { status, role: Role::Child, .. }) => Err(ToolError::tell(format!(
            "there is an agent {name} already ({status}): message_agent asks it again; for a new one take another name"
        ))),
        Some(_) => Err(ToolError::tell(format!("the name {name} is taken: take another one"))),
    }
}

/// Which tools are left, of those that the task has.
fn narrowed(scope: &Scope, tools: Option<Tools>) -> Result<Option<Narrowing>, ToolError> {
    let names: Vec<String> = match tools {
        None => return Ok(None),
        Some(Tools::Word(word)) if word == "inherit" => return Ok(None),
        Some(Tools::Word(word)) if word == "read_only" => READ_ONLY.map(str::to_owned).to_vec(),
        Some(Tools::Word(name)) => vec![name],
        Some(Tools::Names(names)) => names,
    };
    let specs: Vec<&ToolSpec> = scope.tools.specs().iter().map(|spec| &**spec).collect();
    let mut tools = Vec::with_capacity(names.len());
    for name in names {
        let ours = aliases::our_name(name.trim(), &specs);
        let is_known = Class::parse(ours).is_some()
            || READ_ONLY.contains(&ours)
            || specs.iter().any(|spec| spec.name == ours);
        if !is_known {
            let known: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
            return Err(ToolError::tell(format!(
                "invalid tools: {name} (takes inherit, read_only, or names of {})",
                known.join(", ")
            )));
        }
        tools.push(ours.to_owned());
    }
    tools.sort_unstable();
    tools.dedup();
    Ok(Some(Narrowing { by: "spawn's tools".to_owned(), tools }))
}

/// How hard it thinks.
fn thinking(word: String) -> Result<Effort, ToolError> {
    word.trim().to_lowercase().parse().map_err(|_| {
        let levels = Effort::ALL.map(Effort::as_str).join(", ");
        ToolError::tell(format!("invalid effort: {word} (takes {levels})"))
    })
}

/// The schema of an answer, as it is kept.
fn schema(schema: Map<String, Value>) -> Result<String, ToolError> {
    let text = Value::Object(schema).to_string();
    match text.len() > MAX_SCHEMA {
        true => Err(ToolError::tell(format!(
            "output_schema has {} bytes: {MAX_SCHEMA} are taken",
            text.len()
        ))),
        false => Ok(text),
    }
}
