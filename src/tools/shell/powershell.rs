//! `powershell`: runs a PowerShell command, where there is a PowerShell.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::bash::{cannot_start, command_spec, fate};
use super::command_end::{CommandEnd, HeldFor};
use super::environment::Environment;
use super::held::Hold;
use super::launch::{
    Language, Rules, Way, basis, find_program, make_own, noted, stands_as_approved, without_aliases,
};
use super::processes::Processes;
use super::supervise::Program;
use crate::args::typed;
use crate::basis::Basis;
use crate::paths::Roots;
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError};
use selkie_domain::span::Span;
use selkie_domain::tool::ToolSpec;
use selkie_sandbox::Limits;

const NAME: &str = "powershell";
const PROGRAM: &str = "pwsh";

/// `tools.powershell`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "PowerShell")]
pub struct Settings {
    /// Whether it may be used. On by default on Windows only.
    pub enabled: bool,
    /// How long a command may take when the call does not say.
    pub timeout: Span,
    /// The most that a call may ask for.
    pub max_timeout: Span,
    /// Names and paths that no command may mention.
    pub deny_paths: Vec<String>,
    /// Words that no command may hold.
    pub deny_tokens: Vec<String>,
    /// Variables of the daemon's environment that commands get besides the usual ones.
    pub injected_env_vars: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: cfg!(windows),
            timeout: Span::seconds(120),
            max_timeout: Span::seconds(600),
            deny_paths: Vec::new(),
            deny_tokens: Vec::new(),
            injected_env_vars: Vec::new(),
        }
    }
}

/// The tool.
pub(crate) struct PowerShell {
    settings: Settings,
    processes: Arc<Processes>,
    env: Arc<Environment>,
    limits: Limits,
    sandbox: Arc<selkie_sandbox::Settings>,
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// `file_cache_dir/…` and `file_state_dir/…` (or with `\`) stand for their folders.
    cmd: String,
    /// Default: workspace, else cache folder.
    cwd: Option<String>,
    /// In seconds.
    #[schemars(range(min = 1))]
    timeout_seconds: Option<f64>,
}

impl PowerShell {
    pub(crate) fn new(
        settings: &Settings,
        processes: &Arc<Processes>,
        env: &Arc<Environment>,
        limits: &Limits,
        sandbox: &Arc<selkie_sandbox::Settings>,
    ) -> Self {
        Self {
            settings: settings.clone(),
            processes: Arc::clone(processes),
            env: Arc::clone(env),
            limits: limits.clone(),
            sandbox: Arc::clone(sandbox),
        }
    }

    fn rules(&self) -> Rules<'_> {
        Rules {
            tool: NAME,
            deny_paths: &self.settings.deny_paths,
            deny_tokens: &self.settings.deny_tokens,
            language: Language::Other,
        }
    }

    /// What a call starts; all that can be refused beforehand is refused here.
    fn ready(&self, roots: &Roots, args: &Args) -> Result<Program, ToolError> {
        let rules = self.rules();
        rules.judge(&args.cmd)?;
        let Some(program) = find_program(&self.env, PROGRAM) else {
            return Err(ToolError::tell(format!(
                "powershell needs {PROGRAM}, which is not installed here: use bash"
            )));
        };
        let asked = args.timeout_seconds.map(Duration::from_secs_f64);
        let way = Way {
            cwd: args.cwd.as_deref(),
            env: &BTreeMap::new(),
            own_env: &self.env,
            injected: &self.settings.injected_env_vars,
            limit: asked.or(Some(self.settings.timeout.0)),
            background: false,
            limits: &self.limits,
            hold: Hold::of(roots, &self.sandbox)?,
        };
        let slashes = ["file_cache_dir", "file_state_dir"]
            .into_iter()
            .fold(args.cmd.clone(), |cmd, alias| {
                cmd.replace(&format!("{alias}\\"), &format!("{alias}/"))
            });
        let cmd = without_aliases(roots, &slashes)?;
        let program = program.to_string_lossy();
        let argv = [&*program, "-NoProfile", "-NonInteractive", "-Command", &cmd];
        way.program(roots, &rules, &cmd, argv.map(str::to_owned).to_vec())
    }
}

#[async_trait]
impl Handler for PowerShell {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Run a PowerShell command and read what it prints.".to_owned(),
            sources: &["S3"],
            ..command_spec::<Args>(NAME, self.settings.max_timeout)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let args: Args = typed(args)?;
        make_own(&scope.roots)?;
        let mut program = self.ready(&scope.roots, &args)?;
        stands_as_approved(scope, NAME, &program)?;
        program.note = noted(scope, &args.cmd, &program)?;
        let held = HeldFor::of(&program);
        let running = self.processes.start(program).map_err(|e| cannot_start(PROGRAM, &e))?;
        Ok(CommandEnd::of(&running, held, &*scope.progress).await.told())
    }

    fn preview(&self, roots: &Roots, args: &Value) -> Option<Preview> {
        let args: Args = typed(args.clone()).ok()?;
        let fate = fate(self.ready(roots, &args));
        let place = args.cwd.map(|cwd| format!(" in {cwd}")).unwrap_or_default();
        let said =
            Preview::of(format!("run a command in PowerShell{place}{fate}"), &["cmd", "cwd"]);
        Some(said.with(args.cmd))
    }

    fn basis(&self, scope: &Scope, args: &Value) -> Basis {
        let text = |key: &str| args.get(key).and_then(Value::as_str);
        basis(&scope.roots, &self.rules(), text("cwd"), text("cmd").unwrap_or_default())
    }
}
