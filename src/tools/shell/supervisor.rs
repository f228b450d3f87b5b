//! The process between the daemon and one command: nothing that the command starts outlives it.
//!
//! It is our own binary, started again. As the subreaper of all that the command starts, it is the parent of
//! what leaves its group or its session, and it ends all of it: when the command has ended, when the daemon
//! says so, and when the daemon is gone, however it went. Its standard error is the line to the daemon:
//! a byte from there is a signal for the command, the line's end is the end of everything. Its report goes
//! the other way: `code 3`, `signal 9`, `failed No such file or directory`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group,
    set_child_subreaper, set_dumpable_behavior, wait,
};
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set, set_no_new_privs};
use selkie_channel_core::locked;

/// The word by which our binary becomes a supervisor.
pub const SUPERVISE: &str = "supervise-command";
/// The word that lets set-uid programs work.
pub(super) const SUDO: &str = "sudo";
/// The word where nothing is said.
pub(super) const PLAIN: &str = "plain";

/// How long what cannot be ended is waited for.
const STUBBORN: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Becomes the supervisor of a command when the line says so: `supervise-command plain sh -c …`.
pub fn supervised(line: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut line = line.into_iter().skip(1);
    if line.next()? != SUPERVISE {
        return None;
    }
    let privileges = line.next().unwrap_or_default();
    let program: Vec<OsString> = line.collect();
    let control = io::stderr().as_fd().try_clone_to_owned().map(UnixStream::from);
    let Ok(control) = control else { return Some(ExitCode::FAILURE) };
    let report = match supervise(&program, privileges == SUDO, &control) {
        Ok(report) => report,
        Err(error) => format!("failed {error}"),
    };
    // A daemon that is gone needs no report.
    (&control).write_all(report.as_bytes()).ok();
    Some(ExitCode::SUCCESS)
}

/// Runs a program to its end and ends all that it leaves.
fn supervise(program: &[OsString], sudo: bool, control: &UnixStream) -> io::Result<String> {
    let [name, arguments @ ..] = program else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program"));
    };
    set_child_subreaper(Some(getpid()))?;
    confine(sudo)?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let mut command = Command::new(name);
    command.args(arguments).process_group(0).stderr(Stdio::from(output));
    let child = command.spawn()?;
    drop(command);
    let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let leader = leader.ok_or_else(|| io::Error::other("a process without a number"))?;
    let_go()?;
    let running = Mutex::new(Some(leader));
    thread::scope(|scope| {
        scope.spawn(|| obey(control, &running));
        let report = until_the_end(leader, &running);
        // The other thread waits for words of the daemon; there is nothing to say any more.
        control.shutdown(std::net::Shutdown::Read).ok();
        report
    })
}

/// Takes from this thread, and so from the command, what no command needs.
fn confine(sudo: bool) -> io::Result<()> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    if sudo {
        return Ok(());
    }
    // Root's commands could still look into the daemon; nobody else has these rights, nor may drop them.
    for right in [CapabilitySet::SYS_PTRACE, CapabilitySet::PERFMON, CapabilitySet::SYS_ADMIN] {
        remove_capability_from_bounding_set(right).ok();
    }
    set_no_new_privs(true)?;
    Ok(())
}

/// Gives up the command's input and output: their ends belong to the command alone.
fn let_go() -> io::Result<()> {
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok(())
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
fn until_the_end(leader: Pid, running: &Mutex<Option<Pid>>) -> io::Result<String> {
    let report = loop {
        // Any child: what lost its parent is ours, and nobody else takes its end.
        let (pid, status) = match wait(WaitOptions::empty()) {
            Ok(Some(ended)) => ended,
            Ok(None) | Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
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

/// The living processes that descend from one, without itself.
pub(super) fn descendants(of: i32) -> Vec<i32> {
    let mut families = families();
    let (mut all, mut next) = (Vec::new(), vec![of]);
    while let Some(parent) = next.pop() {
        let born = families.remove(&parent).unwrap_or_default();
        next.extend(&born);
        all.extend(born);
    }
    all
}

/// The living children of a process.
pub(super) fn children(of: i32) -> Vec<i32> {
    families().remove(&of).unwrap_or_default()
}

/// Every living process by its parent.
fn families() -> BTreeMap<i32, Vec<i32>> {
    let mut families: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if let Some(parent) = living_parent(pid) {
            families.entry(parent).or_default().push(pid);
        }
    }
    families
}

/// The parent of a process that is not dead yet: field 4 of its `stat`, behind the name in brackets.
fn living_parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    fields.next().filter(|_| !matches!(state, "Z" | "X"))?.parse().ok()
}
