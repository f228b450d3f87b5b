//! What is measured, as a process: the release daemon or the bare loop.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use selkie_playground::Playground;
use selkie_playground::telegram::FIRST_PERSON;
use serde_json::json;

/// The word by which this benchmark starts itself as the bare loop.
pub const BARE: &str = "--as-bare-loop";

/// Names another build of selkie, which is measured instead of this one.
const OTHER: &str = "SELKIE_BENCH_BINARY";

/// Which program.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// The floor.
    Bare,
    /// Ours.
    Selkie,
    /// Ours as it comes: it shows answers while they are written, in the platform's pace.
    Streaming,
    /// The same, but shows answers whole.
    Whole,
}

/// A running program; it ends when it is dropped.
pub struct Subject {
    kind: Kind,
    child: Child,
    home: tempfile::TempDir,
}

impl Subject {
    /// Starts it and waits for its first poll; returns how long that took.
    pub async fn start(kind: Kind, playground: &Playground, folder: &Path) -> (Self, Duration) {
        let home = tempfile::tempdir_in(folder).expect("a folder");
        let mut command = match kind {
            Kind::Bare => bare(playground),
            _ => selkie(kind, playground, home.path()),
        };
        let before = playground.telegram().counted("getUpdates");
        let start = Instant::now();
        let child = command.stdin(Stdio::null()).spawn().expect("the program starts");
        while playground.telegram().counted("getUpdates") == before {
            assert!(start.elapsed() < Duration::from_secs(20), "{kind:?} never polled");
            tokio::time::sleep(Duration::from_micros(100)).await;
        }
        (Self { kind, child, home }, start.elapsed())
    }

    /// Which program this is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A question at a terminal, which is printed as it is answered.
    pub fn ask(&self, words: &str) -> Command {
        let mut command = at_home(self.home.path());
        command.args(["ask", "--stream", words]).arg("--config").arg(config_of(self.home.path()));
        command
    }

    /// Gives it a moment without work, so that memory is what it keeps.
    pub async fn settle(&self, span: Duration) {
        tokio::time::sleep(span).await;
    }

    /// Asks it to end, waits, and returns how many bytes of its store are in use then; 0 without one.
    pub fn stop(mut self) -> u64 {
        use rustix::process::{Pid, Signal, kill_process};
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid
            && kill_process(pid, Signal::TERM).is_ok()
        {
            drop(self.child.wait());
        }
        in_use(&self.home.path().join("state/selkie.db"))
    }
}

/// The bytes of a store but for its free pages: those that a deep queue leaves are the next messages', so that a
/// burst does not pass for what its messages take. Both figures stand in the file's header
/// (<https://www.sqlite.org/fileformat.html>, 1.3): the size of a page at 16, how many are free at 36.
fn in_use(store: &Path) -> u64 {
    let Ok(bytes) = std::fs::read(store) else { return 0 };
    let page = u64::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let free = u32::from_be_bytes([bytes[36], bytes[37], bytes[38], bytes[39]]);
    bytes.len() as u64 - u64::from(free) * page
}

impl Drop for Subject {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn bare(playground: &Playground) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program's path"));
    command.args([BARE, &playground.telegram_base_url(), selkie_playground::telegram::TOKEN]);
    command.arg(playground.model_endpoint());
    command
}

fn selkie(kind: Kind, playground: &Playground, home: &Path) -> Command {
    let people: Vec<i64> = (0..100).map(|n| FIRST_PERSON + n).collect();
    // Counted, as with the limits that people have, and never reached.
    let far = 1_000_000_000;
    let high = json!({
        "messages_per_minute": far, "calls_per_day": far, "cost_usd_per_day": far, "tokens_per_day": far, "download_mb_per_day": far,
    });
    let mut config = json!({
        "telegram": {
            "bot_token": selkie_playground::telegram::TOKEN,
            "base_url": playground.telegram_base_url(),
            "allowed_chat_ids": people,
            "pace": "lifted",
        },
        // Without a stream, as the bare loop asks.
        "llm": { "profiles": { "zero": {
            "provider": "openai", "endpoint": playground.model_endpoint(), "model": "zero",
            "api_key": "bench-key-1234", "stream": false,
        } }, "prices": { "zero": { "input": 0, "output": 0 } } },
        // Its people write faster than people do.
        "limits": { "person": high, "conversation": high, "everybody": high },
        "while_busy": "queue",
        "worker": { "max_concurrency": 64 },
        "logging": { "level": "warn" },
        "file_state_dir": home.join("state"),
        "file_cache_dir": home.join("cache"),
    });
    if !matches!(kind, Kind::Selkie) {
        config["telegram"]["pace"] = json!("platform");
        config["llm"]["profiles"]["zero"]["stream"] = json!(true);
    }
    if let Kind::Whole = kind {
        config["progress"] = json!({ "stream": "off" });
    }
    let file = config_of(home);
    std::fs::write(&file, config.to_string()).expect("config");
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("its mode");
    let mut command = at_home(home);
    command.arg("run").arg("--config").arg(file);
    command
}

#[expect(clippy::disallowed_methods, reason = "a benchmark has no config")]
fn at_home(home: &Path) -> Command {
    let ours = env!("CARGO_BIN_EXE_selkie");
    let mut command = Command::new(std::env::var_os(OTHER).unwrap_or_else(|| ours.into()));
    command.env_clear().env("HOME", home);
    command
}

fn config_of(home: &Path) -> PathBuf {
    home.join("config.yaml")
}
