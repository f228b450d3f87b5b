//! Where config comes from.

use std::path::PathBuf;

use crate::paths::ConfigFile;
use crate::source::{Environment, Flag};

/// Where config comes from.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The file.
    pub file: ConfigFile,
    /// The environment, read once by main.
    pub env: Environment,
    /// Stronger than both, the strongest last.
    pub flags: Vec<Flag>,
    /// The working folder.
    pub here: PathBuf,
}
