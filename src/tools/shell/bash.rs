//! `bash`: runs a shell command.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::command_end::{CommandEnd, HeldFor};
use super::environment::Environment;
use super::held::Hold;
use super::host::{HostCommand, OnHost};
use super::launch::{
    Language, Rules, Way, basis, find_program, make_own, noted, stands_as_approved, without_aliases,
};
use super::processes::{Processes, StartedFor};
use super::rewrite::Rewrite;
use super::supervise::{GRACE, Program};
use super::tape::SHOWN;
use crate::args::typed;
use crate::basis::Basis;
use crate::paths::Roots;
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::span::Span;
use selkie_domain::taint::Taint;
use selkie_domain::tool::{Also, Class, OtherName, OtherParameter, Recovery, ToolSpec};
use selkie_guard::unseen::unseen;
use selkie_guard::{plain, programs};
use selkie_sandbox::Limits;

const NAME: &str = "bash";

/// Other harnesses' words for it.
const ALSO: Also = Also {
    names: &[OtherName::plain("exec")],
    parameters: &[
        OtherParameter::new("command", "cmd"),
        OtherParameter::new("workdir", "cwd"),
        OtherParameter::new("timeout", "timeout_seconds"),
        OtherParameter::new("background", "run_in_background"),
    ],
    absent: &[],
};

/// `tools.bash`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Bash")]
pub struct Settings {
    /// Whether it may be used.
    pub enabled: bool,
    /// How long a command may take when the call does not say.
    pub timeout: Span,
    /// The most that a call may ask for.
    pub max_timeout: Span,
    /// Names (`secrets.txt`) and paths (`/srv/private`) that no command may mention. They keep a model from
    /// mistakes; what holds is the sandbox, and without one whoever may use the shell can read every file that the
    /// daemon's user can.
    pub deny_paths: Vec<String>,
    /// Programs (`curl`) and beginnings (`git push`) that no command may start. They keep a model from
    /// mistakes; a script or an interpreter can do it all the same.
    pub deny_tokens: Vec<String>,
    /// Beginnings of commands that a person must allow; words count as written. Without a sandbox, what is more than
    /// plain words asks, too.
    pub approval_patterns: Vec<String>,
    /// Commands that run on another host instead, over ssh, each after an approval. Everything else stays here.
    pub host_commands: Vec<HostCommand>,
    /// Variables of the daemon's environment that commands get besides the usual ones.
    pub injected_env_vars: Vec<String>,
    /// A program put before every command.
    pub rewrite: Rewrite,
    /// What one command may use.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            timeout: Span::seconds(120),
            max_timeout: Span::seconds(600),
            deny_paths: Vec::new(),
            deny_tokens: Vec::new(),
            approval_patterns: ["rm ", "chmod ", "selkie "].map(str::to_owned).to_vec(),
            host_commands: Vec::new(),
            injected_env_vars: Vec::new(),
            rewrite: Rewrite::default(),
            limits: Limits::default(),
        }
    }
}

/// The tool.
pub(crate) struct Bash {
    settings: Settings,
    processes: Arc<Processes>,
    env: Arc<Environment>,
    sandbox: Arc<selkie_sandbox::Settings>,
    /// `bash`, or `sh` where there is none.
    shell: &'static str,
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// `file_cache_dir/…` and `file_state_dir/…` stand for their folders.
    cmd: String,
    /// Default: workspace, else cache folder.
    cwd: Option<String>,
    /// In the background: no limit unless given.
    #[schemars(range(min = 1))]
    timeout_seconds: Option<f64>,
    env: Option<BTreeMap<String, String>>,
    /// Answers an id for `process`.
    run_in_background: Option<bool>,
    /// Answers JSON: `task_id, status, summary, output_kind, output_schema, output, error`.
    run_in_subtask: Option<bool>,
}

impl Bash {
    pub(crate) fn new(
        settings: &Settings,
        processes: &Arc<Processes>,
        env: &Arc<Environment>,
        sandbox: &Arc<selkie_sandbox::Settings>,
    ) -> Self {
        let shell = if find_program(env, "bash").is_some() { "bash" } else { "sh" };
        Self {
            settings: settings.clone(),
            processes: Arc::clone(processes),
            env: Arc::clone(env),
            sandbox: Arc::clone(sandbox),
            shell,
        }
    }

