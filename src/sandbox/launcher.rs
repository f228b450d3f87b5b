//! Who starts programs, and the line by which a started one is held.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use selkie_channel_core::locked;
use tokio::process::Command;

use crate::boundary::Boundary;
use crate::plan::Plan;
use crate::reach::Reach;
use crate::state::State;
use crate::streams::Streams;
use crate::supervisor::SUPERVISE;

/// How long this machine may take to say what its sandbox reaches.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Who starts programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Launcher {
    /// The daemon itself. What leaves the program's group is found by its mark alone, and there is no sandbox: for tests
    /// of the library, which are not our binary.
    #[default]
    Direct,
    /// Our binary at this path, as a supervisor that nothing escapes.
    Supervised(PathBuf),
}

/// How long a program may live. It ends with what it was started for, and with the daemon in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// As long as the call that started it.
    Call,
    /// As long as the conversation keeps it.
    Conversation,
    /// As long as the daemon.
    Daemon,
}

/// What is to be started.
pub struct Launch<'a> {
    /// The program and its arguments.
    pub argv: &'a [String],
    /// How it is held.
    pub plan: &'a Plan,
    /// Its streams.
    pub streams: Streams,
}

/// What reaches a started program.
pub enum ControlLine {
    /// Its process group, where nobody supervises it.
    Group(Pid),
    /// The line to its supervisor; `None` when it has ended.
    Supervisor(Mutex<Option<UnixStream>>),
}

impl Launcher {
    /// Makes the command that starts a program, and the line to its supervisor. Its folder and environment are the
    /// caller's to set; the supervisor takes them over.
    ///
    /// # Errors
    /// There is no program, or the line cannot be made.
    pub fn command(&self, launch: Launch<'_>) -> io::Result<(Command, Option<UnixStream>)> {
        let Launch { argv, plan, streams } = launch;
        let [name, arguments @ ..] = argv else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program"));
        };
        let Self::Supervised(binary) = self else {
            let Streams { input, output, errors } = streams;
            let mut command = Command::new(name);
            command.args(arguments).kill_on_drop(true).process_group(0);
            command.stdin(Stdio::from(input));
            command.stdout(Stdio::from(output)).stderr(Stdio::from(errors));
            return Ok((command, None));
        };
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        plan.send(&ours, &streams).map_err(io::Error::other)?;
        let mut command = Command::new(binary);
        command.arg0("selkie-command").arg(SUPERVISE).args(argv).process_group(0);
        // Dropped, it is not killed: its line ends, and it ends everything.
        command.stdin(Stdio::from(OwnedFd::from(theirs)));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Ok((command, Some(ours)))
    }

    /// Finds out what the sandbox reaches on this machine: nothing where nobody supervises. Waits for a process.
    pub fn reach(&self) -> Reach {
        match self {
            Self::Direct => Reach::default(),
            Self::Supervised(binary) => probe(binary).unwrap_or_default(),
        }
    }
}

/// Starts a supervisor without a program, which tries the sandbox on itself.
fn probe(binary: &Path) -> io::Result<Reach> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_read_timeout(Some(PROBE_TIMEOUT))?;
    let plan = Plan { boundary: Some(Boundary::default()), ..Plan::default() };
    plan.send(&ours, &Streams::null()?).map_err(io::Error::other)?;
    let mut command = std::process::Command::new(binary);
    command.arg0("selkie-command").arg(SUPERVISE).env_clear();
    command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    drop(command);
    let mut line = String::new();
    let read = BufReader::new((&ours).take(256)).read_line(&mut line);
    child.kill().ok();
    child.wait()?;
    read?;
    let reach = line.strip_prefix("reach ").ok_or(io::ErrorKind::InvalidData)?;
    Ok(serde_json::from_str(reach)?)
}

impl ControlLine {
    /// Holds what was started as `leader`.
    pub fn new(leader: Pid, control: Option<UnixStream>) -> Self {
        match control {
            Some(control) => Self::Supervisor(Mutex::new(Some(control))),
            None => Self::Group(leader),
        }
    }

    /// Sends a signal to the program's group; whether anybody may have been there.
    pub fn signal(&self, signal: Signal) -> bool {
        match self {
            Self::Group(leader) => kill_process_group(*leader, signal).is_ok(),
            Self::Supervisor(control) => {
                let control = locked(control);
                let byte = u8::try_from(signal.as_raw()).unwrap_or_default();
                control.as_ref().is_some_and(|mut line| line.write_all(&[byte]).is_ok())
            }
        }
    }

    /// Ends the program and all that it started.
    pub fn end(&self) {
        match self {
            Self::Group(_) => drop(self.signal(Signal::KILL)),
            Self::Supervisor(control) => {
                let control = locked(control);
                // One that is gone has ended everything.
                control.as_ref().map(|line| line.shutdown(Shutdown::Write).ok());
            }
        }
    }

    /// Returns how the program ended, as its supervisor says; to be asked once, when that has ended.
    /// `None` where there is none, or when somebody killed it.
    pub fn report(&self) -> Option<Result<State, String>> {
        let Self::Supervisor(control) = self else { return None };
        let control = locked(control).take();
        let mut text = String::new();
        // What was written before the line broke counts.
        control?.read_to_string(&mut text).ok();
        read_report(text.trim())
    }

    /// Whether a supervisor holds it.
    pub fn is_supervised(&self) -> bool {
        matches!(self, Self::Supervisor(_))
    }
}

fn read_report(text: &str) -> Option<Result<State, String>> {
    let (kind, rest) = text.split_once(' ')?;
    match kind {
        "code" => Some(Ok(State::Exited(rest.parse().ok()?))),
        "signal" => Some(Ok(State::Killed(rest.parse().ok()?))),
        "failed" => Some(Err(rest.to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_how_a_command_ended() {
        assert_eq!(read_report("code 3"), Some(Ok(State::Exited(3))));
        assert_eq!(read_report("signal 9"), Some(Ok(State::Killed(9))));
        assert_eq!(read_report("failed no such file"), Some(Err("no such file".to_owned())));
        for nothing in ["", "code", "code x", "word 1"] {
            assert_eq!(read_report(nothing), None, "{nothing}");
        }
    }
}
