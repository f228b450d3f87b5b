//! The daemon as a real process over all channels: it is started, killed, and started again over the same state.

use std::fs::{File, OpenOptions, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use selkie_playground::{Playground, line_platform, slack, telegram};
use serde_json::{Value, json};

use crate::gauge::{self, Gauge};

/// The daemon and what it lives in.
pub struct Subject {
    home: PathBuf,
    child: Child,
    /// Processor time of those that were killed.
    spent: Duration,
}

impl Subject {
    /// Writes its config and starts it.
    pub async fn start(playground: &Playground, home: &Path) -> Self {
        let port = free_port();
        let line = playground.line();
        line.set_webhook(&format!("http://127.0.0.1:{port}/line/webhook"));
        let file = home.join("config.yaml");
        std::fs::write(&file, config(playground, home, port).to_string()).expect("config");
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("its mode");
        let child = spawn(home);
        let subject = Self { home: home.to_owned(), child, spent: Duration::ZERO };
        let begun = Instant::now();
        let hears = || {
            playground.telegram().counted("getUpdates") > 0 && playground.slack().sockets().0 > 0
        };
        while !hears() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{}", subject.log());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(line.knock_when_open(&[]).await, 200, "{}", subject.log());
        subject
    }

    /// Kills it in the middle of whatever it does, and starts it again.
    pub fn kill_and_restart(&mut self) {
        self.spent += gauge::cpu(self.child.id());
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
        self.child = spawn(&self.home);
    }

    /// Whether it ended by itself.
    pub fn is_gone(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }

    /// What it takes of its machine.
    pub fn gauge(&self, asked: usize) -> Gauge {
        Gauge::read(self.child.id(), &self.database(), asked)
    }

    /// Processor time of all its lives.
    pub fn cpu(&self) -> Duration {
        self.spent + gauge::cpu(self.child.id())
    }

    /// Its database.
    pub fn database(&self) -> PathBuf {
        self.home.join("state/selkie.db")
    }

    /// The end of its log.
    pub fn log(&self) -> String {
        let log = std::fs::read_to_string(self.home.join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    /// Asks it to end and waits.
    pub fn stop(&mut self) {
        use rustix::process::{Pid, Signal, kill_process};
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid
            && kill_process(pid, Signal::TERM).is_ok()
        {
            drop(self.child.wait());
        }
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn spawn(home: &Path) -> Child {
    let log = OpenOptions::new().create(true).append(true).open(home.join("log"));
    let log: File = log.expect("a log");
    Command::new(env!("CARGO_BIN_EXE_selkie"))
        .arg("run")
        .arg("--config")
        .arg(home.join("config.yaml"))
        .env_clear()
        .env("HOME", home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("the daemon starts")
}

fn config(playground: &Playground, home: &Path, port: u16) -> Value {
    // Counted, as with the limits that people have, and never reached.
    let far = 1_000_000_000;
    let high = json!({
        "messages_per_minute": far, "calls_per_day": far, "cost_usd_per_day": far, "tokens_per_day": far, "download_mb_per_day": far,
    });
    json!({
        "telegram": {
            "bot_token": telegram::TOKEN,
            "base_url": playground.telegram_base_url(),
            "allowed_chat_ids": ["*"],
            "pace": "lifted",
        },
        "slack": {
            "bot_token": slack::BOT_TOKEN,
            "app_token": slack::APP_TOKEN,
            "base_url": playground.slack_base_url(),
            "allowed_channel_ids": [slack::CHANNEL],
            "pace": "lifted",
        },
        "line": {
            "channel_access_token": line_platform::ACCESS_TOKEN,
            "channel_secret": line_platform::SECRET,
            "base_url": playground.line_base_url(),
            "data_base_url": playground.line_data_base_url(),
            "webhook_listen": format!("127.0.0.1:{port}"),
            "allowed_ids": [line_platform::GROUP, line_platform::ROOM],
            "max_pushes_per_day": 0,
            "pace": "lifted",
        },
        "llm": { "profiles": { "zero": {
            "provider": "openai", "endpoint": playground.model_endpoint(), "model": "zero",
            "api_key": "bench-key-1234",
        } }, "prices": { "zero": { "input": 0, "output": 0 } } },
        // Its people write faster than people do.
        "limits": { "person": high, "conversation": high, "everybody": high },
        "while_busy": "queue",
        "worker": { "max_concurrency": 64 },
        // Sooner than people have it, so that an hour's trouble fits into minutes.
        "outbox": { "unclear_after": "2s" },
        "logging": { "level": "warn" },
        "file_state_dir": home.join("state"),
        "file_cache_dir": home.join("cache"),
    })
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}