    fn rules(&self) -> Rules<'_> {
        Rules {
            tool: NAME,
            deny_paths: &self.settings.deny_paths,
            deny_tokens: &self.settings.deny_tokens,
            language: Language::Shell,
        }
    }

    /// What a call starts. All that can be refused beforehand is refused here, to the call and to its preview
    /// alike.
    fn ready(&self, roots: &Roots, args: &Args) -> Result<Program, ToolError> {
        let rules = self.rules();
        rules.judge(&args.cmd)?;
        let background = args.run_in_background == Some(true);
        if let Some(there) = self.on_host(&args.cmd).filter(|_| background) {
            let host = there.host;
            return Err(ToolError::Tell(format!(
                "this command runs on {host}, where nothing of it can be left running: take run_in_background away"
            )));
        }
        if background && args.run_in_subtask == Some(true) {
            return Err(ToolError::tell(
                "run_in_background and run_in_subtask exclude each other: a subtask is waited for",
            ));
        }
        let asked = args.timeout_seconds.map(Duration::from_secs_f64);
        let none = BTreeMap::new();
        let way = Way {
            cwd: args.cwd.as_deref(),
            env: args.env.as_ref().unwrap_or(&none),
            own_env: &self.env,
            injected: &self.settings.injected_env_vars,
            limit: if background { asked } else { asked.or(Some(self.settings.timeout.0)) },
            background,
            limits: &self.settings.limits,
            hold: self.hold(roots, &args.cmd)?,
        };
        let cmd = without_aliases(roots, &args.cmd)?;
        if let Some(there) = self.on_host(&args.cmd) {
            return way.program(roots, &rules, &cmd, there.argv());
        }
        let cmd = self.settings.rewrite.of(cmd, &self.env);
        let argv = [self.shell, "-c", &cmd].map(str::to_owned).to_vec();
        way.program(roots, &rules, &cmd, argv)
    }

    /// How a command is held. On another host nothing of this one holds it.
    fn hold(&self, roots: &Roots, cmd: &str) -> Result<Hold, ToolError> {
        match self.on_host(cmd) {
            Some(_) => Ok(Hold::Words(None)),
            None => Hold::of(roots, &self.sandbox),
        }
    }

    fn on_host(&self, cmd: &str) -> Option<OnHost<'_>> {
        OnHost::of(&self.settings.host_commands, cmd)
    }
}

#[async_trait]
impl Handler for Bash {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: format!(
                "Run a shell command and read what it prints (errors too, at most {SHOWN} characters, the middle left out). \
                 Ended after {} s unless timeout_seconds says otherwise. Takes no input; for servers and watchers use \
                 run_in_background.",
                self.settings.timeout.0.as_secs()
            ),
            sources: &["S3", "S0", "S1", "S2", "S4"],
            also: ALSO,
            ..command_spec::<Args>(NAME, self.settings.max_timeout)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let args: Args = typed(args)?;
        if let Some(why) = fetches(scope, &args.cmd) {
            return Err(ToolError::Tell(why));
        }
        make_own(&scope.roots)?;
        let mut program = self.ready(&scope.roots, &args)?;
        stands_as_approved(scope, NAME, &program)?;
        program.note = noted(scope, &args.cmd, &program)?;
        let cmd = args.cmd.clone();
        let background = args.run_in_background == Some(true);
        if background {
            let of = StartedFor {
                conversation: &scope.conversation,
                task: scope.task,
                now: scope.clock.now(),
            };
            let started = self.processes.keep(of, args.cmd, program).map_err(ToolError::Tell)?;
            let name = &started.name;
            return Ok(Output::ok(format!(
                "Started {name}. Read what it prints with process poll, end it with process stop \
                 (process_id {name})."
            )));
        }
        let held = HeldFor::of(&program);
        let running = self.processes.start(program).map_err(|e| cannot_start(self.shell, &e))?;
        let ended = CommandEnd::of(&running, held, &*scope.progress).await;
        let said =
            if args.run_in_subtask == Some(true) { ended.enveloped(scope) } else { ended.told() };
        // What another host says nobody here has written.
        let level = self.on_host(&cmd).map_or(Taint::Clean, |_| Taint::Raw);
        Ok(Output { level, ..said })
    }

    fn asks(&self, roots: &Roots, args: &Value) -> Option<String> {
        let cmd = args.get("cmd")?.as_str()?;
        if let Some(there) = self.on_host(cmd) {
            return Some(there.reason());
        }
        let line = plain::read(cmd);
        let patterns = self.settings.approval_patterns.iter().map(String::as_str);
        let by_pattern = || programs::begins_with(&line, patterns).map(asks_by_pattern);
        match Hold::of(roots, &self.sandbox) {
            Ok(Hold::Words(why)) if !line.is_judged() => {
                by_pattern().or_else(|| Some(asks_unjudged(why.as_deref())))
            }
            Ok(_) => by_pattern(),
            // It is refused.
            Err(_) => None,
        }
    }

    fn refuses(&self, scope: &Scope, args: &Value) -> Option<String> {
        let args: Args = typed(args.clone()).ok()?;
        if let Some(why) = fetches(scope, &args.cmd) {
            return Some(why);
        }
        make_own(&scope.roots).ok()?;
        self.ready(&scope.roots, &args).err().map(|why| why.to_string())
    }

    fn unseen(&self, args: &Value) -> Vec<String> {
        let cmd = args.get("cmd").and_then(Value::as_str).unwrap_or_default();
        unseen(&plain::read(cmd))
    }

    fn basis(&self, scope: &Scope, args: &Value) -> Basis {
        let text = |key: &str| args.get(key).and_then(Value::as_str);
        basis(&scope.roots, &self.rules(), text("cwd"), text("cmd").unwrap_or_default())
    }

    fn preview(&self, roots: &Roots, args: &Value) -> Option<Preview> {
        let args: Args = typed(args.clone()).ok()?;
        let fate = fate(self.ready(roots, &args));
        let background = args.run_in_background == Some(true);
        let held = match self.on_host(&args.cmd) {
            Some(there) => format!(" on {}, outside of the sandbox", there.host),
            None => Hold::of(roots, &self.sandbox).map_or(String::new(), |hold| hold.shown()),
        };
        let how = if background { " in the background" } else { "" };
        let place = args.cwd.map(|cwd| format!(" in {cwd}")).unwrap_or_default();
        let shows: &[&str] = match background {
            true => &["cmd", "cwd", "env", "run_in_background"],
            false => &["cmd", "cwd", "env"],
        };
        let said = Preview::of(format!("run a command{how}{held}{place}{fate}"), shows);
        let env = args.env.into_iter().flatten();
        let said = env.fold(said, |said, (name, value)| said.noting(format!("env {name}"), value));
        Some(said.with(self.settings.rewrite.of(args.cmd, &self.env)))
    }
}

