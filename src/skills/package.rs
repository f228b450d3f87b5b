//! A skill that is to be installed or reviewed: all its files, and what they say.

use std::path::Path;

use crate::archive;
use crate::error::SkillError;
use crate::skill;
use crate::tree::{MAX_BYTES, Tree};

/// A skill as it comes.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Where it comes from.
    pub source: String,
    /// All its files.
    pub tree: Tree,
    /// The hash over them.
    pub hash: String,
    /// What is not as it should be, and does no harm.
    pub warnings: Vec<String>,
}

impl Package {
    /// Takes a skill whose folder is called so.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn of(tree: Tree, folder: &str, source: &str) -> Result<Self, SkillError> {
        let words = skill::words(&tree, folder)?;
        Ok(Self {
            hash: tree.hash(),
            name: words.name,
            description: words.description,
            source: source.to_owned(),
            tree,
            warnings: words.warnings,
        })
    }
}

/// Finds the skills in a folder or an archive, or in what was downloaded; with `wanted`, the one that is called so.
///
/// # Errors
/// When there is none that can be used, or one of several has to be named.
pub fn open(from: Content<'_>, source: &str, wanted: Option<&str>) -> Result<Package, SkillError> {
    let (tree, folder) = match from {
        Content::Bytes(bytes) => (archive::unpack(bytes)?, String::new()),
        Content::Path(path) if path.is_dir() => (Tree::of_folder(path)?, file_name(path)),
        Content::Path(path) => {
            let found = std::fs::metadata(path).map_err(SkillError::io(path, "read"))?;
            if found.len() > MAX_BYTES {
                return Err(crate::tree::too_large());
            }
            let bytes = std::fs::read(path).map_err(SkillError::io(path, "read"))?;
            (archive::unpack(&bytes)?, String::new())
        }
    };
    let mut found = tree.skills();
    if let Some(wanted) = wanted {
        found.retain(|path| last(path, &folder) == wanted);
    }
    match found.as_slice() {
        [one] => {
            let tree = tree.below(one);
            let called = last(one, &folder).to_owned();
            Package::of(tree, &called, source)
        }
        [] => Err(SkillError::unfit(match wanted {
            Some(wanted) => format!("there is no skill {wanted} in {source}"),
            None => format!("there is no SKILL.md in {source}"),
        })),
        several => {
            let names: Vec<&str> = several.iter().map(|path| last(path, &folder)).collect();
            let why =
                format!("there are several skills: choose one with --skill ({})", names.join(", "));
            Err(SkillError::unfit(why))
        }
    }
}

/// What a skill is taken from.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// A folder or a file of this machine.
    Path(&'a Path),
    /// What was downloaded.
    Bytes(&'a [u8]),
}

fn last<'a>(path: &'a str, whole: &'a str) -> &'a str {
    match path {
        "" => whole,
        path => path.rsplit('/').next().unwrap_or(path),
    }
}

fn file_name(path: &Path) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
