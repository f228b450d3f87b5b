//! One command from its start to its end: one pipe for all it prints, and nothing of it left behind.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use selkie_channel_core::locked;
use selkie_sandbox::{ControlLine, Launch, Launcher, Life, Plan, State, Streams};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::tape::Tape;
use crate::basis::WorkFolder;
use crate::paths::OpenRun;

/// How long a group has between being asked to end and being ended.
pub(super) const GRACE: Duration = Duration::from_secs(2);
/// How long output may still come after everything was ended.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// The exit code of what cannot be started, as shells have it.
const NOT_STARTED: i32 = 127;
/// Bytes of one read.
const PIECE: usize = 16 * 1024;

/// What is to be run.
pub(super) struct Program {
    /// The program and its arguments.
    pub(super) argv: Vec<String>,
    /// The command is run in this very folder.
    pub(super) folder: WorkFolder,
    pub(super) environment: Vec<(String, String)>,
    /// Not longer than this.
    pub(super) limit: Option<Duration>,
    /// How long it may live. What outlives its call can be written to.
    pub(super) life: Life,
    /// How it is held.
    pub(super) plan: Plan,
    /// Says that it runs, to those who read what it writes.
    pub(super) note: Option<OpenRun>,
    /// What is kept of its output.
    pub(super) tape: Tape,
    /// Who started it reads its standard output, and the tape has its errors alone.
    pub(super) is_spoken_with: bool,
}

impl Program {
    /// Returns the folders that it may write in: what nothing else holds back may write wherever this user may.
    pub(super) fn writes(&self) -> Vec<PathBuf> {
        let anywhere = || vec![PathBuf::from("/")];
        self.plan.boundary.as_ref().map_or_else(anywhere, |boundary| boundary.writes.clone())
    }
}

/// A process that was started.
pub(super) struct SupervisedProcess {
    /// The process that we started: the command, or its supervisor.
    pub(super) leader: Pid,
    held: ControlLine,
    pub(super) stdin: tokio::sync::Mutex<Option<pipe::Sender>>,
    /// What it writes, where that is read by who started it.
    pub(super) stdout: Mutex<Option<pipe::Receiver>>,
    tape: Mutex<Tape>,
    /// State, and how much has been printed: watchers wake at either.
    news: watch::Sender<(State, u64)>,
    /// Say that it runs, until nothing of it is left.
    pub(super) notes: Mutex<Vec<OpenRun>>,
    /// Where it may write.
    pub(super) writes: Vec<PathBuf>,
    /// Asks it to end.
    pub(super) end: CancellationToken,
}

/// The part that has to be driven.
pub(super) struct Body {
    child: Child,
    output: pipe::Receiver,
    limit: Option<Duration>,
}

impl SupervisedProcess {
    /// Starts a program in a group of its own. `end` asks it to end.
    pub(super) fn start(
        program: Program,
        launcher: &Launcher,
        end: CancellationToken,
    ) -> io::Result<(Self, Body)> {
        let writes = program.writes();
        let (reader, writer) = io::pipe()?;
        let output = OwnedFd::from(writer);
        let mut streams = Streams { errors: output.try_clone()?, output, ..Streams::null()? };
        let stdin = match program.life {
            Life::Call => None,
            Life::Conversation | Life::Daemon => {
                let (theirs, ours) = io::pipe()?;
                streams.input = OwnedFd::from(theirs);
                Some(pipe::Sender::from_owned_fd(OwnedFd::from(ours))?)
            }
        };
        let mut stdout = None;
        if program.is_spoken_with {
            let (ours, theirs) = io::pipe()?;
            streams.output = OwnedFd::from(theirs);
            stdout = Some(pipe::Receiver::from_owned_fd(OwnedFd::from(ours))?);
        }
        let launch = Launch { argv: &program.argv, plan: &program.plan, streams };
        let (mut command, control) = launcher.command(launch)?;
        command.current_dir(program.folder.way()?).env_clear().envs(program.environment);
        let child = command.spawn()?;
        // The command holds our ends of the pipe: without them gone, no end of output would come.
        drop(command);
        let leader = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let leader = leader.ok_or_else(|| io::Error::other("a process without a number"))?;
        let output = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
        let running = Self {
            leader,
            held: ControlLine::new(leader, control),
            stdin: tokio::sync::Mutex::new(stdin),
            stdout: Mutex::new(stdout),
            tape: Mutex::new(program.tape),
            news: watch::Sender::new((State::Running, 0)),
            notes: Mutex::new(program.note.into_iter().collect()),
            writes,
            end,
        };
        Ok((running, Body { child, output, limit: program.limit }))
    }

