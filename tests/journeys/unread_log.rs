//! Standard error is a pipe that nobody reads: the log is lost, and nobody waits for it.

use std::process::{Child, Stdio};

use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::world::World;

/// A pipe takes so much when nobody reads.
const FULL: u64 = 60_000;
/// More than are needed to fill it.
const MANY: usize = 400;

/// Killed when the test fails.
struct Unread(Child);

impl Drop for Unread {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_nobody_reads_stops_nobody() {
    let world = World::with(json!({ "logging": { "level": "trace" } })).await;
    let mut command = world.home.command(&["run"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut daemon = Unread(command.spawn().expect("selkie runs"));
    let pipe = daemon.0.stderr.take().expect("a pipe");
    let unread = || ioctl_fionread(&pipe).expect("a pipe");
    for number in 0..MANY {
        if unread() >= FULL {
            break;
        }
        world.ask(&format!("message {number}")).await;
    }
    assert!(unread() >= FULL, "the pipe is full");
    for number in 0..9 {
        assert!(world.ask(&format!("and {number}")).await.ends_with(&format!("and {number}")));
    }
    let pid = i32::try_from(daemon.0.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, Signal::TERM).expect("it runs");
    let ended = tokio::task::spawn_blocking(move || daemon.0.wait());
    let status = world.within("the end", ended).await.expect("a thread").expect("a status");
    assert!(status.success(), "{status}");
    drop(pipe);
}
