//! Which skills there are: looked for below some folders, with whatever is none and why.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::skill::{Skill, shown};
use crate::tree::SKILL_MD;

/// How deep folders are looked through, and how many.
const MAX_DEPTH: usize = 6;
const MAX_FOLDERS: usize = 2_000;

/// The skills that there are, by their names, each of which stands for one.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Catalogue {
    /// Those that can be used.
    pub skills: Vec<Skill>,
    /// Those that cannot.
    pub skipped: Vec<UnusableSkill>,
}

/// A folder that looks like a skill, and is none that can be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnusableSkill {
    /// Its folder.
    #[serde(serialize_with = "shown")]
    pub folder: PathBuf,
    /// Why not.
    pub why: String,
}

impl Catalogue {
    /// Adds a skill, unless its name stands for another one already.
    pub(crate) fn add(&mut self, skill: Skill) {
        if let Some(other) = self.skills.iter().find(|other| other.name == skill.name) {
            let why = format!("{} is called {}, too", other.folder.display(), skill.name);
            self.skip(&skill.folder, why);
        } else {
            self.skills.push(skill);
        }
    }

    pub(crate) fn skip(&mut self, folder: &Path, why: String) {
        self.skipped.push(UnusableSkill { folder: folder.to_owned(), why });
    }

    /// Returns the skill of this name.
    pub fn find(&self, name: &str) -> Option<&Skill> {
        let name = name.trim();
        self.skills.iter().find(|skill| skill.name.eq_ignore_ascii_case(name))
    }

    /// Returns those that an owner has reviewed: of others a model is told nothing.
    pub fn reviewed(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter().filter(|skill| skill.is_reviewed)
    }
}

/// Lists the folders below `root` that hold a `SKILL.md`, sorted; what lies in such a folder belongs to it. No link is
/// followed.
pub(crate) fn folders(root: &Path, skipped: &mut Catalogue) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![(root.to_owned(), 0)];
    let mut seen = 0;
    while let Some((folder, depth)) = left.pop() {
        seen += 1;
        if seen > MAX_FOLDERS {
            let why =
                format!("there are more than {MAX_FOLDERS} folders: the others are not looked at");
            skipped.skip(root, why);
            break;
        }
        if fs::symlink_metadata(folder.join(SKILL_MD)).is_ok() {
            found.push(folder);
            continue;
        }
        if depth >= MAX_DEPTH {
            continue;
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let inner = entries.filter(|entry| {
            let name = entry.file_name();
            let is_plain = !name.to_string_lossy().starts_with('.') && name != "node_modules";
            is_plain && entry.file_type().is_ok_and(|kind| kind.is_dir())
        });
        left.extend(inner.map(|entry| (entry.path(), depth + 1)));
    }
    found.sort();
    found
}
