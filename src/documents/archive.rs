//! An archive whose files are unpacked within bounds.

use std::io::{Cursor, Read as _};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::bounds::{ENTRIES, ENTRY, RATIO, RATIO_FROM, UNPACKED};
use crate::encoding;
use crate::error::DocumentError;
use crate::kind::Kind;

/// An archive.
pub(crate) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// For errors; set when it is known.
    pub(crate) kind: Kind,
    left: u64,
}

impl<'a> Archive<'a> {
    /// Opens an archive and looks at what it claims.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, DocumentError> {
        let zip = ZipArchive::new(Cursor::new(bytes));
        let mut zip = zip.map_err(|_| DocumentError::NoDocument(NOT_OPENED))?;
        if zip.len() > ENTRIES {
            return Err(DocumentError::TooLarge("it holds too many files"));
        }
        if zip.has_overlapping_entries().unwrap_or(true) {
            return Err(DocumentError::NoDocument("a ZIP archive whose files overlap"));
        }
        Ok(Self { zip, kind: Kind::Text, left: UNPACKED })
    }

    /// Refuses an archive that claims more than is allowed: for a reader that unpacks by itself, and those files that
    /// begin so piece by piece.
    pub(crate) fn check_claims(&mut self, streamed: &str) -> Result<(), DocumentError> {
        let mut all = 0_u64;
        for index in 0..self.zip.len() {
            let file = self.zip.by_index_raw(index);
            let file = file.map_err(|_| DocumentError::NoDocument(NOT_OPENED))?;
            if file.name().is_ok_and(|name| name.starts_with(streamed)) {
                if is_bomb(file.size(), file.compressed_size()) {
                    return Err(TOO_LARGE);
                }
                continue;
            }
            check(file.size(), file.compressed_size())?;
            all = all.saturating_add(file.size());
        }
        if all > UNPACKED { Err(TOO_LARGE) } else { Ok(()) }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    /// Lists its files that begin and end so, in the order of the numbers in their names.
    pub(crate) fn names(&self, begin: &str, end: &str) -> Vec<String> {
        let all = self.zip.file_names().flatten();
        let fit = all.filter(|name| name.starts_with(begin) && name.ends_with(end));
        let mut names: Vec<String> = fit.map(|name| name.into_owned()).collect();
        names.sort_by_key(|name| (number(name), name.clone()));
        names
    }

    /// Returns a file of it; `None` when there is none.
    pub(crate) fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>, DocumentError> {
        let kind = self.kind;
        let file = match self.zip.by_name(name) {
            Ok(file) => file,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => {
                return Err(DocumentError::Encrypted(kind.name()));
            }
            Err(error) => return Err(DocumentError::Damaged(kind, error.to_string())),
        };
        let packed = file.compressed_size();
        check(file.size(), packed)?;
        let most = ENTRY.min(self.left);
        let mut bytes = Vec::new();
        let read = file.take(most + 1).read_to_end(&mut bytes);
        // What was unpacked before it broke off is there; whoever reads it says so.
        if let Err(error) = read
            && bytes.is_empty()
        {
            return Err(DocumentError::Damaged(kind, error.to_string()));
        }
        let unpacked = bytes.len() as u64;
        check(unpacked, packed)?;
        self.left = self.left.checked_sub(unpacked).ok_or(TOO_LARGE)?;
        Ok(Some(bytes))
    }

    /// Returns a file of it as text.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, DocumentError> {
        let bytes = self.bytes(name)?;
        Ok(bytes.map(|bytes| match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => encoding::decode(error.as_bytes()).text,
        }))
    }

    /// Returns a file that must be there as text.
    pub(crate) fn required(&mut self, name: &str) -> Result<String, DocumentError> {
        let missing = || DocumentError::Damaged(self.kind, format!("{name} is missing"));
        let missing = missing();
        self.text(name)?.ok_or(missing)
    }
}

const NOT_OPENED: &str = "a ZIP archive that cannot be opened";
const TOO_LARGE: DocumentError = DocumentError::TooLarge("it unpacks to far more than it holds");

fn is_bomb(unpacked: u64, packed: u64) -> bool {
    unpacked > RATIO_FROM && unpacked / packed.max(1) > RATIO
}

fn check(unpacked: u64, packed: u64) -> Result<(), DocumentError> {
    if unpacked > ENTRY || is_bomb(unpacked, packed) { Err(TOO_LARGE) } else { Ok(()) }
}

/// The number in a name: `slide10.xml` stands behind `slide9.xml`.
fn number(name: &str) -> u64 {
    let digits: String = name.chars().filter(char::is_ascii_digit).take(12).collect();
    digits.parse().unwrap_or(0)
}

/// Joins a path of an archive with one that is told from there: `ppt/slides/_rels` and `../notes/1.xml`.
pub(crate) fn joined(folder: &str, path: &str) -> String {
    let path = path.split(['#', '?']).next().unwrap_or_default();
    let whole = match path.strip_prefix('/') {
        Some(rooted) => rooted.to_owned(),
        None => format!("{folder}/{path}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