/// Why a command does not fetch by itself where the task has credentials for that.
fn fetches(scope: &Scope, cmd: &str) -> Option<String> {
    let mut specs = scope.tools.specs().iter();
    let has_profiles = specs.any(|spec| spec.parameters["properties"]["auth_profile"].is_object());
    let program = programs::begins_with(
        &plain::read(cmd),
        ["curl", "wget"].into_iter().filter(|_| has_profiles),
    )?;
    Some(format!(
        "{NAME}: {program} is not run here, because this task has credentials for requests: use url_fetch with auth_profile, or \
         url_fetch without it"
    ))
}

/// Why a command asks that cannot be judged where no sandbox holds it.
fn asks_unjudged(why: Option<&str>) -> String {
    let way_out = match why {
        Some(why) => {
            format!(
                "work in another folder, or move selkie's file (a config can lie in ~/.config/selkie), because {why}"
            )
        }
        None => "turn the sandbox on (selkie doctor says why it is off)".to_owned(),
    };
    format!(
        "asks first: this command cannot be judged by its words, and no sandbox holds it: write it as plain commands joined \
         by && || ; or |, or {way_out}"
    )
}

fn asks_by_pattern(pattern: &str) -> String {
    let pattern = pattern.trim();
    format!(
        "asks first: commands with `{pattern}` need a person's approval (tools.bash.approval_patterns)"
    )
}

/// What is known of every tool that runs commands.
pub(super) fn command_spec<Args: JsonSchema>(name: &'static str, most: Span) -> ToolSpec {
    let mut spec = ToolSpec {
        group: "shell",
        doing: "running a command",
        max_output: MAX_BYTES,
        longest: Some(most.0 + GRACE * 3),
        ..spec::<Args>(name, Class::Exec, Recovery::Unknown)
    };
    spec.parameters["properties"]["timeout_seconds"]["maximum"] = most.0.as_secs_f64().into();
    spec
}

/// How the first line of a preview ends: with what the call would be told.
pub(super) fn fate(ready: Result<Program, ToolError>) -> String {
    ready.map_or_else(|why| format!(", which would be refused: {why}"), |_| String::new())
}

/// What [`SHOWN`] characters and the words around them take at most.
const MAX_BYTES: usize = SHOWN * 4 + 1024;

pub(super) fn cannot_start(shell: &str, error: &std::io::Error) -> ToolError {
    ToolError::tell(format!("{shell} cannot be started: {error}"))
}