    /// Returns how it stands.
    pub(super) fn state(&self) -> State {
        self.news.borrow().0
    }

    /// Hears of new output and of the end.
    pub(super) fn news(&self) -> watch::Receiver<(State, u64)> {
        self.news.subscribe()
    }

    /// Looks at what it printed.
    pub(super) fn tape<T>(&self, look: impl FnOnce(&Tape) -> T) -> T {
        look(&locked(&self.tape))
    }

    /// Waits for its end.
    pub(super) async fn ended(&self) -> State {
        let mut news = self.news();
        match news.wait_for(|(state, _)| *state != State::Running).await {
            Ok(news) => news.0,
            Err(_) => self.state(),
        }
    }

    /// Drives it to its end, and says how it ended once nothing more will be printed. Returns whether
    /// something of it may be left: its supervisor was killed.
    pub(super) async fn drive(&self, mut body: Body) -> bool {
        let deadline = body.limit.map(|limit| Instant::now() + limit);
        let mut open = true;
        let mut status = None;
        let asked = loop {
            tokio::select! {
                more = self.read(&mut body.output), if open => open = more,
                done = body.child.wait() => {
                    status = done.ok();
                    break None;
                }
                () = until(deadline) => break Some(State::TimedOut),
                () = self.end.cancelled() => break Some(State::Stopped),
            }
        };
        if asked.is_some() {
            self.signal(Signal::TERM);
            let ended = timeout(GRACE, self.rest(&mut body, &mut open, &mut status)).await;
            let leader = self.leader.as_raw_pid();
            tracing::debug!(leader, in_grace = ended.is_ok(), "a command was ended");
        }
        // What its leader leaves behind does not go on without it.
        self.held.end();
        timeout(LAST_WORDS, self.rest(&mut body, &mut open, &mut status)).await.ok();
        let (ended, lost) = self.how(status);
        locked(&self.tape).close();
        // Who speaks with it takes its streams, however soon it has ended: the input first.
        if locked(&self.stdout).is_none() {
            self.stdin.lock().await.take();
        }
        if !lost {
            locked(&self.notes).clear();
        }
        self.news.send_modify(|news| news.0 = asked.unwrap_or(ended));
        lost
    }

    /// How it ended, as its supervisor says or as the system does, and whether something may be left of it.
    fn how(&self, status: Option<std::process::ExitStatus>) -> (State, bool) {
        match self.held.report() {
            Some(Ok(state)) => (state, false),
            Some(Err(why)) => {
                let words = format!("the command cannot be started: {why}\n");
                locked(&self.tape).push(words.as_bytes());
                (State::Exited(NOT_STARTED), false)
            }
            None => (status.map_or(State::Stopped, state_of), self.is_supervised()),
        }
    }

    /// Sends a signal to the whole group; whether anybody was there.
    pub(super) fn signal(&self, signal: Signal) -> bool {
        self.held.signal(signal)
    }

    /// Whether a supervisor holds it.
    pub(super) fn is_supervised(&self) -> bool {
        self.held.is_supervised()
    }

    /// Waits until the leader is gone and nobody can print any more.
    async fn rest(
        &self,
        body: &mut Body,
        open: &mut bool,
        status: &mut Option<std::process::ExitStatus>,
    ) {
        while *open || status.is_none() {
            tokio::select! {
                more = self.read(&mut body.output), if *open => *open = more,
                done = body.child.wait(), if status.is_none() => match done {
                    Ok(done) => *status = Some(done),
                    Err(_) => return,
                },
            }
        }
    }

    /// Reads a piece; whether more may come.
    async fn read(&self, output: &mut pipe::Receiver) -> bool {
        let mut piece = [0; PIECE];
        match output.read(&mut piece).await {
            Ok(0) | Err(_) => false,
            Ok(read) => {
                let mut tape = locked(&self.tape);
                tape.push(&piece[..read]);
                let end = tape.end();
                drop(tape);
                self.news.send_modify(|news| news.1 = end);
                true
            }
        }
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn state_of(status: std::process::ExitStatus) -> State {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => State::Exited(code),
        (None, Some(signal)) => State::Killed(signal),
        (None, None) => State::Stopped,
    }
}
