//! Where the files of one task lie.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use selkie_sandbox::Confinement;

use super::{ClosedPaths, Level, Lists, Ours, SkillFolders, Zone};

/// Where files may be read and written in one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// The whole cache; only the conversation's own folder of it is open.
    pub cache: PathBuf,
    /// The conversation's own folder of the cache: always open.
    pub own: PathBuf,
    /// The state folder, for owners in private: see the rules of paths for what of it is open.
    pub state: Option<PathBuf>,
    /// The conversation's workspace.
    pub workspace: Option<PathBuf>,
    /// Skills: to read.
    pub skills: SkillFolders,
    /// Files elsewhere on the machine may be read.
    pub elsewhere: bool,
    /// What is the bot's own, closed wherever it lies.
    pub ours: Ours,
    /// Lists of the state folder that people edit, too.
    pub lists: Lists,
    /// How commands run.
    pub confinement: Confinement,
    /// How far what is read and written comes from others.
    pub level: Level,
}

/// The real places of a scope's roots, and what is closed wherever it lies; no zone for the rest of the
/// cache and a closed state folder.
pub struct RealRoots {
    pub(super) roots: Vec<(Option<Zone>, PathBuf)>,
    pub(super) closed: Arc<ClosedPaths>,
}

impl RealRoots {
    /// The innermost root around a real path.
    pub(super) fn around(&self, real: &Path) -> Option<&(Option<Zone>, PathBuf)> {
        let around = self.roots.iter().filter(|(_, root)| real.starts_with(root));
        around.reduce(|best, next| {
            if next.1.components().count() > best.1.components().count() { next } else { best }
        })
    }
}
