//! The `skills:` section.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which skills there are. Those in `file_state_dir/skills` always count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whether tasks have skills at all.
    pub enabled: bool,
    /// Folders in which skills lie, too; selkie only reads them.
    pub folders: Vec<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { enabled: true, folders: Vec::new() }
    }
}
