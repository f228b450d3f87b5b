//! Processes that outlived a daemon: what runs is recorded in the state folder, and the next start ends
//! what is still there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::process::{
    Pid, Signal, WaitOptions, getpgid, getpid, kill_process, kill_process_group, waitpid,
};
use selkie_sandbox::{children, descendants};
use serde::{Deserialize, Serialize};

use super::environment::MARK;

/// How often strays are looked for: ending one makes orphans of its children.
const MAX_SWEEPS: usize = 64;

/// The record of one daemon's processes.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    /// Version of this layout.
    v: u16,
    /// Every process of that daemon carries a mark that begins so.
    boot: String,
    /// Something was started at all: otherwise nothing can have outlived that daemon, and nobody is looked at.
    #[serde(default = "unknown")]
    has_started: bool,
    /// Group leaders and when the kernel started them, in its ticks.
    running: BTreeMap<i32, u64>,
}

/// Records of earlier versions do not say whether something was started.
const fn unknown() -> bool {
    true
}

/// Where and as whom a daemon records.
#[derive(Debug)]
pub(super) struct Records {
    path: PathBuf,
    record: Record,
}

impl Records {
    /// Ends what an earlier daemon left, then begins a record of this boot. To be called while the
    /// store's lock is held: no other daemon works on this folder.
    pub(super) fn begin(path: PathBuf, boot: String) -> (Self, usize) {
        let ended =
            fs::read(&path).ok().and_then(|b| serde_json::from_slice(&b).ok()).map_or(0, end);
        let record = Record { v: 1, boot, has_started: false, running: BTreeMap::new() };
        let records = Self { path, record };
        records.write();
        (records, ended)
    }

    /// Notes that something is about to be started: from then on the next start looks for what was left.
    pub(super) fn starting(&mut self) {
        if !std::mem::replace(&mut self.record.has_started, true) {
            self.write();
        }
    }

    /// Records a started process.
    pub(super) fn started(&mut self, pid: Pid) {
        self.record.running.insert(pid.as_raw_pid(), start_ticks(pid.as_raw_pid()).unwrap_or(0));
        self.write();
    }

    /// Forgets an ended one.
    pub(super) fn ended(&mut self, pid: Pid) {
        if self.record.running.remove(&pid.as_raw_pid()).is_some() {
            self.write();
        }
    }

    fn write(&self) {
        if let Err(error) = self.try_write() {
            let path = self.path.display();
            tracing::warn!(%path, %error, "running processes are not recorded: after a crash they would go on");
        }
    }

    /// Not synced: what loses unsynced files ends processes, too.
    fn try_write(&self) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let new = self.path.with_extension("new");
        let mut options = fs::OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(&serde_json::to_vec(&self.record)?)?;
        fs::rename(&new, &self.path)
    }
}

/// Ends every process that carries a mark: those that left their group, too. Returns how many.
pub(super) fn sweep(mark: &str) -> usize {
    let wanted = format!("{MARK}={mark}");
    let marked = processes().filter(|pid| carries(*pid, &wanted));
    marked.filter_map(Pid::from_raw).filter(|pid| kill_process(*pid, Signal::KILL).is_ok()).count()
}

/// Ends our children that we did not start, with all below them: orphans of a supervisor that was killed.
/// Returns how many.
pub(super) fn sweep_adopted(known: &BTreeSet<i32>) -> usize {
    let us = getpid().as_raw_pid();
    let mut ended = 0;
    for _ in 0..MAX_SWEEPS {
        let strays: Vec<i32> = children(us)
            .into_iter()
            .filter(|pid| !known.contains(pid) && !is_our_binary(*pid))
            .collect();
        if strays.is_empty() {
            break;
        }
        for stray in strays {
            let all = descendants(stray).into_iter().chain([stray]);
            ended += all
                .filter_map(Pid::from_raw)
                .filter(|pid| kill_process(*pid, Signal::KILL).is_ok())
                .count();
            // Taken, or it would stay as a dead entry for as long as we live.
            Pid::from_raw(stray).map(|pid| waitpid(Some(pid), WaitOptions::empty()));
        }
    }
    ended
}

/// Whether a process runs our own binary: a supervisor, or work that we do in a process of its own.
fn is_our_binary(pid: i32) -> bool {
    let binary = |whose: &str| fs::metadata(format!("/proc/{whose}/exe")).ok();
    let (Some(ours), Some(theirs)) = (binary("self"), binary(&pid.to_string())) else {
        return false;
    };
    (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino())
}

/// Ends what a record names. A number may be another's by now: the start time or the mark must agree.
fn end(record: Record) -> usize {
    let ours = |pid: i32, started: u64| started != 0 && start_ticks(pid) == Some(started);
    let mut ended = 0;
    for (raw, started) in &record.running {
        let Some(pid) = Pid::from_raw(*raw).filter(|_| ours(*raw, *started)) else { continue };
        if getpgid(Some(pid)) == Ok(pid) && kill_process_group(pid, Signal::KILL).is_ok() {
            ended += 1;
        }
    }
    // A boot that is empty would fit every mark.
    match record.has_started && !record.boot.is_empty() {
        true => ended + sweep(&record.boot),
        false => ended,
    }
}

/// Every process that we may look at, without ourselves. None where there is no `/proc`.
fn processes() -> impl Iterator<Item = i32> {
    let own = getpid().as_raw_pid();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|e| e.file_name().to_str().and_then(|n| n.parse().ok()))
        .filter(move |pid| *pid > 1 && *pid != own)
}

fn carries(pid: i32, wanted: &str) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { return false };
    environment.split(|b| *b == 0).any(|variable| variable.starts_with(wanted.as_bytes()))
}

/// When the kernel started a process: field 22 of its `stat`, counted behind the name in brackets.
fn start_ticks(pid: i32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}
