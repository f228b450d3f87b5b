//! A program of the operator's as a tool: arguments in on its standard input, the answer out on its standard output.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use selkie_channel_core::hash::in_hex;
use selkie_sandbox::{Limits, State};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::time::timeout;

use super::settings::{CommandSettings, Commands, Who, foreign_class};
use crate::basis::Basis;
use crate::paths::Roots;
use crate::registry::ToolEntry;
use crate::scope::Scope;
use crate::shell::{Speaker, SpokenProgram, SpokenPrograms};
use crate::shown::Preview;
use crate::{Handler, Output, ToolError};
use selkie_domain::foreign::{Foreign, lasting};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// Bytes of an answer that are read, and of its errors that are told. Dispatch cuts what goes to the model.
const MAX_READ: u64 = 1024 * 1024;
const MAX_ERRORS: usize = 2_000;
/// How long a program that has printed everything may take to end.
const ENDING: Duration = Duration::from_secs(5);
/// Of a program that is only looked at.
static NO_ENV: BTreeMap<String, String> = BTreeMap::new();

struct CommandTool {
    name: &'static str,
    settings: CommandSettings,
    spoken: SpokenPrograms,
    limits: Limits,
}

pub(crate) fn command_tools<'a>(
    commands: &'a Commands,
    spoken: &'a SpokenPrograms,
) -> impl Iterator<Item = ToolEntry> + 'a {
    commands.iter().map(|(name, settings)| {
        let tool = CommandTool {
            name: lasting(name),
            settings: settings.clone(),
            spoken: spoken.clone(),
            limits: Limits::default(),
        };
        ToolEntry::new(true, tool)
    })
}

impl CommandTool {
    fn program<'a>(&'a self, env: &'a BTreeMap<String, String>) -> SpokenProgram<'a> {
        SpokenProgram {
            tool: self.name,
            command: &self.settings.command,
            args: &self.settings.args,
            env,
            hold: self.settings.sandbox,
            reads: &[],
            cwd: self.settings.cwd.as_deref(),
            limits: &self.limits,
        }
    }

    fn env(&self) -> BTreeMap<String, String> {
        let names = self.settings.injected_env_vars.iter();
        let given = names.filter_map(|name| self.spoken.env.get_key_value(name));
        given.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Tells it from a program that is configured under the same name later.
    fn identity(&self) -> String {
        let CommandSettings { command, args, cwd, .. } = &self.settings;
        let all = json!([command, args, cwd]).to_string();
        in_hex(&Sha256::digest(all)[..16])
    }

    fn output(&self, text: String, errors: &str, state: State) -> Output {
        if state == State::Exited(0) {
            let text = if text.trim().is_empty() { "(no output)".to_owned() } else { text };
            return Output::outside(text);
        }
        let trouble = format!("{} {state}", self.name);
        let from = errors.len().saturating_sub(MAX_ERRORS);
        let errors = errors[errors.ceil_char_boundary(from)..].trim();
        let parts = [text.trim(), errors].into_iter().filter(|part| !part.is_empty());
        let said: Vec<&str> = parts.chain([trouble.as_str()]).collect();
        Output { is_error: true, ..Output::outside(said.join("\n")) }
    }
}

#[async_trait]
impl Handler for CommandTool {
    fn spec(&self) -> ToolSpec {
        let CommandSettings { about, class, who, places, timeout, .. } = &self.settings;
        let class = foreign_class(class).unwrap_or(Class::Exec);
        let foreign = Foreign {
            server: None,
            is_for_allowed: *who == Who::Allowed,
            is_placed: !places.is_empty(),
            identity: self.identity(),
        };
        ToolSpec {
            description: about.trim().to_owned(),
            group: "commands",
            longest: Some(timeout.0 + ENDING),
            foreign: Some(foreign),
            ..ToolSpec::new(self.name, class, Recovery::Unknown, self.settings.schema())
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let env = self.env();
        let Speaker { life, mut input, mut output } =
            self.spoken.start(scope, &self.program(&env)).await?;
        let line = format!("{}\n", self.settings.completed(&args));
        let write = async move {
            // One that ends without reading has no use for it.
            input.write_all(line.as_bytes()).await.ok();
        };
        let printed = async { tokio::join!(write, printed(&mut output)).1 };
        match timeout(self.settings.timeout.0, printed).await {
            Ok(text) => {
                let state = life.end(true).await;
                Ok(self.output(text, &life.errors(), state))
            }
            Err(_) => {
                life.end(false).await;
                let after = self.settings.timeout.in_words();
                Err(ToolError::Tell(format!(
                    "{} was ended: it was not done within {after}",
                    self.name
                )))
            }
        }
    }

    fn refuses(&self, scope: &Scope, _: &Value) -> Option<String> {
        self.spoken.folder(&scope.roots, &self.program(&NO_ENV)).err().map(|why| why.to_string())
    }

    fn basis(&self, scope: &Scope, _: &Value) -> Basis {
        let folder = self.spoken.folder(&scope.roots, &self.program(&NO_ENV)).ok();
        Basis { folder, ..Basis::default() }
    }

    fn preview(&self, roots: &Roots, _: &Value) -> Option<Preview> {
        let held = self.spoken.held(roots, &self.program(&NO_ENV));
        let command = [&self.settings.command].into_iter().chain(&self.settings.args);
        let command = command.cloned().collect::<Vec<_>>().join(" ");
        let said = Preview::of(format!("use {}, a program of yours, run{held}", self.name), &[]);
        Some(said.noting("program".to_owned(), command))
    }
}

/// Reads what a program prints until it prints no more. What is beyond the limit is read, so that it ends, and dropped.
async fn printed(output: &mut pipe::Receiver) -> String {
    let mut kept = Vec::new();
    (&mut *output).take(MAX_READ).read_to_end(&mut kept).await.ok();
    tokio::io::copy(output, &mut tokio::io::sink()).await.ok();
    String::from_utf8_lossy(&kept).into_owned()
}
