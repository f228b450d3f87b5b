//! A program of the config that is spoken with over its standard streams: started and ended like a command.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use selkie_channel_core::locked;
use selkie_sandbox::{Life, Limits, Mode, Settings, State};
use tokio::net::unix::pipe;
use tokio::time::timeout;

use super::environment::{Environment, environment};
use super::held::Hold;
use super::launch::{
    Language, Rules, at_home_in_the_sandbox, find_program, folder, make_own, stands_as_approved,
};
use super::processes::Processes;
use super::supervise::{GRACE, Program, SupervisedProcess};
use super::tape::Tape;
use crate::ToolError;
use crate::basis::WorkFolder;
use crate::paths::{Roots, note_program};
use crate::scope::Scope;
use selkie_domain::clock::SharedClock;

/// What such programs stand on.
#[derive(Clone)]
pub struct SpokenPrograms {
    /// Everything that runs.
    pub processes: Arc<Processes>,
    /// The daemon's own environment, of which they get a part.
    pub env: Arc<Environment>,
    /// What they may reach in the sandbox.
    pub sandbox: Arc<Settings>,
}

/// A program as the config names it.
pub struct SpokenProgram<'a> {
    /// The tool that starts it, for refusals.
    pub tool: &'static str,
    /// The program.
    pub command: &'a str,
    /// Its arguments.
    pub args: &'a [String],
    /// What its environment has besides what every command gets.
    pub env: &'a BTreeMap<String, String>,
    /// How it is held, where that is not as commands are.
    pub hold: Option<Mode>,
    /// Folders that it may read besides what its command line names.
    pub reads: &'a [PathBuf],
    /// The folder that it works in, as a model writes it.
    pub cwd: Option<&'a str>,
    /// What it may use.
    pub limits: &'a Limits,
}

/// One that runs.
pub struct Speaker {
    /// Ends it.
    pub life: SpeakerLife,
    /// What it reads.
    pub input: pipe::Sender,
    /// What it writes.
    pub output: pipe::Receiver,
}

/// The life of one that runs. Dropped, it is ended with all that it started.
pub struct SpeakerLife(Arc<SupervisedProcess>);

impl SpokenPrograms {
    /// Returns the folder that a program would work in, with what a call would be refused for refused.
    ///
    /// # Errors
    /// Why it is not started.
    pub fn folder(&self, roots: &Roots, of: &SpokenProgram<'_>) -> Result<WorkFolder, ToolError> {
        self.hold(roots, of)?;
        folder(roots, &rules(of.tool), of.cwd)
    }

    /// Says how it would be held, behind the word `run`.
    pub fn held(&self, roots: &Roots, of: &SpokenProgram<'_>) -> String {
        self.hold(roots, of).map_or_else(|_| String::new(), |hold| hold.shown())
    }

    /// Starts one for a call.
    ///
    /// # Errors
    /// Why not.
    pub async fn start(&self, scope: &Scope, of: &SpokenProgram<'_>) -> Result<Speaker, ToolError> {
        let roots = &scope.roots;
        make_own(roots)?;
        let program = self.program(roots, of)?;
        stands_as_approved(scope, of.tool, &program)?;
        self.begin(roots, of, program, &scope.clock).await
    }

    /// Starts one for no task: it works in a folder of its own, which its roots name, and outlives calls.
    ///
    /// # Errors
    /// Why not.
    pub async fn serve(
        &self,
        roots: &Roots,
        of: &SpokenProgram<'_>,
        clock: &SharedClock,
    ) -> Result<Speaker, ToolError> {
        make_own(roots)?;
        self.begin(roots, of, self.program(roots, of)?, clock).await
    }

