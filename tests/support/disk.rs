//! A full disk: a limit on the size of files stands in for it, which needs no rights and can be lifted
//! while the process runs.

use std::process::Command;

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::support::daemon::Daemon;
use crate::support::world::World;

/// Starts a daemon that lives on when a file cannot grow (the signal of that limit ends a process).
pub fn start(world: &World) -> Daemon {
    let inner = world.home.command(&["run"]);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", r#"trap "" XFSZ; exec "$0" "$@""#]).arg(inner.get_program());
    command.args(inner.get_args()).env_clear();
    command.envs(inner.get_envs().filter_map(|(key, value)| Some((key, value?))));
    world.home.start_as(command)
}

/// Lets files grow to so many bytes; `None` lifts the limit.
pub fn room(daemon: &Daemon, bytes: Option<u64>) {
    let pid = i32::try_from(daemon.pid()).ok().and_then(Pid::from_raw);
    let limit = Rlimit { current: bytes, maximum: None };
    prlimit(pid, Resource::Fsize, limit).expect("a limit");
}
