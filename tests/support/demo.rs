//! `selkie demo` as a real process, found by the address it prints.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use tempfile::TempDir;

/// A running demo with a home of its own; killed when dropped, and what it wrote is shown when the test fails.
pub struct Demo {
    child: Child,
    url: String,
    errors: Option<JoinHandle<String>>,
    _home: TempDir,
}

impl Demo {
    /// Starts a demo on free ports with the built-in stand-in, and waits for the address it prints.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same, with these variables.
    pub fn start_with(variables: &[(&str, &str)]) -> Self {
        let home = tempfile::Builder::new().prefix("selkie-").tempdir().expect("a folder");
        let mut child = command(&home, &["demo"])
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("selkie starts");
        let mut stderr = child.stderr.take().expect("piped");
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            // What is no text ends the reading; it is only shown.
            stderr.read_to_string(&mut text).ok();
            text
        });
        let mut url = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut url).expect("a line");
        let url = url.trim().to_owned();
        let mut demo = Self { child, url, errors: Some(errors), _home: home };
        if !demo.url.starts_with("http://127.0.0.1:") {
            panic!("no address but {:?}: {}", demo.url.clone(), demo.end());
        }
        demo
    }

    /// Runs `selkie demo` with these arguments to its end: exit code, standard output, standard error.
    pub fn run(arguments: &[&str]) -> (i32, String, String) {
        Self::run_with(arguments, &[])
    }

    /// The same, with these variables.
    pub fn run_with(arguments: &[&str], variables: &[(&str, &str)]) -> (i32, String, String) {
        let home = tempfile::tempdir().expect("a folder");
        let mut command = command(&home, arguments);
        command.envs(variables.iter().copied());
        let output = command.stdin(Stdio::null()).output().expect("selkie runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
    }

    /// The page.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Presses Ctrl-C once and waits; returns how it ended and all it wrote to standard error.
    pub fn interrupt(mut self) -> (ExitStatus, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
        let status = self.child.wait().expect("wait");
        (status, self.end())
    }

    fn end(&mut self) -> String {
        // It may have ended by itself.
        self.child.kill().ok();
        self.child.wait().ok();
        self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default()
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let errors = self.end();
        if std::thread::panicking() {
            eprintln!("--- what the demo wrote ---\n{errors}");
        }
    }
}

fn command(home: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selkie"));
    command
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home.path())
        .env("TMPDIR", home.path())
        .current_dir(home.path());
    command
}
