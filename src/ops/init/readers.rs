//! Whose a config is, and who else reads it: what is written in its place is theirs, too, and is read by the same.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::Path;

/// Whose what is written is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Readers {
    /// Root writes for somebody else.
    owner: Option<u32>,
    /// A group that reads it: the one of a service's user.
    group: Option<u32>,
}

impl Readers {
    /// Looks at the config that is there. Where none is, root goes by its folder; whoever else writes a new one reads it alone.
    pub fn of(config: &Path) -> Self {
        let is_root = rustix::process::geteuid().is_root();
        let there = fs::metadata(config).ok().map(|found| Self::like(&found, 0o040));
        let folder = || fs::metadata(config.parent()?).ok().filter(|_| is_root);
        let found = there.or_else(|| Some(Self::like(&folder()?, 0o050))).unwrap_or_default();
        Self { owner: found.owner.filter(|_| is_root), ..found }
    }

    /// A group is meant to read what it can and others cannot; root's own never is.
    fn like(found: &Metadata, bits: u32) -> Self {
        let shared = found.mode() & (bits | bits >> 3) == bits && found.gid() != 0;
        Self { owner: Some(found.uid()), group: shared.then_some(found.gid()) }
    }

    /// The rights of a file of theirs, or a folder.
    pub fn mode(&self, is_folder: bool) -> u32 {
        match (self.group.is_some(), is_folder) {
            (true, true) => 0o750,
            (true, false) => 0o640,
            (false, true) => 0o700,
            (false, false) => 0o600,
        }
    }

    /// Gives them a file or a folder that was made for its writer alone.
    ///
    /// # Errors
    /// When the system does not allow it.
    pub fn give(&self, made: &File) -> io::Result<()> {
        let metadata = made.metadata()?;
        if self.owner.is_some_and(|owner| owner != metadata.uid()) || self.group.is_some() {
            fchown(made, self.owner, self.group)?;
        }
        made.set_permissions(fs::Permissions::from_mode(self.mode(metadata.is_dir())))
    }

    /// Whether nobody but them can read a file.
    pub fn are_alone_with(&self, found: &Metadata) -> bool {
        let others = found.mode() & 0o077 & !(self.mode(false) & 0o077);
        let is_theirs = self.group.is_none_or(|group| found.gid() == group);
        found.is_file() && others == 0 && (is_theirs || found.mode() & 0o070 == 0)
    }

    /// In words, for whoever has written it.
    pub fn in_words(&self) -> &'static str {
        match self.group {
            Some(_) => "Only you and the service's user",
            None => "Only you",
        }
    }
}