    async fn begin(
        &self,
        roots: &Roots,
        of: &SpokenProgram<'_>,
        program: Program,
        clock: &SharedClock,
    ) -> Result<Speaker, ToolError> {
        // What it changes is others'.
        let note = note_program(roots, &program.writes(), clock);
        let note = note.map_err(|error| {
            ToolError::tell(format!("not started, because it cannot be noted: {error}"))
        })?;
        let started = self.processes.start(Program { note, ..program });
        let cannot = |error: io::Error| {
            ToolError::tell(format!("{} cannot be started: {error}", of.command))
        };
        let running = started.map_err(cannot)?;
        let input = running.stdin.lock().await.take();
        let output = locked(&running.stdout).take();
        match (input, output) {
            (Some(input), Some(output)) => {
                Ok(Speaker { life: SpeakerLife(running), input, output })
            }
            _ => Err(cannot(io::Error::other("it has no streams"))),
        }
    }

    fn hold(&self, roots: &Roots, of: &SpokenProgram<'_>) -> Result<Hold, ToolError> {
        match of.hold {
            Some(Mode::Off) => return Ok(Hold::Words(None)),
            Some(Mode::Required) if !roots.confinement.is_in_force() => {
                return Err(ToolError::tell(format!(
                    "{} is only started in the sandbox, and there is none here: {}",
                    of.command,
                    roots.confinement.describe()
                )));
            }
            Some(Mode::Required | Mode::Auto) | None => {}
        }
        // Who writes the config says with the command what it reads.
        let named = [of.command].into_iter().chain(of.args.iter().map(String::as_str));
        let named = named.map(PathBuf::from).filter(|path| path.is_absolute());
        let mut settings = Settings::clone(&self.sandbox);
        settings.read.extend(named);
        settings.read.extend(of.reads.iter().cloned());
        Hold::of(roots, &settings)
    }

    fn program(&self, roots: &Roots, of: &SpokenProgram<'_>) -> Result<Program, ToolError> {
        let folder = folder(roots, &rules(of.tool), of.cwd)?;
        let hold = self.hold(roots, of)?;
        let mut environment = environment(&self.env, &[], &BTreeMap::new())?;
        if let Hold::Sandbox(boundary) = &hold {
            at_home_in_the_sandbox(&mut environment, roots, boundary);
        }
        environment.extend(of.env.iter().map(|(name, value)| (name.clone(), value.clone())));
        let command = match of.command.contains('/') {
            true => of.command.to_owned(),
            false => find_program(&environment, of.command)
                .map(|found| found.to_string_lossy().into_owned())
                .ok_or_else(|| {
                    ToolError::tell(format!("{} cannot be started: it is not found", of.command))
                })?,
        };
        let argv = [command].into_iter().chain(of.args.iter().cloned()).collect();
        Ok(Program {
            argv,
            folder,
            environment: environment.into_iter().collect(),
            limit: None,
            // It can be written to.
            life: Life::Conversation,
            plan: hold.plan(roots, of.limits),
            note: None,
            tape: Tape::ring(),
            is_spoken_with: true,
        })
    }
}

impl SpeakerLife {
    /// Ends it with all that it started, waits until nothing of it is left, and says how it ended: by itself where it does
    /// so within some seconds or has done so, and `is_over`.
    pub async fn end(&self, is_over: bool) -> State {
        if is_over && let Ok(state) = timeout(GRACE, self.0.ended()).await {
            return state;
        }
        self.0.end.cancel();
        self.0.ended().await
    }

    /// Returns the newest of what it has complained about, at most some thousand characters.
    pub fn errors(&self) -> String {
        self.new_errors(&mut 0)
    }

    /// Returns what of it is new since a cursor, which is moved to its end.
    pub fn new_errors(&self, cursor: &mut u64) -> String {
        let since = self.0.tape(|tape| (tape.end() > *cursor).then(|| tape.since(*cursor)));
        since.map_or_else(String::new, |since| {
            *cursor = since.next;
            since.text
        })
    }
}

impl Drop for SpeakerLife {
    fn drop(&mut self) {
        self.0.end.cancel();
    }
}

fn rules(tool: &'static str) -> Rules<'static> {
    Rules { tool, deny_paths: &[], deny_tokens: &[], language: Language::Other }
}
