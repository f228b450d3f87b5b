//! Archives of skills, unpacked in memory and within bounds: what leads elsewhere, links or multiplies is refused.

use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use tar::EntryType;
use zip::ZipArchive;

use crate::error::SkillError;
use crate::tree::{LEFT_OUT, MAX_BYTES, MAX_FILES, SKILL_MD, Tree, TreeFile, too_large, too_many};

/// What a tar archive holds beside the bytes of its files, for each of these.
const AROUND: u64 = 4 * 1024;
/// What some systems add to archives.
const ADDED: &str = "__MACOSX";

/// Reads a folder, or unpacks a file.
///
/// # Errors
/// When it holds what no skill may hold, or cannot be read.
pub fn read(path: &Path) -> Result<Tree, SkillError> {
    let found = fs::metadata(path).map_err(SkillError::io(path, "read"))?;
    if found.is_dir() {
        return Tree::of_folder(path);
    }
    if found.len() > MAX_BYTES {
        return Err(too_large());
    }
    unpack(&fs::read(path).map_err(SkillError::io(path, "read"))?)
}

/// Unpacks a ZIP archive or a tar archive with gzip, by its bytes; a `SKILL.md` alone is taken, too.
///
/// # Errors
/// When it is none of these, or holds what no skill may hold.
pub fn unpack(bytes: &[u8]) -> Result<Tree, SkillError> {
    match bytes {
        [b'P', b'K', 3 | 5, ..] => of_zip(bytes),
        [0x1f, 0x8b, ..] => of_tar(bytes),
        _ => of_text(bytes),
    }
}

fn of_text(bytes: &[u8]) -> Result<Tree, SkillError> {
    let begins = |text: &str| text.trim_start_matches('\u{feff}').starts_with("---");
    if !std::str::from_utf8(bytes).is_ok_and(begins) {
        let takes = "is no skill: takes a folder, a ZIP archive, a .tar.gz, or a SKILL.md";
        return Err(SkillError::unfit(takes));
    }
    let mut tree = Tree::default();
    tree.add(SKILL_MD, TreeFile { bytes: bytes.to_vec(), is_program: false })?;
    Ok(tree)
}

fn of_zip(bytes: &[u8]) -> Result<Tree, SkillError> {
    let broken =
        |why: zip::result::ZipError| SkillError::unfit(format!("is a broken ZIP archive: {why}"));
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    if zip.len() > 2 * MAX_FILES {
        return Err(too_many());
    }
    if zip.has_overlapping_entries().unwrap_or(true) {
        return Err(SkillError::unfit("is a ZIP archive whose files overlap"));
    }
    let mut tree = Tree::default();
    for index in 0..zip.len() {
        let entry = zip.by_index(index).map_err(broken)?;
        let name = entry.name().map_err(broken)?.into_owned();
        if entry.is_symlink() {
            return Err(link(&name));
        }
        if entry.is_dir() || is_left_out(&name) {
            continue;
        }
        let is_program = entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
        add(&mut tree, &name, is_program, entry)?;
    }
    Ok(tree)
}

fn of_tar(bytes: &[u8]) -> Result<Tree, SkillError> {
    let broken = |why: std::io::Error| SkillError::unfit(format!("is a broken tar archive: {why}"));
    let most = MAX_BYTES + AROUND * MAX_FILES as u64;
    let mut tar = tar::Archive::new(GzDecoder::new(bytes).take(most));
    let mut tree = Tree::default();
    for entry in tar.entries().map_err(broken)? {
        let entry = entry.map_err(broken)?;
        let name = String::from_utf8(entry.path_bytes().into_owned());
        let name = name.map_err(|_| SkillError::unfit("a file's name is no text"))?;
        match entry.header().entry_type() {
            EntryType::Directory | EntryType::XGlobalHeader => continue,
            EntryType::Regular | EntryType::Continuous => {}
            _ => return Err(link(&name)),
        }
        if is_left_out(&name) {
            continue;
        }
        let is_program = entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0);
        let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
        add(&mut tree, &name, is_program, entry)?;
    }
    Ok(tree)
}

fn add(tree: &mut Tree, name: &str, is_program: bool, from: impl Read) -> Result<(), SkillError> {
    // One byte more shows that it is too much.
    let most = MAX_BYTES - tree.bytes() + 1;
    let mut bytes = Vec::new();
    let read = from.take(most).read_to_end(&mut bytes);
    read.map_err(|why| SkillError::unfit(format!("{name} cannot be unpacked: {why}")))?;
    tree.add(name, TreeFile { bytes, is_program })
}

fn is_left_out(name: &str) -> bool {
    name.split('/').any(|part| part == ADDED || LEFT_OUT.contains(&part))
}

fn link(name: &str) -> SkillError {
    SkillError::unfit(format!(
        "{name:?} is a link or no file: a skill holds files and folders alone"
    ))
}
