//! A folder to work in, and the binary that calls tools in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;

/// A workspace with its own state folder; nothing of the machine's environment but `PATH` reaches it.
pub struct Desk(TempDir);

/// An answer of a tool.
#[derive(Debug, Deserialize)]
pub struct Answer {
    pub tool: String,
    pub text: String,
    pub is_error: bool,
}

impl Desk {
    pub fn new() -> Self {
        let desk = Self(TempDir::new().unwrap());
        fs::create_dir(desk.at("")).unwrap();
        desk
    }

    /// With a config; `127.0.0.1` is open to tools.
    pub fn with(config: &str) -> Self {
        let desk = Self::new();
        let config = format!("guard: {{network: {{allow_private: [127.0.0.1]}}}}\n{config}");
        fs::write(desk.0.path().join("config.yaml"), config).unwrap();
        desk
    }

    /// A path in the workspace.
    pub fn at(&self, path: &str) -> PathBuf {
        self.0.path().join("work").join(path)
    }

    /// A path in the cache folder that calls by hand own.
    pub fn cached(&self, path: &str) -> PathBuf {
        self.0.path().join("state/cache/by-hand").join(path)
    }

    pub fn put(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let at = self.at(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, content).unwrap();
        self
    }

    pub fn get(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    /// Calls tools, one after the other in one process.
    pub fn calls(&self, calls: &[(&str, Value)]) -> Vec<Answer> {
        self.run(&[], calls)
    }

    /// Calls one tool; its answer, with the folder's name taken out.
    pub fn call(&self, tool: &str, arguments: Value) -> String {
        self.said(&[(tool, arguments)])
    }

    /// Calls tools; every answer under its call.
    pub fn said(&self, calls: &[(&str, Value)]) -> String {
        let answers = self.calls(calls);
        let lines = answers.iter().map(|a| {
            let mark = if a.is_error { "✗ " } else { "" };
            format!("{mark}{}", a.text.replace(self.0.path().to_str().unwrap(), "…"))
        });
        lines.collect::<Vec<_>>().join("\n--\n")
    }

    /// The same with more words on the line.
    pub fn run(&self, words: &[&str], calls: &[(&str, Value)]) -> Vec<Answer> {
        let mut command = self.command();
        command.args(["tools", "call", "--json", "--workspace"]).arg(self.at("")).args(words);
        for (tool, arguments) in calls {
            command.arg(tool).arg(arguments.to_string());
        }
        let output = command.output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| {
            panic!("{e}: {}", String::from_utf8_lossy(&output.stderr));
        })
    }

    /// The binary in the folder above the workspace, where its config and state are.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selkie"));
        command.current_dir(self.0.path()).env_clear().env("HOME", self.0.path());
        command.env("PATH", option_env!("PATH").unwrap_or_default());
        command.env("SELKIE__FILE_STATE_DIR", self.0.path().join("state"));
        command
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }
}
