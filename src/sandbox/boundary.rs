//! What a program in the sandbox may reach: an explicit list, and nothing else.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::SandboxError;
use crate::settings::Settings;

/// Where programs, their libraries and their data lie. What is not there is left out: /lib64, say.
const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"];
/// What programs ask about the machine.
const MACHINE: [&str; 12] = [
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/random",
    "/proc/sys/vm/overcommit_memory",
    "/proc/uptime",
    "/proc/version",
    "/sys/devices/system/cpu",
    "/dev/urandom",
];
/// What root could read there and no command needs.
const OF_ROOT: [&str; 8] = [
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/sudoers",
    "/etc/sudoers.d",
];
/// Devices that anything may be written to.
pub(crate) const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random"];

/// What a program may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boundary {
    /// Files and folders that it may read, and programs that it may run, with all below them but `closed`.
    pub reads: Vec<PathBuf>,
    /// Folders that it may read, too, with all below them, wherever they lie.
    pub named: Vec<PathBuf>,
    /// Folders in which it may do anything, with all below them.
    pub writes: Vec<PathBuf>,
    /// The bot's own: never open, wherever it lies.
    pub closed: Vec<PathBuf>,
    /// Whether it may open connections of TCP and UDP.
    pub network: bool,
}

impl Boundary {
    /// Opens the system's programs to read, what the config adds, and these folders to write in.
    ///
    /// # Errors
    /// One of the folders holds something of the bot's own, or lies in it.
    pub fn new(
        settings: &Settings,
        writes: Vec<PathBuf>,
        closed: Vec<PathBuf>,
        network: bool,
    ) -> Result<Self, SandboxError> {
        let mut all = writes;
        all.extend(settings.write.iter().cloned());
        let closed: Vec<PathBuf> = closed.iter().map(|path| real_or_same(path)).collect();
        for folder in &all {
            holds_none(&real_or_same(folder), &closed)?;
        }
        let reads = SYSTEM.iter().chain(&MACHINE).map(PathBuf::from);
        let reads = reads.chain(settings.read.iter().cloned()).collect();
        // Nobody else can read them anyway, and a folder that is open as a whole is opened at once.
        let is_root = rustix::process::geteuid().is_root();
        let of_root = OF_ROOT.iter().filter(|_| is_root).map(PathBuf::from);
        let closed = closed.into_iter().chain(of_root).collect();
        Ok(Self { reads, named: Vec::new(), writes: all, closed, network })
    }

    /// Opens these folders to read, too, though they may lie in a closed one; none that holds something of the bot's own.
    #[must_use]
    pub fn reading<'a>(mut self, folders: impl Iterator<Item = &'a Path>) -> Self {
        let open = folders.map(real_or_same);
        self.named = open.filter(|folder| holds_none(folder, &self.closed).is_ok()).collect();
        self
    }

    /// Whether programs of a folder may be started.
    pub fn opens(&self, folder: &Path) -> bool {
        let folder = real_or_same(folder);
        let open = |root: &PathBuf| folder.starts_with(real_or_same(root));
        self.reads.iter().chain(&self.writes).any(open)
            && !self.closed.iter().any(|shut| folder.starts_with(shut))
    }
}

/// Refuses a folder that cannot be open as a whole: the kernel opens all that lies below, or nothing.
fn holds_none(folder: &Path, closed: &[PathBuf]) -> Result<(), SandboxError> {
    match closed.iter().find(|path| path.starts_with(folder)) {
        Some(path) => Err(SandboxError::HoldsOwn {
            folder: folder.display().to_string(),
            closed: path.display().to_string(),
        }),
        None => Ok(()),
    }
}

pub(crate) fn real_or_same(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_holds_something_of_the_bots_own_is_not_opened() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().canonicalize().unwrap().join(name);
        std::fs::create_dir_all(at("state/work")).unwrap();
        std::os::unix::fs::symlink(at(""), at("link")).unwrap();
        let new = |folder: &str| {
            Boundary::new(&Settings::default(), vec![at(folder)], vec![at("state")], false)
        };
        for refused in ["", "state", "link"] {
            assert!(new(refused).is_err(), "{refused}");
        }
        // A folder that somebody has put below the state folder is opened by name.
        let inside = new("state/work").unwrap();
        assert_eq!(inside.writes, [at("state/work")]);
        let settings = Settings { write: vec![at("")], ..Settings::default() };
        assert!(Boundary::new(&settings, Vec::new(), vec![at("state")], false).is_err());
    }
}
