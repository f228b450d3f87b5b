//! Where the files of one task lie.

use std::path::PathBuf;

use selkie_sandbox::Confinement;

use super::{Level, Lists, Ours};

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
