//! A daemon under test: the built binary as a real process, with its own state folder and config.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with config, state and log that outlives the processes started on it.
pub struct Home {
    folder: TempDir,
    config: Value,
}

impl Home {
    /// Makes a home with this config (JSON is YAML too).
    pub fn new(config: Value) -> Self {
        let folder = tempfile::Builder::new().prefix("selkie-").tempdir().expect("a folder");
        let home = Self { folder, config };
        home.write();
        home
    }

    /// Changes one section of the config; the next start reads it.
    pub fn set(&mut self, section: &str, value: Value) {
        self.config[section] = value;
        self.write();
    }

    /// Changes one key of a section; the next start reads it.
    pub fn set_key(&mut self, section: &str, key: &str, value: Value) {
        self.config[section][key] = value;
        self.write();
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

    /// Everything the processes have logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn write(&self) {
        let mut config = self.config.clone();
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

    /// Starts `selkie run`. Ready when the playground hears its first poll.
    pub fn start(&self) -> Daemon {
        let log =
            fs::OpenOptions::new().create(true).append(true).open(self.log_file()).expect("log");
        let child = self
            .command(&["run"])
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("log"))
            .stderr(log)
            .spawn()
            .expect("selkie starts");
        Daemon { child, log: self.log_file() }
    }
}

/// A running daemon; killed when dropped, and its log is shown when the test fails.
pub struct Daemon {
    child: Child,
    log: PathBuf,
}

impl Daemon {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits, off the runtime's threads, until the process is gone.
    pub async fn gone(mut self) -> ExitStatus {
        let log = self.log.clone();
        tokio::task::spawn_blocking(move || {
            let status = self.child.wait().expect("wait");
            drop(self);
            status
        })
        .await
        .unwrap_or_else(|e| panic!("{e}; log:\n{}", fs::read_to_string(log).unwrap_or_default()))
    }

    /// Ends it without a chance to tidy up.
    pub fn kill(mut self) {
        self.child.kill().expect("kill");
        self.child.wait().expect("wait");
    }

    /// Asks it to end, and waits.
    pub async fn stop(self) -> ExitStatus {
        self.terminate();
        self.gone().await
    }

    /// Asks it to end and not to wait for running tasks, and waits.
    pub async fn hurry(mut self) -> ExitStatus {
        // Signals of one kind are one when they come together: asked again until it has ended.
        while self.child.try_wait().expect("wait").is_none() {
            self.terminate();
            tokio::task::yield_now().await;
        }
        self.gone().await
    }

    fn terminate(&self) {
        let pid = self.pid().to_string();
        let done = Command::new("kill").args(["-TERM", &pid]).status().expect("kill");
        assert!(done.success());
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
        if std::thread::panicking() {
            eprintln!("--- the daemon's log ---\n{}", tail(&self.log));
        }
    }
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(60)..].join("\n")
}
