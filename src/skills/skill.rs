//! One skill, as it lies on the disk.

use std::path::{Path, PathBuf};

use selkie_domain::screen::is_unseen;
use serde::{Serialize, Serializer};

/// A skill that tasks can have. Written for programs, it has what an owner may know of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skill {
    /// Its name, in the letters of the specification.
    pub name: String,
    /// What it is for, in one line.
    pub description: String,
    /// Its folder, by its real path.
    #[serde(serialize_with = "shown")]
    pub folder: PathBuf,
    /// Where it was installed from.
    pub source: Option<String>,
    /// The hash of all its files.
    pub hash: String,
    /// An owner has seen these very files.
    #[serde(rename = "reviewed")]
    pub is_reviewed: bool,
    /// How many files it has.
    pub files: usize,
    /// And bytes.
    pub bytes: u64,
    /// What is not as the specification has it, and does no harm.
    pub warnings: Vec<String>,
    /// By which the list of what was reviewed knows it.
    #[serde(skip)]
    pub(crate) key: String,
    /// The credentials that its work needs, by their names in the config.
    #[serde(skip)]
    pub(crate) auth_profiles: Vec<String>,
    #[serde(skip)]
    pub(crate) changed: [i64; 2],
}

/// Writes a path for programs, also one that is no text.
pub(crate) fn shown<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// Puts a text on one line of what can be seen.
pub(crate) fn one_line(text: &str) -> String {
    let seen = text.chars().filter(|c| c.is_whitespace() || !is_unseen(*c));
    seen.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}
