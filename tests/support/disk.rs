//! A full disk: a limit on the size of files stands in for it, which needs no rights and can be lifted
//! while the process runs.

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::support::daemon::Daemon;

/// Lets files grow to so many bytes; `None` lifts the limit.
pub fn room(daemon: &Daemon, bytes: Option<u64>) {
    let pid = i32::try_from(daemon.pid()).ok().and_then(Pid::from_raw);
    let limit = Rlimit { current: bytes, maximum: None };
    prlimit(pid, Resource::Fsize, limit).expect("a limit");
}
