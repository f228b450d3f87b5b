//! Reads an archive that anybody may have made: every name, kind, size and count is looked at before it is believed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use flate2::read::GzDecoder;
use tar::{Archive, EntryType};

use super::contents::{ArchivedFile, CACHE, DATABASE, FORMAT, LABEL, LIST, Label, STATE};
use super::digest::DigestReader;
use super::files::{is_not_kept, is_plain};
use super::names::Names;

/// A label has no more bytes.
const MAX_LABEL: u64 = 64 << 10;
/// Nor has the list.
const MAX_LIST: u64 = 64 << 20;
/// There are no more files than this, whatever the label says.
const MAX_FILES: u64 = 250_000;
/// A name is no longer, and goes no deeper.
const MAX_NAME: u64 = 1024;
const DEEPEST: usize = 32;
/// What a file system takes as one name.
const MAX_PART: usize = 255;
/// So much more than the label says may have come together while the archive was written.
pub const SPARE: u64 = 16 << 20;
/// What may stand behind the end: tar fills its last block.
const BEHIND: u64 = 1 << 20;

/// Who takes what is read.
pub trait Taker {
    /// Looks at the label; nothing is read on when it refuses.
    ///
    /// # Errors
    /// Why this archive is not taken.
    fn label(&mut self, label: &Label) -> anyhow::Result<()>;

    /// Takes a file; what it does not read is read past.
    ///
    /// # Errors
    /// Why it cannot be taken.
    fn file(&mut self, name: &str, from: &mut dyn Read) -> anyhow::Result<()>;
}

/// Looks at everything and keeps nothing.
pub struct Looks;

impl Taker for Looks {
    fn label(&mut self, _: &Label) -> anyhow::Result<()> {
        Ok(())
    }

    fn file(&mut self, _: &str, _: &mut dyn Read) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Reads an archive to its end; returns its label when all that it holds is what it says.
///
/// # Errors
/// What is wrong with it, or why it was not taken.
pub fn unpack(file: File, taker: &mut dyn Taker) -> anyhow::Result<Label> {
    let mut file = BufReader::new(file);
    ensure!(file.fill_buf().context(CUT)?.starts_with(&PACKED), NONE);
    let mut archive = Archive::new(GzDecoder::new(file));
    let mut reading = ReadProgress::default();
    // Raw: a name of its own length is read here, and not of any length by the library.
    for entry in archive.entries().context(NONE)?.raw(true) {
        let mut entry = entry.map_err(|error| broken(error, &reading.last))?;
        let kind = entry.header().entry_type();
        let size = entry.header().entry_size().context("a size in it is none")?;
        if kind == EntryType::GNULongName {
            reading.take_long_name(size, &mut entry)?;
            continue;
        }
        ensure!(
            kind == EntryType::Regular,
            "it holds something that is not a file (a link, a folder, a device)"
        );
        let name = match reading.long_name.take() {
            Some(name) => name,
            None => text(&entry.path_bytes())?,
        };
        reading.entry(&name, size, &mut entry, taker)?;
    }
    let label = reading.whole()?;
    behind(archive.into_inner())?;
    Ok(label)
}

/// Opens a backup. A pipe or a device would be waited for without an end.
///
/// # Errors
/// When it cannot be read.
pub fn opened(from: &Path) -> anyhow::Result<File> {
    ensure!(from.metadata()?.is_file(), "it is not a regular file");
    Ok(File::open(from)?)
}

/// How everything begins that was packed by gzip.
const PACKED: [u8; 2] = [0x1f, 0x8b];
/// What an archive is that does not begin as one.
const NONE: &str = "it is not a backup made by selkie";
/// What one is that cannot be read to its end.
const CUT: &str = "it is cut or damaged";

/// Says how far an archive can be read; `at` is empty before its first file.
fn broken(error: std::io::Error, at: &str) -> anyhow::Error {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof if at.is_empty() => {
            anyhow::anyhow!("the backup ends too early, at its beginning: it was cut")
        }
        std::io::ErrorKind::UnexpectedEof => {
            anyhow::anyhow!("the backup ends too early, at {at:?}: it was cut")
        }
        _ if at.is_empty() => anyhow::Error::new(error).context(NONE),
        _ => anyhow::Error::new(error).context(format!("{CUT}, at {at:?}")),
    }
}

/// How far an archive was read.
#[derive(Default)]
struct ReadProgress {
    label: Option<Label>,
    list: Option<Vec<ArchivedFile>>,
    /// What was found, by name.
    found: BTreeMap<String, ArchivedFile>,
    files: u64,
    bytes: u64,
    long_name: Option<String>,
    names: Names,
    /// What was read last.
    last: String,
}

impl ReadProgress {
    fn take_long_name(&mut self, size: u64, from: &mut dyn Read) -> anyhow::Result<()> {
        ensure!(size <= MAX_NAME + 1, "a name in it is too long: more than {MAX_NAME} bytes");
        let mut name = Vec::new();
        from.take(size).read_to_end(&mut name).context(CUT)?;
        while name.last() == Some(&0) {
            name.pop();
        }
        self.long_name = Some(text(&name)?);
        Ok(())
    }

