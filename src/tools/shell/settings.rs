//! The config sections `tools.bash` and `tools.powershell`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::span::Span;

/// `tools.bash`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bash {
    /// Whether it may be used.
    pub enabled: bool,
    /// How long a command may take when the call does not say.
    pub timeout: Span,
    /// The most that a call may ask for.
    pub max_timeout: Span,
    /// Names (`secrets.txt`) and paths (`/srv/private`) that no command may mention. They keep a model from
    /// mistakes; whoever may use the shell can read every file that the daemon's user can.
    pub deny_paths: Vec<String>,
    /// Programs (`curl`) and beginnings (`git push`) that no command may start. They keep a model from
    /// mistakes; a script or an interpreter can do it all the same.
    pub deny_tokens: Vec<String>,
    /// Beginnings of commands that a person must allow.
    pub approval_patterns: Vec<String>,
    /// Variables of the daemon's environment that commands get besides the usual ones.
    pub injected_env_vars: Vec<String>,
    /// A program put before every command.
    pub rewrite: Rewrite,
    /// What one command may use.
    pub limits: Limits,
}

/// `tools.powershell`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PowerShell {
    /// Whether it may be used. On by default on Windows only.
    pub enabled: bool,
    /// How long a command may take when the call does not say.
    pub timeout: Span,
    /// The most that a call may ask for.
    pub max_timeout: Span,
    /// Names and paths that no command may mention.
    pub deny_paths: Vec<String>,
    /// Words that no command may hold.
    pub deny_tokens: Vec<String>,
    /// Variables of the daemon's environment that commands get besides the usual ones.
    pub injected_env_vars: Vec<String>,
}

/// `tools.bash.rewrite`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rewrite {
    /// Whether commands are rewritten.
    pub enabled: bool,
    /// The program: `rtk` turns `git status` into `rtk git status`.
    pub binary: String,
}

/// `tools.bash.limits`. The process's own limits are kept where they are lower.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Mebibytes of one written file.
    #[schemars(range(min = 1))]
    pub file_mb: u64,
    /// Open files of one process.
    #[schemars(range(min = 16))]
    pub open_files: u64,
    /// Mebibytes of one process's own data (its heap and what it maps to write); 0: unlimited.
    pub memory_mb: u64,
    /// Processes and threads of the daemon's user, all together, the daemon's and others' too; 0: the
    /// system's limit.
    pub processes: u64,
    /// Whether programs that get other rights than their caller's work: sudo, su, ping on some systems. Where
    /// the daemon is root, commands keep all of its rights, and can read its secrets.
    pub sudo: bool,
}

impl Default for Bash {
    fn default() -> Self {
        Self {
            enabled: true,
            timeout: Span::seconds(120),
            max_timeout: Span::seconds(600),
            deny_paths: Vec::new(),
            deny_tokens: Vec::new(),
            approval_patterns: ["rm ", "chmod ", "selkie "].map(str::to_owned).to_vec(),
            injected_env_vars: Vec::new(),
            rewrite: Rewrite::default(),
            limits: Limits::default(),
        }
    }
}

impl Default for PowerShell {
    fn default() -> Self {
        Self {
            enabled: cfg!(windows),
            timeout: Span::seconds(120),
            max_timeout: Span::seconds(600),
            deny_paths: Vec::new(),
            deny_tokens: Vec::new(),
            injected_env_vars: Vec::new(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { file_mb: 4096, open_files: 4096, memory_mb: 8192, processes: 8192, sudo: false }
    }
}
