//! All files of one skill: read within bounds, without a link followed, and the hash over all of them.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use selkie_channel_core::hash::in_hex;
use sha2::{Digest as _, Sha256};

use crate::error::SkillError;

/// Bytes of a skill, of all its files together.
pub const MAX_BYTES: u64 = 20 * 1024 * 1024;
/// Its files.
pub(crate) const MAX_FILES: usize = 2_000;
/// How deep its folders lie.
const MAX_DEPTH: usize = 16;
const MAX_PATH: usize = 400;
pub(crate) const SKILL_MD: &str = "SKILL.md";
/// Of a checkout: no part of the skill.
pub(crate) const LEFT_OUT: [&str; 2] = [".git", ".DS_Store"];

/// The files of a skill, by their paths from its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// What its folder is called; empty where nobody knows.
    pub(crate) folder: String,
    /// Only [`Tree::add`] puts some in.
    pub(crate) files: BTreeMap<String, TreeFile>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeFile {
    pub bytes: Vec<u8>,
    /// It may be started as it is.
    pub is_program: bool,
}

impl Tree {
    /// Reads a folder.
    ///
    /// # Errors
    /// When it holds a link, or too much, or cannot be read.
    pub fn of_folder(folder: &Path) -> Result<Self, SkillError> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let mut tree = Self { folder: name.into_owned(), ..Self::default() };
        for found in walk(folder)? {
            let path = folder.join(&found.path);
            let refused = || SkillError::io(&path, "read");
            let mut bytes = Vec::new();
            // One byte more shows that it grows.
            let most = found.size + 1;
            let read = open(&path).and_then(|file| file.take(most).read_to_end(&mut bytes));
            read.map_err(refused())?;
            tree.add(&found.path, TreeFile { bytes, is_program: found.is_program })?;
        }
        Ok(tree)
    }

    /// Adds a file.
    ///
    /// # Errors
    /// When its path leads elsewhere or cannot be shown, stands there already, or it is too much.
    pub(crate) fn add(&mut self, path: &str, file: TreeFile) -> Result<(), SkillError> {
        check_path(path)?;
        if self.bytes() + file.bytes.len() as u64 > MAX_BYTES {
            return Err(too_large());
        }
        if self.files.len() >= MAX_FILES {
            return Err(too_many());
        }
        match self.files.insert(path.to_owned(), file) {
            None => Ok(()),
            Some(_) => Err(SkillError::unfit(format!("{path} stands there twice"))),
        }
    }

    /// Returns the text of a file; nothing where there is none, or it is no text.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        std::str::from_utf8(&self.files.get(path)?.bytes).ok()
    }

    /// Returns how many bytes it has.
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|file| file.bytes.len() as u64).sum()
    }

    /// Returns the hash over every path and every byte: `sha256:…`.
    pub fn hash(&self) -> String {
        let mut sum = Sha256::new();
        for (path, file) in &self.files {
            for part in [path.as_bytes(), &file.bytes] {
                sum.update((part.len() as u64).to_be_bytes());
                sum.update(part);
            }
        }
        format!("sha256:{}", in_hex(&sum.finalize()))
    }

    /// Takes the skills out of it: the folders that hold a `SKILL.md` and lie in no other one that does.
    pub(crate) fn skills(&self) -> Vec<Self> {
        let tops = self.files.keys().filter_map(|path| path.strip_suffix(SKILL_MD));
        let mut tops: Vec<&str> = tops.filter(|top| top.is_empty() || top.ends_with('/')).collect();
        tops.sort();
        // What begins with another one stands right behind it.
        tops.dedup_by(|top, outer| top.starts_with(*outer));
        tops.into_iter().map(|top| self.below(top)).collect()
    }

    fn below(&self, top: &str) -> Self {
        let folder = match top.trim_end_matches('/') {
            "" => &self.folder,
            path => path.rsplit('/').next().unwrap_or(path),
        };
        let files = self
            .files
            .iter()
            .filter_map(|(path, file)| Some((path.strip_prefix(top)?.to_owned(), file.clone())));
        Self { folder: folder.to_owned(), files: files.collect() }
    }
}

/// A file as a look at its folder shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundFile {
    pub path: String,
    pub size: u64,
    pub is_program: bool,
    /// When it was changed, by the clock that nobody can set for a file: seconds and nanoseconds.
    pub changed: [i64; 2],
    /// Which file of the disk it is.
    pub inode: u64,
}

