//! Who asks in the terminal and goes away, by Ctrl-C or by closing it: the task is stopped, and the next
//! question does not wait behind it.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use selkie_playground::Turn;
use serde_json::json;

use crate::support::rows::{number, texts};
use crate::support::world::World;

/// Who hangs up at once, at every moment of the first two milliseconds.
const MANY: u64 = 200;
const LEFT: &str = "SELECT count(*) FROM task WHERE state IN ('waiting', 'running', 'parked')";

fn interrupt(child: &Child) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, Signal::INT).expect("it runs");
}

/// Asks what would take for ever, and presses Ctrl-C when the model is at it.
async fn interrupted(world: &World, calls: u64) {
    world.playground.model().script_for("for ever", vec![Turn::text("never").delayed(3_600_000)]);
    let mut command = world.home.command(&["ask", "think for ever"]);
    let mut asking = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    world.asked(calls).await;
    interrupt(&asking);
    let ended = tokio::task::spawn_blocking(move || asking.wait());
    let status = world.within("the end of ask", ended).await.expect("a thread").expect("a status");
    assert!(!status.success(), "it was not answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_stops_the_task_in_the_daemon_and_nobody_waits_behind_it() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("is the daemon there?").await;
    interrupted(&world, 2).await;
    let (code, out, err) = world.home.run(&["ask", "and now"]);
    assert!(code == 0 && out.ends_with("and now\n"), "{code}: {out}{err}");
    assert_eq!(
        texts(&world.home, "SELECT state FROM task ORDER BY id"),
        ["done", "stopped", "done"]
    );
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_without_a_daemon_leaves_nothing_for_the_next_one() {
    let world = World::start().await;
    interrupted(&world, 1).await;
    assert_eq!(texts(&world.home, "SELECT state FROM task"), ["stopped"]);
    let (code, out, err) = world.home.run(&["ask", "and now"]);
    assert!(code == 0 && out.ends_with("and now\n"), "{code}: {out}{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_hangs_up_at_once_leaves_no_task_that_nobody_runs() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("is the daemon there?").await;
    let body = json!({ "text": "hello", "workspace": world.home.folder(), "terminal": false });
    let body = body.to_string();
    let asked = format!(
        "POST /v1/ask HTTP/1.1\r\nhost: selkie\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let socket = world.home.state().join("selkie.sock");
    let hanging_up = tokio::task::spawn_blocking(move || {
        for at in 0..MANY {
            let mut stream = UnixStream::connect(&socket).expect("the daemon listens");
            stream.write_all(asked.as_bytes()).expect("it reads");
            // The moment is what is tried, nothing is waited for.
            std::thread::sleep(Duration::from_micros(at * 10));
        }
    });
    hanging_up.await.expect("everybody has hung up");
    let (code, out, err) = world.home.run(&["ask", "who is next?"]);
    assert!(code == 0 && out.ends_with("who is next?\n"), "{code}: {out}{err}");
    let none_left = |_: &str| number(&world.home, LEFT) == Some(0);
    world.within("an end of all tasks", world.home.logged(0, none_left)).await;
    assert!(daemon.stop().await.success());
}
