//! `acp_spawn`: gives a task to another program's agent.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use secrecy::ExposeSecret as _;
use selkie_acp::{Prompt, Session};
use selkie_sandbox::Limits;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::acp_work::{AgentWork, CANCEL_GRACE};
use super::settings::{AgentProgram, Settings};
use super::wishes::NAME;
use crate::args::typed;
use crate::basis::Basis;
use crate::paths::Roots;
use crate::scope::Scope;
use crate::shell::{SpokenProgram, SpokenPrograms};
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// Bytes of an answer: what an agent says, and what is told of it.
const MAX_OUTPUT: usize = 50 * 1024;
/// How long an agent takes at most to end when its time is over.
const ENDING: Duration = Duration::from_secs(10);

/// The tool.
pub(crate) struct AcpSpawn {
    settings: Arc<Settings>,
    spoken: SpokenPrograms,
    limits: Limits,
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    agent: String,
    /// All that it has to know: it sees nothing of this conversation.
    task: String,
    /// Default: workspace, else cache folder.
    cwd: Option<String>,
}

impl AcpSpawn {
    pub(crate) fn new(settings: &Arc<Settings>, spoken: &SpokenPrograms) -> Self {
        Self { settings: Arc::clone(settings), spoken: spoken.clone(), limits: Limits::default() }
    }

    fn agent(&self, name: &str) -> Result<&AgentProgram, ToolError> {
        let names = || self.settings.agents.keys().cloned().collect::<Vec<_>>().join(", ");
        let none = || ToolError::tell(format!("there is no agent {name}: there are {}", names()));
        self.settings.agents.get(name).ok_or_else(none)
    }

    fn of<'a>(
        &'a self,
        agent: &'a AgentProgram,
        env: &'a BTreeMap<String, String>,
        args: &'a Args,
    ) -> SpokenProgram<'a> {
        SpokenProgram {
            tool: NAME,
            command: &agent.command,
            args: &agent.args,
            env,
            hold: agent.sandbox,
            reads: &[],
            cwd: args.cwd.as_deref().or(agent.cwd.as_deref()),
            limits: &self.limits,
        }
    }
}

#[async_trait]
impl Handler for AcpSpawn {
    fn spec(&self) -> ToolSpec {
        let mut spec = ToolSpec {
            description: "Give a task to another program's agent. It works on its own, and answers when it is done."
                .to_owned(),
            group: "agents",
            sources: &["S3"],
            doing: "letting another agent work",
            stands_alone: true,
            max_output: MAX_OUTPUT,
            longest: Some(self.settings.timeout.0 + CANCEL_GRACE + ENDING),
            ..spec::<Args>(NAME, Class::Exec, Recovery::Unknown)
        };
        let names: Vec<&String> = self.settings.agents.keys().collect();
        if !names.is_empty() {
            spec.parameters["properties"]["agent"]["enum"] = serde_json::json!(names);
        }
        spec
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let args: Args = typed(args)?;
        if args.task.trim().is_empty() {
            return Err(ToolError::tell("task is required"));
        }
        let agent = self.agent(&args.agent)?;
        let env = exposed(agent);
        let program = self.of(agent, &env, &args);
        let folder = self.spoken.folder(&scope.roots, &program)?;
        let cwd = folder.path.to_string_lossy().into_owned();
        let speaker = self.spoken.start(scope, &program).await?;
        let client = env!("CARGO_PKG_VERSION").to_owned();
        let work = AgentWork {
            name: args.agent,
            allowed: agent.allowed(),
            limit: self.settings.timeout,
            deadline: Instant::now() + self.settings.timeout.0,
            session: Session::new(Prompt { cwd, text: args.task, client }),
            speaker,
            task: scope.task,
            call: scope.call.clone(),
            permissions: scope.permissions.clone(),
            progress: Arc::clone(&scope.progress),
        };
        // The agent is called off in order though nobody waits for the call any more.
        let stop = CancellationToken::new();
        let _stops_with_the_call = stop.clone().drop_guard();
        let done = self.spoken.processes.look_after(work.done(stop));
        done.await.map_err(|_| ToolError::tell(format!("{NAME} failed: a bug in selkie")))
    }

    fn refuses(&self, scope: &Scope, args: &Value) -> Option<String> {
        let args: Args = typed(args.clone()).ok()?;
        let none = BTreeMap::new();
        let agent = self.agent(&args.agent);
        let folder = |agent| self.spoken.folder(&scope.roots, &self.of(agent, &none, &args));
        agent.and_then(folder).err().map(|why| why.to_string())
    }

    fn basis(&self, scope: &Scope, args: &Value) -> Basis {
        let Ok(args) = typed::<Args>(args.clone()) else { return Basis::default() };
        let none = BTreeMap::new();
        let agent = self.agent(&args.agent).ok();
        let folder = agent
            .and_then(|agent| self.spoken.folder(&scope.roots, &self.of(agent, &none, &args)).ok());
        Basis { folder, ..Basis::default() }
    }

    fn preview(&self, roots: &Roots, args: &Value) -> Option<Preview> {
        let args: Args = typed(args.clone()).ok()?;
        let agent = self.agent(&args.agent).ok()?;
        let none = BTreeMap::new();
        let program = self.of(agent, &none, &args);
        let held = self.spoken.held(roots, &program);
        let place = program.cwd.map(|cwd| format!(" in {cwd}")).unwrap_or_default();
        let fate = self.spoken.folder(roots, &program).err();
        let fate = fate.map(|why| format!(", which would be refused: {why}")).unwrap_or_default();
        let name = &args.agent;
        let said = format!("let the agent {name} work{held}{place}{fate}");
        let command = [&agent.command].into_iter().chain(&agent.args).cloned().collect::<Vec<_>>();
        let said = Preview::of(said, &["agent", "task", "cwd"]);
        Some(said.noting("program".to_owned(), command.join(" ")).with(args.task))
    }
}

/// Its environment, with its secrets.
fn exposed(agent: &AgentProgram) -> BTreeMap<String, String> {
    let value = |value: &secrecy::SecretString| value.expose_secret().to_owned();
    agent.env.iter().map(|(name, secret)| (name.clone(), value(secret))).collect()
}