/// Looks at all files below a folder, sorted by path.
///
/// # Errors
/// When there is a link or too much, or a folder cannot be read.
pub(crate) fn walk(folder: &Path) -> Result<Vec<FoundFile>, SkillError> {
    let mut found = Vec::new();
    let mut bytes = 0_u64;
    let mut left = vec![PathBuf::new()];
    while let Some(below) = left.pop() {
        let here = folder.join(&below);
        let refused = || SkillError::io(&here, "read");
        for entry in fs::read_dir(&here).map_err(refused())? {
            let entry = entry.map_err(refused())?;
            let name = entry.file_name();
            if LEFT_OUT.iter().any(|left_out| name == *left_out) {
                continue;
            }
            let path = below.join(&name);
            let kind = entry.metadata().map_err(refused())?;
            let shown = path.display();
            if kind.is_dir() && path.components().count() < MAX_DEPTH {
                left.push(path);
                continue;
            }
            if !kind.is_file() {
                let what = if kind.is_symlink() { "is a link" } else { "is no file" };
                let why = format!("{shown} {what}: a skill holds files and folders alone");
                return Err(SkillError::unfit(why));
            }
            bytes += kind.len();
            if bytes > MAX_BYTES {
                return Err(too_large());
            }
            let name =
                path.to_str().ok_or_else(|| SkillError::unfit("a file's name is no text"))?;
            found.push(FoundFile {
                path: name.to_owned(),
                size: kind.len(),
                is_program: kind.permissions().mode() & 0o111 != 0,
                changed: [kind.ctime(), kind.ctime_nsec()],
                inode: kind.ino(),
            });
            if found.len() > MAX_FILES {
                return Err(too_many());
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Opens a file, and no link in its place; opening does not wait for the other end of a pipe.
fn open(path: &Path) -> std::io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Refuses a path that leads out of the folder, or that a person could not read as it is.
fn check_path(path: &str) -> Result<(), SkillError> {
    let is_odd = |c: char| c == '\\' || selkie_domain::screen::is_unseen(c);
    let part_is_odd = |part: &str| matches!(part, "" | "." | "..") || part.chars().any(is_odd);
    if path.len() > MAX_PATH || path.split('/').any(part_is_odd) {
        let shown: String = path.chars().take(80).collect();
        let why = format!("{shown:?} is no path that is taken from a skill");
        return Err(SkillError::unfit(why));
    }
    if path.split('/').count() > MAX_DEPTH {
        return Err(SkillError::unfit(format!("{path} lies too deep")));
    }
    Ok(())
}

pub(crate) fn too_large() -> SkillError {
    SkillError::unfit(format!("it holds more than {} MiB", MAX_BYTES / 1024 / 1024))
}

pub(crate) fn too_many() -> SkillError {
    SkillError::unfit(format!("it holds more than {MAX_FILES} files"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> TreeFile {
        TreeFile { bytes: text.into(), is_program: false }
    }

    #[test]
    fn a_link_or_what_is_no_file_is_refused() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(SKILL_MD), "x").unwrap();
        fs::create_dir_all(home.path().join(".git/objects")).unwrap();
        assert_eq!(walk(home.path()).unwrap().len(), 1, "of a checkout, git's own is left out");
        std::os::unix::fs::symlink("/etc/passwd", home.path().join("notes.md")).unwrap();
        let why = Tree::of_folder(home.path()).unwrap_err().to_string();
        assert_eq!(why, "notes.md is a link: a skill holds files and folders alone");
    }

    #[test]
    fn every_byte_and_every_name_counts_in_the_hash() {
        let tree = |files: &[(&str, &str)]| {
            let mut tree = Tree::default();
            files.iter().for_each(|(path, text)| tree.add(path, file(text)).unwrap());
            tree.hash()
        };
        let one = tree(&[("SKILL.md", "a"), ("b", "c")]);
        assert_eq!(one, tree(&[("b", "c"), ("SKILL.md", "a")]));
        for other in [
            tree(&[("SKILL.md", "a"), ("b", "d")]),
            tree(&[("SKILL.md", "a"), ("d", "c")]),
            tree(
                &[("SKILL.md", "ab"), ("", "c")]
                    .map(|(p, t)| if p.is_empty() { ("c", t) } else { (p, t) }),
            ),
            tree(&[("SKILL.md", "a")]),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn paths_stay_inside_and_can_be_read() {
        let mut tree = Tree::default();
        for odd in ["../a", "a/../b", "/a", "a//b", "a\\b", "a\u{202e}b", "", "."] {
            assert!(tree.add(odd, file("x")).is_err(), "{odd}");
        }
        tree.add("a b/ü.md", file("x")).unwrap();
        assert!(tree.add("a b/ü.md", file("y")).is_err(), "twice");
    }

    #[test]
    fn skills_of_an_archive_are_found_where_they_begin() {
        let mut tree = Tree::default();
        for path in ["r/a/SKILL.md", "r/a/x/SKILL.md", "r/b/SKILL.md", "r/c.md"] {
            tree.add(path, file(path)).unwrap();
        }
        let skills = tree.skills();
        assert_eq!(Vec::from_iter(skills.iter().map(|one| one.folder.as_str())), ["a", "b"]);
        assert_eq!(Vec::from_iter(skills[0].files.keys()), ["SKILL.md", "x/SKILL.md"]);
    }
}
