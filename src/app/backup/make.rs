//! Makes a backup: under another name until it is whole, on the disk and read through once more.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use chrono::{DateTime, Utc};
use rustix::fs::{FlockOperation, flock};
use serde::Serialize;

use super::contents::{DATABASE, FORMAT, Label};
use super::files::{self, Item};
use super::pack::pack;
use super::unpack::{Looks, unpack};
use crate::build::VERSION;
use selkie_config::paths::Folders;
use selkie_store::database::Database;
use selkie_store::snapshot::{Source, snapshot};

/// A backup that is wanted.
pub struct BackupRequest<'w> {
    /// What is copied.
    pub source: Source<'w>,
    /// Where the files lie.
    pub folders: &'w Folders,
    /// Where it goes.
    pub to: &'w Path,
    /// How it is named until it is whole.
    pub part: PathBuf,
    /// Where the config has backups put: they are in none.
    pub apart: Option<&'w Path>,
    /// One that is there already is replaced.
    pub replaces: bool,
}

/// A backup that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BackupReport {
    /// Where it is.
    pub file: PathBuf,
    /// How large it is.
    pub bytes: u64,
    /// When it was made.
    pub made_at: DateTime<Utc>,
    /// How many rows it holds.
    pub rows: u64,
    /// How many files.
    pub files: u64,
    /// Selkie ran meanwhile.
    pub was_running: bool,
    /// What of the state folder is not in it, and why.
    pub left_out: Vec<String>,
}

/// Makes one. It blocks: not for a thread of a runtime.
///
/// # Errors
/// Why it cannot be made: then nothing of it is left, and what was there before is.
pub fn make(wanted: BackupRequest<'_>) -> anyhow::Result<BackupReport> {
    let BackupRequest { source, folders, to, part, apart, replaces } = wanted;
    let engine = engine(&source.database);
    let folder = folder_of(to);
    may_be_written(to, folder, folders, replaces)?;
    ensure!(
        source.state.exists(),
        "there is no state folder {} yet: name another one with --state",
        source.state.display()
    );
    let now = source.now;
    let parts = Parts::take(&part)?;
    let apart: Vec<&Path> = apart.into_iter().chain([folder]).collect();
    let found = files::look(folders, &apart)?;
    let copied = snapshot(source, &parts.database)?;
    let bytes = parts.database.metadata()?.len();
    let mut items = vec![Item { name: DATABASE.to_owned(), path: parts.database.clone(), bytes }];
    items.extend(found.items);
    let label = Label {
        format: FORMAT,
        selkie: VERSION.to_owned(),
        schema: copied.version,
        engine: engine.to_owned(),
        made_at: now,
        was_running: copied.was_running,
        files: items.len() as u64,
        bytes: items.iter().map(|item| item.bytes).fold(0, u64::saturating_add),
        rows: copied
            .tables
            .iter()
            .map(|t| (t.table.to_owned(), t.rows))
            .collect::<BTreeMap<_, _>>(),
    };
    pack(&parts.file, &label, &items).map_err(|error| full(error, folder))?;
    let written = File::open(&parts.name)?;
    let bytes = written.metadata()?.len();
    let read =
        unpack(written, &mut Looks).context("the backup that was just made cannot be read")?;
    ensure!(
        read == label,
        "the backup that was just made is not what was written: a defect of the disk?"
    );
    may_be_written(to, folder, folders, replaces)?;
    fs::rename(&parts.name, to).with_context(|| unwritten(to))?;
    File::open(folder)?.sync_all()?;
    Ok(BackupReport {
        file: to.to_owned(),
        bytes,
        made_at: now,
        rows: label.all_rows(),
        files: label.files,
        was_running: label.was_running,
        left_out: found.left_out,
    })
}

/// Names the kind of a database.
pub fn engine(database: &Database) -> &'static str {
    match database {
        Database::Own => "sqlite",
        #[cfg(feature = "postgres")]
        Database::Postgres(_) => "postgres",
    }
}

/// The folder that a file lies in.
pub fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn unwritten(file: &Path) -> String {
    format!("{} cannot be written", file.display())
}

fn may_be_written(
    to: &Path,
    folder: &Path,
    folders: &Folders,
    replaces: bool,
) -> anyhow::Result<()> {
    let real = folder.canonicalize().with_context(|| unwritten(to))?;
    if folders.state.canonicalize().is_ok_and(|state| state == real) {
        bail!(
            "{} would lie among the files that it is a backup of: name a file in another folder, best on another disk",
            to.display()
        );
    }
    match fs::symlink_metadata(to) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(anyhow::Error::new(error).context(unwritten(to))),
        Ok(found) if !found.is_file() => bail!("{} is not a file: name one", to.display()),
        Ok(_) if replaces => Ok(()),
        Ok(_) => bail!(
            "{} is there already: name another file, or replace it with --force",
            to.display()
        ),
    }
}

/// Says a full disk as one.
fn full(error: anyhow::Error, folder: &Path) -> anyhow::Error {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    match kind {
        Some(ErrorKind::StorageFull | ErrorKind::FileTooLarge | ErrorKind::QuotaExceeded) => {
            anyhow::anyhow!(
                "there is no room for the backup in {} ({error:#}): make room, or name a file on another disk; nothing is \
                 left of it there",
                folder.display()
            )
        }
        _ => error,
    }
}

/// The files that a backup is made in. They go with it.
struct Parts {
    name: PathBuf,
    file: File,
    database: PathBuf,
}

impl Parts {
    /// Takes the names; what a killed backup left there goes.
    fn take(name: &Path) -> anyhow::Result<Self> {
        let said = || unwritten(name);
        let mut options = OpenOptions::new();
        let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
        let file = options.open(name).with_context(said)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            bail!("another backup is being written to {}: wait for it", name.display());
        }
        let mut database = name.as_os_str().to_owned();
        database.push(".db");
        let parts = Self { name: name.to_owned(), file, database: database.into() };
        parts.file.set_len(0).with_context(said)?;
        parts.clear_database();
        Ok(parts)
    }

    fn clear_database(&self) {
        for ending in ["", "-wal", "-shm", "-journal"] {
            let mut name = self.database.as_os_str().to_owned();
            name.push(ending);
            // What is not there need not go; what stays makes the next try say so.
            fs::remove_file(name).ok();
        }
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        self.clear_database();
        // Under its last name it is no part any more, and nothing is found here.
        fs::remove_file(&self.name).ok();
    }
}
