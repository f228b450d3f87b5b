//! What one command may use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

impl Default for Limits {
    fn default() -> Self {
        Self { file_mb: 4096, open_files: 4096, memory_mb: 8192, processes: 8192, sudo: false }
    }
}

/// The words that set what a program may use, before it becomes the one that runs.
pub(super) fn limited(limits: &Limits, shell: &str, cmd: &str) -> Vec<String> {
    // Blocks of 512 bytes and kibibytes: what `ulimit` of every sh takes. A limit that is lower already
    // stays, and the complaint about it is nobody's business.
    let mut prelude = format!(
        "{{ ulimit -c 0; ulimit -f {}; ulimit -n {};",
        limits.file_mb.saturating_mul(2048),
        limits.open_files
    );
    if limits.memory_mb > 0 {
        prelude.push_str(&format!(" ulimit -d {};", limits.memory_mb.saturating_mul(1024)));
    }
    if limits.processes > 0 {
        let processes = limits.processes;
        prelude.push_str(&format!(" ulimit -u {processes} || ulimit -p {processes};"));
    }
    prelude.push_str(" } 2>/dev/null; exec \"$0\" -c \"$1\"");
    ["sh", "-c", &prelude, shell, cmd].map(str::to_owned).to_vec()
}
