//! How a started command is held: by a supervisor of our own, or by its group where there is none.

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Mutex;

use rustix::process::{Pid, Signal, kill_process_group};
use selkie_channel_core::locked;
use tokio::process::Command;

use super::state::State;
use super::supervisor::{PLAIN, SUDO, SUPERVISE};

/// Who starts commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Launcher {
    /// The daemon itself. What leaves the command's group is found by its mark alone: for tests of the
    /// library, which are not our binary.
    #[default]
    Direct,
    /// Our binary at this path, as a supervisor that nothing escapes.
    Supervised(PathBuf),
}

/// What reaches a started command.
pub(super) enum ProcessInput {
    Group(Pid),
    /// The line to its supervisor; `None` when it has ended.
    Supervisor(Mutex<Option<UnixStream>>),
}

impl Launcher {
    /// Makes the command that starts a program, and the line to its supervisor.
    pub(super) fn command(
        &self,
        argv: &[String],
        sudo: bool,
        output: OwnedFd,
    ) -> io::Result<(Command, Option<UnixStream>)> {
        let Self::Supervised(binary) = self else {
            let [name, arguments @ ..] = argv else {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program"));
            };
            let mut command = Command::new(name);
            command.args(arguments).stderr(Stdio::from(output.try_clone()?)).kill_on_drop(true);
            command.stdout(Stdio::from(output));
            return Ok((command, None));
        };
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new(binary);
        command
            .arg0("selkie-command")
            .args([SUPERVISE, if sudo { SUDO } else { PLAIN }])
            .args(argv);
        // Dropped, it is not killed: its line ends, and it ends everything.
        command.stdout(Stdio::from(output)).stderr(Stdio::from(OwnedFd::from(theirs)));
        Ok((command, Some(ours)))
    }
}

impl ProcessInput {
    /// Holds what was started as `leader`.
    pub(super) fn new(leader: Pid, control: Option<UnixStream>) -> Self {
        match control {
            Some(control) => Self::Supervisor(Mutex::new(Some(control))),
            None => Self::Group(leader),
        }
    }

    /// Sends a signal to the command's group; whether anybody may have been there.
    pub(super) fn signal(&self, signal: Signal) -> bool {
        match self {
            Self::Group(leader) => kill_process_group(*leader, signal).is_ok(),
            Self::Supervisor(control) => {
                let control = locked(control);
                let byte = u8::try_from(signal.as_raw()).unwrap_or_default();
                control.as_ref().is_some_and(|mut line| line.write_all(&[byte]).is_ok())
            }
        }
    }

    /// Ends the command and all that it started.
    pub(super) fn end(&self) {
        match self {
            Self::Group(_) => drop(self.signal(Signal::KILL)),
            Self::Supervisor(control) => {
                let control = locked(control);
                // One that is gone has ended everything.
                control.as_ref().map(|line| line.shutdown(Shutdown::Write).ok());
            }
        }
    }

    /// Returns how the command ended, as its supervisor says; to be asked once, when that has ended.
    /// `None` where there is none, or when somebody killed it.
    pub(super) fn report(&self) -> Option<Result<State, String>> {
        let Self::Supervisor(control) = self else { return None };
        let control = locked(control).take();
        let mut text = String::new();
        // What was written before the line broke counts.
        control?.read_to_string(&mut text).ok();
        read_report(text.trim())
    }

    /// Whether a supervisor holds it.
    pub(super) fn is_supervised(&self) -> bool {
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
