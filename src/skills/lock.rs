//! The list of what was installed from where, and which files of a skill an owner has seen: `skills.lock.json`.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::error::SkillError;

const FILE: &str = "skills.lock.json";
const MAX_BYTES: u64 = 4 * 1024 * 1024;
const VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lock {
    version: u32,
    pub skills: BTreeMap<String, LockEntry>,
}

/// What is known of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LockEntry {
    /// Where it was installed from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The hash of the files that an owner has seen.
    pub reviewed: String,
    pub at: DateTime<Utc>,
}

impl Default for Lock {
    fn default() -> Self {
        Self { version: VERSION, skills: BTreeMap::new() }
    }
}

impl Lock {
    /// Reads the list of a state folder; where there is none, nothing was reviewed.
    ///
    /// # Errors
    /// When it is damaged, or newer than this program.
    pub(crate) fn read(state: &Path) -> Result<Self, SkillError> {
        let path = state.join(FILE);
        let broken = |why: String| {
            let path = path.display();
            SkillError::unfit(format!(
                "{path} cannot be read ({why}): repair it, or remove it and review the skills again"
            ))
        };
        let found = match std::fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            found => found.map_err(SkillError::io(&path, "read"))?,
        };
        if !found.is_file() || found.len() > MAX_BYTES {
            return Err(broken("it is no file of its kind".to_owned()));
        }
        let text = std::fs::read(&path).map_err(SkillError::io(&path, "read"))?;
        let lock: Self =
            serde_json::from_slice(&text).map_err(|error| broken(error.to_string()))?;
        match lock.version {
            VERSION => Ok(lock),
            other => Err(broken(format!("it is of version {other}"))),
        }
    }

    /// Writes it whole or not at all; nobody but its owner reads it.
    pub(crate) fn write(&self, state: &Path) -> Result<(), SkillError> {
        let path = state.join(FILE);
        let write = || {
            let mut file = NamedTempFile::new_in(state)?;
            file.write_all(&serde_json::to_vec_pretty(self)?)?;
            file.write_all(b"\n")?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(SkillError::io(&path, "written"))
    }
}
