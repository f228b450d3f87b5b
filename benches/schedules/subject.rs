//! The release daemon over a state folder that is there already.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use selkie_playground::Playground;
use selkie_playground::telegram::FIRST_PERSON;
use selkie_playground::telegram::TOKEN;
use serde_json::json;

use super::shelf::CHATS;

/// A running daemon; it ends when it is dropped.
pub struct Subject(Child);

impl Subject {
    /// Starts it and waits for its first poll; returns how long that took.
    pub async fn start(playground: &Playground, home: &Path) -> (Self, Duration) {
        let mut command = command(playground, home);
        let start = Instant::now();
        let child = command.stdin(Stdio::null()).spawn().expect("selkie starts");
        while playground.telegram().counted("getUpdates") == 0 {
            assert!(start.elapsed() < Duration::from_secs(60), "it never polled");
            tokio::time::sleep(Duration::from_micros(100)).await;
        }
        (Self(child), start.elapsed())
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Asks it to end, and waits.
    pub fn stop(mut self) {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw);
        if pid.is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok()) {
            drop(self.0.wait());
        }
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn command(playground: &Playground, home: &Path) -> Command {
    let people: Vec<i64> = (0..CHATS).map(|n| FIRST_PERSON + n as i64).collect();
    let config = json!({
        "owners": people.iter().map(|person| format!("tg:{person}")).collect::<Vec<_>>(),
        "telegram": {
            "bot_token": TOKEN,
            "base_url": playground.telegram_base_url(),
            "pace": "lifted",
        },
        "llm": { "provider": "offline" },
        "worker": { "max_concurrency": 64 },
        "logging": { "level": "warn" },
        "file_state_dir": home.join("state"),
        "file_cache_dir": home.join("cache"),
    });
    let file = home.join("config.yaml");
    std::fs::write(&file, config.to_string()).expect("config");
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("its mode");
    let mut command = Command::new(env!("CARGO_BIN_EXE_selkie"));
    command.arg("run").arg("--config").arg(file).env_clear().env("HOME", home);
    command
}