    fn entry(
        &mut self,
        name: &str,
        size: u64,
        from: &mut dyn Read,
        taker: &mut dyn Taker,
    ) -> anyhow::Result<()> {
        ensure!(self.list.is_none(), "something follows its list of files");
        name.clone_into(&mut self.last);
        let Some(label) = &self.label else {
            ensure!(name == LABEL, NONE);
            let label = label_of(size, from)?;
            ensure!(
                label.files <= MAX_FILES,
                "it holds {} files, and selkie restores {MAX_FILES} at most",
                label.files
            );
            taker.label(&label)?;
            self.label = Some(label);
            return Ok(());
        };
        if name == LIST {
            ensure!(size <= MAX_LIST, "its list of files is too long");
            let mut list = Vec::new();
            from.take(size).read_to_end(&mut list).map_err(|error| broken(error, name))?;
            self.list = Some(serde_json::from_slice(&list).context("its list of files")?);
            return Ok(());
        }
        self.files += 1;
        self.bytes = self.bytes.saturating_add(size);
        ensure!(self.files <= label.files, "it holds more files than its label says");
        ensure!(
            self.bytes <= label.bytes.saturating_add(SPARE),
            "it holds more bytes than its label says"
        );
        check(name)?;
        ensure!(!self.found.contains_key(name), "it holds {name:?} twice");
        if let Err(other) = self.names.take(name) {
            bail!(
                "it holds {other:?} and {name:?}, which may be one file elsewhere: by case, or by how a letter is written"
            );
        }
        let mut from = DigestReader::new(from);
        let taken = taker.file(name, &mut from);
        // What could not be read was not written either.
        if let Some(fault) = from.fault() {
            return Err(broken(fault, name));
        }
        taken?;
        std::io::copy(&mut from, &mut std::io::sink()).map_err(|error| broken(error, name))?;
        ensure!(from.count() == size, "the backup ends too early, at {name:?}: it was cut");
        let listed = ArchivedFile { path: name.to_owned(), bytes: size, sha256: from.sha256() };
        self.found.insert(name.to_owned(), listed);
        Ok(())
    }

    /// Looks whether all is there, and nothing else.
    fn whole(self) -> anyhow::Result<Label> {
        let Some(label) = self.label else { bail!(NONE) };
        let Some(list) = self.list else { bail!(CUT) };
        ensure!(self.found.contains_key(DATABASE), "it holds no database");
        let listed: BTreeSet<&str> = list.iter().map(|one| one.path.as_str()).collect();
        ensure!(
            listed.len() == list.len() && listed.len() == self.found.len(),
            "it does not hold what its list says"
        );
        for one in &list {
            ensure!(
                self.found.get(&one.path) == Some(one),
                "{:?} is not what its list says: it was damaged or changed",
                one.path
            );
        }
        Ok(label)
    }
}

fn label_of(size: u64, from: &mut dyn Read) -> anyhow::Result<Label> {
    ensure!(size <= MAX_LABEL, NONE);
    let mut text = Vec::new();
    from.take(size).read_to_end(&mut text).context(CUT)?;
    let form: serde_json::Value = serde_json::from_slice(&text).context(NONE)?;
    let format = form["format"].as_u64().context(NONE)?;
    ensure!(
        format == u64::from(FORMAT),
        "it is of form {format}, made by selkie {}, and this selkie ({}) reads form {FORMAT}: restore it with that \
         selkie or a newer one",
        form["selkie"].as_str().unwrap_or("of an unknown version"),
        crate::build::VERSION
    );
    serde_json::from_value(form).context("its label cannot be read")
}

/// A name leads to a place below the folder that is restored, and to no file that belongs to a process.
fn check(name: &str) -> anyhow::Result<()> {
    let refused =
        || format!("it holds {name:?}, which is not the name of a file that selkie keeps");
    ensure!(name.len() as u64 <= MAX_NAME && !name.contains('\0'), "{}", refused());
    if name == DATABASE {
        return Ok(());
    }
    let inside = name.strip_prefix(STATE).or_else(|| name.strip_prefix(CACHE));
    let parts: Vec<&str> = inside.with_context(refused)?.split('/').collect();
    ensure!(parts.len() <= DEEPEST, "{}", refused());
    for part in &parts {
        ensure!(is_plain(part) && part.len() <= MAX_PART, "{}", refused());
    }
    let is_of_a_process = name.starts_with(STATE) && parts.first().is_some_and(|p| is_not_kept(p));
    ensure!(!is_of_a_process, "{}", refused());
    Ok(())
}

fn text(name: &[u8]) -> anyhow::Result<String> {
    let text = String::from_utf8(name.to_vec());
    text.map_err(|e| {
        anyhow::anyhow!("a name in it is not text: {:?}", String::from_utf8_lossy(e.as_bytes()))
    })
}

/// Reads to the end: the archive's checksum stands there, and nothing else does.
fn behind(mut rest: impl Read) -> anyhow::Result<()> {
    let mut limited = (&mut rest).take(BEHIND + 1);
    let read = std::io::copy(&mut limited, &mut std::io::sink()).context(CUT)?;
    ensure!(read <= BEHIND, "something follows its end");
    Ok(())
}
