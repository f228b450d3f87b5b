//! A skill that is to be installed, reviewed or loaded: all its files, and what they say.

use crate::error::SkillError;
use crate::skill::one_line;
use crate::tree::{SKILL_MD, Tree};
use crate::{front, name};

const MAX_TEXT: usize = 256 * 1024;

/// A skill as it comes.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name, in the letters of the specification.
    pub name: String,
    /// What it is for, in one line.
    pub description: String,
    pub(crate) body: String,
    /// The credentials that its work needs, by their names in the config.
    pub(crate) auth_profiles: Vec<String>,
    /// Where it comes from.
    pub source: String,
    /// All its files.
    pub tree: Tree,
    /// The hash over them.
    pub hash: String,
    /// What is not as the specification has it, and does no harm.
    pub warnings: Vec<String>,
}

impl Package {
    /// Reads the `SKILL.md` of a skill.
    ///
    /// # Errors
    /// Why it is no skill that can be used.
    pub fn of(tree: Tree, source: &str) -> Result<Self, SkillError> {
        let unfit = |why: &str| SkillError::unfit(format!("{SKILL_MD} {why}"));
        let found = tree.files.get(SKILL_MD).ok_or_else(|| unfit("is missing"))?;
        if found.bytes.len() > MAX_TEXT {
            return Err(unfit(&format!("has more than {} KiB", MAX_TEXT / 1024)));
        }
        let text = tree.text(SKILL_MD).ok_or_else(|| unfit("is no text in UTF-8"))?;
        let front = front::read(text).map_err(|why| unfit(&why))?;
        let description = front.text("description").map(|text| one_line(&text));
        let description = description
            .filter(|text| !text.is_empty())
            .ok_or_else(|| unfit("has no description: nobody could know what it is for"))?;
        let auth_profiles = front.words("auth_profiles");
        let mut warnings = front.warnings.clone();
        let written = front.text("name").unwrap_or_else(|| {
            warnings.push("has no name: its folder's is taken".to_owned());
            tree.folder.clone()
        });
        let name = name::usable(&written)?;
        if name != written || (name != tree.folder && !tree.folder.is_empty()) {
            warnings.push(format!("the name {written:?} is to be the folder's, in small letters"));
        }
        Ok(Self {
            name,
            description,
            body: front.body,
            auth_profiles,
            source: source.to_owned(),
            hash: tree.hash(),
            tree,
            warnings,
        })
    }
}

/// Finds the skills in a folder or an archive; with `wanted`, the one that is called so.
///
/// # Errors
/// When there is none that can be used, or one of several has to be named.
pub fn open(tree: &Tree, source: &str, wanted: Option<&str>) -> Result<Package, SkillError> {
    let mut found = tree.skills();
    found.retain(|skill| wanted.is_none_or(|wanted| skill.folder == wanted));
    let why = match found.as_slice() {
        [_] => return Package::of(found.remove(0), source),
        [] => match wanted {
            Some(wanted) => format!("there is no skill {wanted} in {source}"),
            None => format!("there is no SKILL.md in {source}"),
        },
        several => {
            let names: Vec<&str> = several.iter().map(|skill| skill.folder.as_str()).collect();
            format!("there are several skills: choose one with --skill ({})", names.join(", "))
        }
    };
    Err(SkillError::unfit(why))
}
