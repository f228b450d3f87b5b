//! The process between the daemon and one program: nothing that the program starts outlives it.
//!
//! It is our own binary, started again. As the subreaper of all that the program starts, it is the parent of
//! what leaves its group or its session, and it ends all of it: when the program has ended, when the daemon
//! says so, and when the daemon is gone, however it went. Its standard input is the control line: the daemon's [`Plan`]
//! with the program's own streams comes first, then a byte is a signal for the program, and the line's end is the end of
//! everything. Its report goes the other way: `code 3`, `signal 9`, `failed No such file or directory`.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group,
    set_child_subreaper, set_dumpable_behavior, wait,
};
use selkie_channel_core::locked;

use crate::error::SandboxError;
use crate::family::descendants;
use crate::kernel;
use crate::plan::Plan;
use crate::stage;
use crate::streams::Streams;

/// The word by which our binary becomes a supervisor.
pub const SUPERVISE: &str = "supervise-command";

/// How long what cannot be ended is waited for.
const STUBBORN: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// Bytes of the stack of our threads: they do little, and memory is limited.
const STACK: usize = 256 * 1024;

/// Becomes the supervisor of a program when the line says so: `supervise-command sh -c …`. Without a program it says what
/// this machine's sandbox reaches.
pub fn supervised(line: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut line = line.into_iter().skip(1);
    if line.next()? != SUPERVISE {
        return None;
    }
    let program: Vec<OsString> = line.collect();
    kernel::close_on_exec();
    let control = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    let Ok(control) = control else { return Some(ExitCode::FAILURE) };
    let report = match supervise(&program, &control) {
        Ok(report) => report,
        Err(error) => format!("failed {error}"),
    };
    // A daemon that is gone needs no report.
    (&control).write_all(report.as_bytes()).ok();
    Some(ExitCode::SUCCESS)
}

/// Runs a program to its end and ends all that it leaves.
fn supervise(program: &[OsString], control: &UnixStream) -> Result<String, SandboxError> {
    // Before anything of the program is there to be looked for.
    set_child_subreaper(Some(getpid())).map_err(io::Error::from)?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(io::Error::from)?;
    let (plan, streams) = Plan::receive(control)?;
    let Some(command) = command(program, streams) else {
        return Ok(format!("reach {}", reached(&plan)?));
    };
    let running = Mutex::new(None);
    let (started, starts) = mpsc::channel();
    thread::scope(|scope| {
        // Gone with this function, whatever comes: the other thread would wait for it.
        let started = started;
        // Before the limits, which hold for us, too.
        let leads = &running;
        let obeys = move || starts.recv().is_ok().then(|| obey(control, leads));
        small().spawn_scoped(scope, obeys)?;
        let start = || stage::start(&plan, command);
        let child = small().spawn_scoped(scope, start)?.join();
        let child = child.map_err(|_| io::Error::other("the start failed"))??;
        let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let leader = leader.ok_or_else(|| io::Error::other("a process without a number"))?;
        *locked(&running) = Some(leader);
        started.send(()).ok();
        let report = until_the_end(leader, &running);
        // The other thread waits for words of the daemon; there is nothing to say any more.
        control.shutdown(std::net::Shutdown::Read).ok();
        report
    })
}

fn small() -> thread::Builder {
    thread::Builder::new().stack_size(STACK)
}

/// What the line says is to be run; its streams are the program's alone from here on.
fn command(program: &[OsString], streams: Streams) -> Option<Command> {
    let [name, arguments @ ..] = program else { return None };
    let mut command = Command::new(name);
    command
        .args(arguments)
        .process_group(0)
        .stdin(Stdio::from(streams.input))
        .stdout(Stdio::from(streams.output))
        .stderr(Stdio::from(streams.errors));
    Some(command)
}

/// Tries on a thread of its own what this machine's sandbox reaches.
fn reached(plan: &Plan) -> Result<String, SandboxError> {
    let held = thread::scope(|scope| {
        let tried = small().spawn_scoped(scope, || stage::hold(plan))?.join();
        tried.map_err(|_| io::Error::other("the try failed"))?
    })?;
    serde_json::to_string(&held).map_err(|error| SandboxError::Plan(error.to_string()))
}

/// Signals the command as the daemon says; ends everything when it says no more.
fn obey(mut control: &UnixStream, running: &Mutex<Option<Pid>>) {
    let mut byte = [0];
    loop {
        match control.read(&mut byte) {
            Ok(1) => {
                let leader = locked(running);
                let signal = Signal::from_named_raw(i32::from(byte[0]));
                if let (Some(leader), Some(signal)) = (*leader, signal) {
                    kill_process_group(leader, signal).ok();
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => break,
        }
    }
    if locked(running).is_some() {
        end_all();
    }
}

/// Waits for the command, ends what it left, and says how it ended.
fn until_the_end(leader: Pid, running: &Mutex<Option<Pid>>) -> Result<String, SandboxError> {
    let report = loop {
        // Any child: what lost its parent is ours, and nobody else takes its end.
        let (pid, status) = match wait(WaitOptions::empty()) {
            Ok(Some(ended)) => ended,
            Ok(None) | Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(io::Error::from(error).into()),
        };
        if pid == leader {
            locked(running).take();
            break match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => format!("code {code}\n"),
                (None, signal) => format!("signal {}\n", signal.unwrap_or_default()),
            };
        }
    };
    kill_process_group(leader, Signal::KILL).ok();
    let since = Instant::now();
    // No children, no descendants: all that lost its parent is our child.
    while wait(WaitOptions::NOHANG).is_ok() && since.elapsed() < STUBBORN {
        end_all();
    }
    Ok(report)
}

/// Ends all that descends from us. What multiplies is held first, so that nothing is left behind.
fn end_all() {
    let since = Instant::now();
    let mut held = Vec::new();
    while since.elapsed() < STUBBORN {
        let all = descendants(getpid().as_raw_pid());
        if all.is_empty() {
            return;
        }
        let new: Vec<i32> = all.iter().copied().filter(|pid| !held.contains(pid)).collect();
        let signal = if new.is_empty() { Signal::KILL } else { Signal::STOP };
        for pid in if new.is_empty() { &all } else { &new } {
            if let Some(pid) = Pid::from_raw(*pid) {
                kill_process(pid, signal).ok();
            }
        }
        match new.is_empty() {
            true => thread::sleep(LOOK_AGAIN),
            false => held.extend(new),
        }
    }
    // Held ones must not stay so.
    for pid in descendants(getpid().as_raw_pid()).into_iter().filter_map(Pid::from_raw) {
        kill_process(pid, Signal::KILL).ok();
    }
}
