//! How a command is held: in the sandbox, or by what its words say alone.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use selkie_sandbox::{Boundary, Limits, Mode, Plan, Settings};

use crate::ToolError;
use crate::paths::Roots;

/// How a command is held.
#[derive(Debug)]
pub(super) enum Hold {
    /// By the kernel.
    Sandbox(Box<Boundary>),
    /// By what its words say: whoever may run it may do what the daemon's user may. With why it is so in a sandbox's place.
    Words(Option<String>),
}

impl Hold {
    /// Finds out how the commands of a task are held.
    ///
    /// # Errors
    /// There is no sandbox, and none may run without.
    pub(super) fn of(roots: &Roots, settings: &Settings) -> Result<Self, ToolError> {
        let confinement = &roots.confinement;
        if confinement.is_missing() {
            return Err(ToolError::Tell(confinement.describe()));
        }
        if !confinement.is_in_force() {
            return Ok(Self::Words(None));
        }
        let mut writes = vec![roots.own.clone()];
        writes.extend(roots.workspace.clone());
        writes.extend(Homes::of(roots).all());
        let network = confinement.network;
        let mut closed = roots.ours.all();
        // Other conversations' files; this one's own folder is opened by name.
        closed.push(roots.cache.clone());
        if network {
            // What is not there yet an owner's command may make, as its owner may.
            closed.retain(|path| path.symlink_metadata().is_ok());
        }
        match Boundary::new(settings, writes, closed, network) {
            Ok(boundary) => Ok(Self::Sandbox(Box::new(boundary.reading(roots.skills.paths())))),
            // An owner's commands ran so before there was a sandbox.
            Err(why) if network && confinement.mode == Mode::Auto => {
                Ok(Self::Words(Some(why.to_string())))
            }
            Err(error) => Err(ToolError::Tell(format!("commands do not run here: {error}"))),
        }
    }

    /// Says how a command runs, behind the word `run`; nothing where nothing was to hold it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Sandbox(boundary) if boundary.network => " in the sandbox".to_owned(),
            Self::Sandbox(_) => " in the sandbox, without the network".to_owned(),
            Self::Words(Some(why)) => format!(" without the sandbox ({why})"),
            Self::Words(None) => String::new(),
        }
    }

    /// Makes the plan of its start, which is refused where less is in force.
    pub(super) fn plan(self, roots: &Roots, limits: &Limits) -> Plan {
        let boundary = match self {
            Self::Sandbox(boundary) => Some(*boundary),
            Self::Words(_) => None,
        };
        Plan { limits: limits.clone(), boundary, least: roots.confinement.reach }
    }
}

/// The home and the folder for short-lived files that commands of a conversation have in the sandbox. Programs do what a home
/// says, so nobody gets one that somebody else could write in who is trusted less.
pub(super) struct Homes {
    pub(super) home: PathBuf,
    pub(super) tmp: PathBuf,
}

impl Homes {
    /// Returns those of a task.
    pub(super) fn of(roots: &Roots) -> Self {
        let folder = folder_of_sandbox(&roots.own).join(roots.level.trust().name());
        Self { home: folder.join("home"), tmp: folder.join("tmp") }
    }

    fn all(self) -> [PathBuf; 2] {
        [self.home, self.tmp]
    }

    /// Makes them where they are not there.
    pub(super) fn make(&self) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        [&self.home, &self.tmp].into_iter().try_for_each(|folder| builder.create(folder))
    }
}

/// Returns the folder of the cache in which a conversation's home of the sandbox lies, beside the conversation's own: what
/// commands leave there is not among its files.
pub fn folder_of_sandbox(own: &Path) -> PathBuf {
    let mut name = own.file_name().map(OsString::from).unwrap_or_default();
    name.push(".sandbox");
    own.with_file_name(name)
}
