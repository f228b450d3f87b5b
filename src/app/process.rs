//! Our own process: who may look into it, whose parent it becomes, and how many files it may have open.

use rustix::process::{
    DumpableBehavior, Resource, Rlimit, getpid, getrlimit, set_child_subreaper,
    set_dumpable_behavior, setrlimit,
};

/// Open files that all our listeners together may take, and as many again for our own work.
const WANTED: u64 = 1024;

/// Closes our memory and environment to other processes of the same user (they hold every token), and
/// becomes the parent of what a killed supervisor of commands leaves, so that it can be ended.
pub fn close_to_others() {
    if let Err(error) = set_child_subreaper(Some(getpid())) {
        tracing::warn!(%error, "what leaves a killed supervisor cannot be found");
    }
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        tracing::warn!(%error, "other processes of this user can read our memory");
    }
}

/// Takes as many open files as the system gives: listeners with many guests leave enough for our own work.
pub fn take_files() {
    let given = getrlimit(Resource::Nofile);
    if given.current != given.maximum {
        let all = Rlimit { current: given.maximum, maximum: given.maximum };
        if let Err(error) = setrlimit(Resource::Nofile, all) {
            tracing::debug!(%error, "the limit of open files stays");
        }
    }
    if let Some(open) = getrlimit(Resource::Nofile).current.filter(|open| *open < WANTED) {
        tracing::warn!(
            open,
            wanted = WANTED,
            "few files may be open at once: under load listeners can take what tools need; raise the \
             hard limit (systemd: LimitNOFILE)"
        );
    }
}

/// Whether we were started with SIGHUP ignored, as `nohup` does. To be asked before a handler is set.
pub fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // Its lowest bit is signal 1.
    mask.is_some_and(|mask| mask.trim().ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f']))
}

/// Kills this very process, as a crash would.
pub fn kill() {
    use rustix::process::{Signal, getpid, kill_process};
    if kill_process(getpid(), Signal::KILL).is_err() {
        std::process::abort();
    }
    // The signal is on its way: nothing may happen after this edge.
    loop {
        std::thread::park();
    }
}
