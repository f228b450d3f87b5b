//! What one command may use, as limits that the kernel holds.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MEBIBYTE: u64 = 1024 * 1024;
/// The supervisor shares the limit and has to live with it.
const LEAST_MEMORY: u64 = 16 * MEBIBYTE;

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
    /// Mebibytes of one process's own data (its heap and what it maps to write), at least 16; 0: unlimited.
    pub memory_mb: u64,
    /// Processes and threads of the daemon's user, all together, the daemon's and others' too; 0: the
    /// system's limit.
    pub processes: u64,
    /// Whether programs that get other rights than their caller's work: sudo, su, ping on some systems. There is no
    /// sandbox then. Where the daemon is root, commands keep all of its rights, and can read its secrets.
    pub sudo: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { file_mb: 4096, open_files: 4096, memory_mb: 8192, processes: 8192, sudo: false }
    }
}

impl Limits {
    /// Sets them for this process and all that it starts. One that is lower already stays.
    pub(crate) fn apply(&self) -> std::io::Result<()> {
        let bytes = |mebibytes: u64| mebibytes.saturating_mul(MEBIBYTE);
        lower(Resource::Core, 0)?;
        lower(Resource::Fsize, bytes(self.file_mb))?;
        lower(Resource::Nofile, self.open_files)?;
        if self.memory_mb > 0 {
            lower(Resource::Data, bytes(self.memory_mb).max(LEAST_MEMORY))?;
        }
        if self.processes > 0 {
            lower(Resource::Nproc, self.processes)?;
        }
        Ok(())
    }
}

fn lower(what: Resource, to: u64) -> std::io::Result<()> {
    let now = getrlimit(what);
    let least = |limit: Option<u64>| Some(limit.map_or(to, |limit| limit.min(to)));
    let new = Rlimit { current: least(now.current), maximum: least(now.maximum) };
    Ok(setrlimit(what, new)?)
}
