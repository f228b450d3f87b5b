//! A daemon under test: the built binary as a real process, with its own state folder and config.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, kill_process};
use selkie_test_postgres::server;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;

/// A folder with config, state and log that outlives the processes started on it.
pub struct Home {
    folder: TempDir,
    config: Value,
    log: Log,
}

/// What all processes of a home have logged; wakes whoever waits for a line.
type Log = Arc<watch::Sender<String>>;

impl Home {
    /// Makes a home with this config (JSON is YAML too).
    pub fn new(config: Value) -> Self {
        let folder = tempfile::Builder::new().prefix("selkie-").tempdir().expect("a folder");
        let home = Self { folder, config, log: Arc::new(watch::channel(String::new()).0) };
        home.write();
        home
    }

    /// Changes one section of the config; the next start reads it.
    pub fn set(&mut self, section: &str, value: Value) {
        self.config[section] = value;
        self.write();
    }

    /// Takes a section out of the config.
    pub fn remove(&mut self, section: &str) {
        self.config.as_object_mut().expect("a map").remove(section);
        self.write();
    }

    /// Changes one key of a section; the next start reads it.
    pub fn set_key(&mut self, section: &str, key: &str, value: Value) {
        self.config[section][key] = value;
        self.write();
    }

    /// The folder of it all.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The state folder.
    pub fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// The cache folder.
    pub fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    /// The config file.
    pub fn config_file(&self) -> PathBuf {
        self.folder.path().join("config.yaml")
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.state().join("selkie.db")
    }

    /// Keeps everything in a fresh database of the tests' server from the next start on.
    pub fn keep_in_postgres(&mut self) {
        self.set("store", json!({ "url": server().database() }));
    }

    /// The name of the database on the tests' server in which everything is kept, if it is.
    pub fn remote(&self) -> Option<&str> {
        self.config["store"]["url"].as_str()?.rsplit('/').next()
    }

    /// Everything the processes have logged.
    pub fn log(&self) -> String {
        self.log.borrow().clone()
    }

    /// Waits until `holds` of what was logged since `from` (a length of the log): looks now and at every
    /// new line.
    pub async fn logged(&self, from: usize, holds: impl Fn(&str) -> bool) {
        let mut log = self.log.subscribe();
        // The sender lives in `self`.
        drop(log.wait_for(|text| holds(&text[from.min(text.len())..])).await);
    }

    fn write(&self) {
        let mut config = self.config.clone();
        if config.get("alerts").is_none() {
            // Processes are killed here again and again: only stories about it are told so.
            config["alerts"] = json!({ "enabled": false });
        }
        config["file_state_dir"] = json!(self.state());
        config["file_cache_dir"] = json!(self.cache());
        fs::write(self.config_file(), serde_json::to_vec_pretty(&config).expect("json"))
            .expect("config");
    }

    /// A command of the built binary on this home, with an empty environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selkie"));
        command
            .args(arguments)
            .arg("--config")
            .arg(self.config_file())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.folder.path())
            .current_dir(self.folder.path());
        command
    }

    /// Runs a command to its end: exit code, standard output, standard error.
    pub fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = self.command(arguments).stdin(Stdio::null()).output().expect("selkie runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
    }

    /// Starts `selkie run`.
    pub fn start(&self) -> Daemon {
        self.start_as(self.command(&["run"]))
    }

    /// Starts a daemon by this command.
    pub fn start_as(&self, mut command: Command) -> Daemon {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("selkie starts");
        let lines = BufReader::new(child.stderr.take().expect("a pipe"));
        let log = Arc::clone(&self.log);
        let reader = std::thread::spawn(move || {
            for line in lines.split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).into_owned();
                log.send_modify(|text| *text = std::mem::take(text) + &line + "\n");
            }
        });
        Daemon { child, reader: Some(reader), log: Arc::clone(&self.log) }
    }
}

/// A running daemon; killed when dropped, and its log is shown when the test fails.
pub struct Daemon {
    child: Child,
    reader: Option<JoinHandle<()>>,
    log: Log,
}

impl Daemon {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits, off the runtime's threads, until the process is gone and its log is read. When the waiting is
    /// given up, the process is killed.
    pub async fn gone(mut self) -> ExitStatus {
        let mut reaper = Reaper(Some(self.pid()));
        let waiting = tokio::task::spawn_blocking(move || self.end());
        let status = waiting.await.expect("the waiting thread");
        reaper.0 = None;
        status
    }

    /// Ends it without a chance to tidy up.
    pub fn kill(mut self) {
        self.child.kill().expect("kill");
        self.end();
    }

    /// Asks it to end.
    pub fn ask_to_stop(&self) {
        signal(self.pid(), Signal::TERM);
    }

    /// Sends it a signal.
    pub fn signal(&self, name: Signal) {
        signal(self.pid(), name);
    }

    /// Asks it to end, and waits.
    pub async fn stop(self) -> ExitStatus {
        self.ask_to_stop();
        self.gone().await
    }

    /// Asks it to end and not to wait for running tasks, and waits.
    pub async fn hurry(mut self) -> ExitStatus {
        // Signals of one kind are one when they come together: asked again until it has ended.
        while self.child.try_wait().expect("wait").is_none() {
            self.ask_to_stop();
            tokio::task::yield_now().await;
        }
        self.gone().await
    }

    fn end(&mut self) -> ExitStatus {
        let status = self.child.wait().expect("wait");
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the log's reader");
        }
        status
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.child.kill());
        self.end();
        if std::thread::panicking() {
            eprintln!("--- the daemon's log ---\n{}", tail(&self.log.borrow()));
        }
    }
}

/// Kills a process whose end nobody waits for any more.
struct Reaper(Option<u32>);

impl Drop for Reaper {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            signal(pid, Signal::KILL);
        }
    }
}

fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process id");
    // A process that is gone already needs no signal.
    kill_process(pid, signal).ok();
}

/// The last lines of a log.
pub fn tail(log: &str) -> String {
    let lines: Vec<_> = log.lines().collect();
    lines[lines.len().saturating_sub(60)..].join("\n")
}
