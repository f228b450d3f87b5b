//! One skill, as it lies on the disk.

use std::path::PathBuf;

use selkie_domain::screen::is_unseen;

use crate::error::SkillError;
use crate::tree::{SKILL_MD, Tree};
use crate::{front, name};

/// Bytes of a `SKILL.md`.
pub(crate) const MAX_TEXT: usize = 256 * 1024;

/// A skill that tasks can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Its name, in the letters of the specification.
    pub name: String,
    /// What it is for, in one line.
    pub description: String,
    /// Its folder, by its real path.
    pub folder: PathBuf,
    /// By which the list of what was reviewed knows it.
    pub key: String,
    /// The hash of all its files.
    pub hash: String,
    /// An owner has seen these very files.
    pub is_reviewed: bool,
    /// Where it was installed from.
    pub source: Option<String>,
    /// How many files it has.
    pub files: usize,
    /// And bytes.
    pub bytes: u64,
    /// What is not as the specification has it, and does no harm.
    pub warnings: Vec<String>,
    /// The credentials that its work needs, by their names in the config.
    pub auth_profiles: Vec<String>,
    /// When a file of it was last changed.
    pub(crate) changed: [i64; 2],
}

/// What a `SKILL.md` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    pub name: String,
    pub description: String,
    pub body: String,
    pub auth_profiles: Vec<String>,
    pub warnings: Vec<String>,
}

/// Reads the `SKILL.md` of a skill whose folder is called so.
///
/// # Errors
/// Why it is no skill that can be used.
pub(crate) fn words(tree: &Tree, folder: &str) -> Result<Words, SkillError> {
    let unfit = |why: &str| SkillError::unfit(format!("{SKILL_MD} {why}"));
    let found = tree.files().get(SKILL_MD).ok_or_else(|| unfit("is missing"))?;
    if found.bytes.len() > MAX_TEXT {
        return Err(unfit(&format!("has more than {} KiB", MAX_TEXT / 1024)));
    }
    let text = tree.text(SKILL_MD).ok_or_else(|| unfit("is no text in UTF-8"))?;
    let front = front::read(text).map_err(|why| unfit(&why))?;
    let description = front.text("description").map(|text| one_line(&text)).unwrap_or_default();
    if description.is_empty() {
        return Err(unfit("has no description: nobody could know what it is for"));
    }
    let mut warnings = front.warnings.clone();
    let written = front.text("name").unwrap_or_else(|| {
        warnings.push("has no name: its folder's is taken".to_owned());
        folder.to_owned()
    });
    let name = name::usable(&written)?;
    if name != written || (name != folder && !folder.is_empty()) {
        warnings.push(format!("the name {written:?} is to be the folder's, in small letters"));
    }
    let auth_profiles = front.words("auth_profiles");
    Ok(Words { name, description, body: front.body, auth_profiles, warnings })
}

/// Puts a text on one line of what can be seen.
pub(crate) fn one_line(text: &str) -> String {
    let seen: String = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .filter(|c| !is_unseen(*c))
        .collect();
    seen.split_whitespace().collect::<Vec<_>>().join(" ")
}
