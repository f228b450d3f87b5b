//! What the kernel here can hold a program back from, and what it cannot.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Moves of files between folders.
const REFER: u32 = 2;
/// Cutting files off.
pub(crate) const TRUNCATE: u32 = 3;
/// Signals and abstract sockets.
const SCOPE: u32 = 6;
/// Sockets in the file system.
pub(crate) const UNIX: u32 = 9;

/// What was reached on this machine.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Reach {
    /// The version of landlock's interface; 0: there is none.
    pub landlock: u32,
    /// Whether system calls are filtered.
    pub seccomp: bool,
}

impl Reach {
    /// Whether it is enough for a sandbox: files and the network are held.
    pub fn holds(&self) -> bool {
        self.landlock > 0 && self.seccomp
    }

    /// Whether it is no less than what was asked for.
    pub(crate) fn is_at_least(&self, asked: &Self) -> bool {
        self.landlock >= asked.landlock && self.seccomp >= asked.seccomp
    }

    /// Says what commands in the sandbox can do on this kernel all the same, a line for each.
    pub fn gaps(&self) -> Vec<&'static str> {
        if !self.holds() {
            return Vec::new();
        }
        let mut gaps = vec![
            "change permissions, owners and times of files of selkie's user (chmod, chown, touch)",
            "see that a file exists, its size and its times (stat)",
        ];
        if self.landlock < SCOPE {
            gaps.push("send signals to other processes of selkie's user (needs Linux 6.12)");
        }
        gaps
    }

    /// Says what they cannot do on this kernel although it would do no harm.
    pub fn losses(&self) -> Vec<&'static str> {
        if !self.holds() {
            return Vec::new();
        }
        let mut losses = Vec::new();
        if self.landlock < REFER {
            losses.push("move files from one folder into another (needs Linux 5.19)");
        }
        if self.landlock < TRUNCATE {
            losses.push("cut files off by their name (truncate; needs Linux 6.2)");
        }
        if self.landlock < UNIX {
            losses.push("use Unix sockets, the workspace's own included (needs Linux 7.1)");
        }
        losses
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.landlock, self.seccomp) {
            (0, false) => f.write_str("this machine has neither landlock nor seccomp"),
            (0, true) => f.write_str("this machine has no landlock"),
            (_, false) => f.write_str("this machine has no seccomp"),
            (version, true) => write!(f, "landlock {version} and seccomp"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_needed_and_gaps_close_with_newer_kernels() {
        let at = |landlock| Reach { landlock, seccomp: true };
        assert!(at(1).holds() && !at(0).holds());
        assert!(!Reach { landlock: 7, seccomp: false }.holds());
        assert!(at(7).is_at_least(&at(6)) && !at(5).is_at_least(&at(6)));
        let counts = |landlock| (at(landlock).gaps().len(), at(landlock).losses().len());
        assert_eq!(
            [0, 1, 2, 3, 6, 9].map(counts),
            [(0, 0), (3, 3), (3, 2), (3, 1), (2, 1), (2, 0)]
        );
    }
}
