//! A program that the config names and selkie runs for itself: held like a command, and what it writes is read whole.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Pid;
use selkie_sandbox::{
    Boundary, ControlLine, Launch, Limits, Machine, Plan, Policy, Settings, State, Streams,
};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::time::timeout;

/// Where programs are looked for.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What is to be run.
pub struct OwnProgram<'a> {
    /// The program and its arguments.
    pub argv: &'a [String],
    /// What it reads from its standard input.
    pub input: Option<File>,
    /// The only folder that it may write in; it is run there.
    pub folder: &'a Path,
    /// What its environment has besides the usual.
    pub env: &'a BTreeMap<String, String>,
    /// How long it may take.
    pub limit: Duration,
    /// Bytes that it may write to its standard output; what it writes elsewhere is dropped.
    pub most: usize,
}

/// How such programs are held: without the network, and they read what the config's `sandbox` and their own arguments name.
#[derive(Clone, Default)]
pub struct OwnPrograms {
    /// The machine that runs them.
    pub machine: Arc<Machine>,
    /// Whether they are held.
    pub policy: Policy,
    /// What commands may read.
    pub settings: Settings,
    /// The bot's own.
    pub closed: Vec<PathBuf>,
}

/// Why there is no output.
#[derive(Debug, thiserror::Error)]
pub enum OwnProgramError {
    /// It cannot be started, or may not.
    #[error("{0} cannot be started: {1}")]
    NotStarted(String, String),
    /// It did not end in time.
    #[error("{0} did not end in time")]
    Late(String),
    /// It ended badly, or wrote too much.
    #[error("{0} {1}")]
    Failed(String, String),
}

impl OwnPrograms {
    /// Runs one and returns what it writes. Dropped, it ends it.
    ///
    /// # Errors
    /// See [`OwnProgramError`].
    pub async fn output(&self, program: OwnProgram<'_>) -> Result<Vec<u8>, OwnProgramError> {
        let name = program.argv.first().cloned().unwrap_or_default();
        let started = self
            .start(&program)
            .map_err(|error| OwnProgramError::NotStarted(name.clone(), error.to_string()))?;
        let Ok(ended) = timeout(program.limit, started.ended(program.most)).await else {
            return Err(OwnProgramError::Late(name));
        };
        match ended {
            Ok((_, bytes)) if bytes.len() > program.most => {
                Err(OwnProgramError::Failed(name, "writes too much".to_owned()))
            }
            Ok((Ok(State::Exited(0)), bytes)) => Ok(bytes),
            Ok((Ok(state), _)) => Err(OwnProgramError::Failed(name, state.to_string())),
            Ok((Err(why), _)) => Err(OwnProgramError::NotStarted(name, why)),
            Err(error) => Err(OwnProgramError::Failed(name, error.to_string())),
        }
    }

    fn start(&self, program: &OwnProgram<'_>) -> io::Result<RunningProgram> {
        let plan = self.plan(program)?;
        let (reader, writer) = io::pipe()?;
        let mut streams = Streams { output: OwnedFd::from(writer), ..Streams::null()? };
        if let Some(input) = &program.input {
            streams.input = input.try_clone()?.into();
        }
        let launch = Launch { argv: program.argv, plan: &plan, streams };
        let (mut command, control) = self.machine.launcher().command(launch)?;
        let home = program.folder.as_os_str();
        command.current_dir(program.folder).env_clear().env("PATH", PATH);
        command.env("HOME", home).env("TMPDIR", home).env("LANG", "C.UTF-8");
        command.envs(program.env);
        let child = command.spawn()?;
        // The command holds our ends of the pipe: without them gone, no end of output would come.
        drop(command);
        let leader = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let leader = leader.ok_or_else(|| io::Error::other("a process without a number"))?;
        let output = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
        Ok(RunningProgram { child, line: ControlLine::new(leader, control), output })
    }

    fn plan(&self, program: &OwnProgram<'_>) -> io::Result<Plan> {
        let confinement = self.policy.of(false, |_| false);
        if confinement.is_missing() {
            return Err(io::Error::other(confinement.describe()));
        }
        let plan = Plan { limits: Limits::default(), least: confinement.reach, boundary: None };
        if !confinement.is_in_force() {
            return Ok(plan);
        }
        // Who writes the config says with the command what it reads: the program, and its model.
        let named = program.argv.iter().map(PathBuf::from).filter(|path| path.is_absolute());
        let mut settings = Settings { write: Vec::new(), ..self.settings.clone() };
        settings.read.extend(named);
        let writes = vec![program.folder.to_owned()];
        let boundary = Boundary::new(&settings, writes, self.closed.clone(), false);
        let boundary = boundary.map_err(io::Error::other)?;
        Ok(Plan { boundary: Some(boundary), ..plan })
    }
}

/// One that runs.
struct RunningProgram {
    child: tokio::process::Child,
    line: ControlLine,
    output: pipe::Receiver,
}

impl RunningProgram {
    /// Waits for its end: how it ended, and what it wrote, a byte more than `most` at most.
    async fn ended(mut self, most: usize) -> io::Result<(Result<State, String>, Vec<u8>)> {
        let mut bytes = Vec::new();
        (&mut self.output).take(most as u64 + 1).read_to_end(&mut bytes).await?;
        if bytes.len() > most {
            self.line.end();
            return Ok((Ok(State::Stopped), bytes));
        }
        let status = self.child.wait().await?;
        self.line.end();
        let state = status.code().map_or(State::Stopped, State::Exited);
        Ok((self.line.report().unwrap_or(Ok(state)), bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn ran(script: &str, limit: Duration) -> String {
        output(&["sh", "-c", script], limit).await
    }

    async fn output(argv: &[&str], limit: Duration) -> String {
        let folder = tempfile::tempdir().unwrap();
        let programs = OwnPrograms::default();
        let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
        let program = OwnProgram {
            argv: &argv,
            input: None,
            folder: folder.path(),
            env: &BTreeMap::new(),
            limit,
            most: 10,
        };
        match programs.output(program).await {
            Ok(bytes) => String::from_utf8(bytes).unwrap(),
            Err(error) => error.to_string(),
        }
    }

    #[tokio::test]
    async fn its_standard_output_is_read_and_nothing_else() {
        let long = Duration::from_secs(60);
        assert_eq!(ran("echo noise >&2; echo words", long).await, "words\n");
        assert_eq!(ran("echo words; exit 3", long).await, "sh ended with exit code 3");
        assert_eq!(ran("yes", long).await, "sh writes too much");
        assert_eq!(ran("sleep 60", Duration::from_millis(50)).await, "sh did not end in time");
    }

    #[tokio::test]
    async fn one_that_is_not_there_is_said() {
        let why = output(&["/no/such/program"], Duration::from_secs(60)).await;
        assert!(why.starts_with("/no/such/program cannot be started: "), "{why}");
    }
}
