//! Restores a backup: unpacked and looked through beside what is there, settled, held, and only then put in its place.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use chrono::{DateTime, Utc};
use serde::Serialize;

use super::belonging::give;
use super::contents::{CACHE, DATABASE, FORMAT, Label, STATE};
use super::place::{ASIDE, Place};
use super::unpack::{SPARE, Taker, opened, unpack};
use crate::build::AppConfig;
#[cfg(feature = "postgres")]
use crate::ledger;
use crate::state;
use selkie_config::paths::Folders;
use selkie_domain::clock::SystemClock;
use selkie_people::files::Files;
use selkie_store::copy::{fill, settle_restored, unseal};
use selkie_store::database::Database;
use selkie_store::sql::SqlLedger;
use selkie_store::sqlite::{self, StoreLock};
use selkie_store::{Ledger as _, RestoreOrigin, open, snapshot};

/// How long a database is looked through.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// What was restored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RestoreReport {
    /// The backup.
    pub from: PathBuf,
    /// When that was made.
    pub made_at: DateTime<Utc>,
    /// By which selkie.
    pub selkie: String,
    /// How many rows.
    pub rows: u64,
    /// How many files.
    pub files: u64,
    /// Where it lies now.
    pub state: PathBuf,
    /// Where the life before was moved to.
    pub moved_aside: Option<PathBuf>,
    /// Selkie ran when the backup was made, and may have answered since what waits in it.
    pub was_running: bool,
}

/// Restores a backup into the state folder of a config, and into its database.
///
/// # Errors
/// Why it is not restored: then what was there is as it was, unless the moving had begun: it says so, and goes on when this
/// is called again.
pub async fn restore(
    config: &AppConfig,
    from: &Path,
    force: bool,
) -> anyhow::Result<RestoreReport> {
    let folders = &config.folders;
    let file = opened(from).with_context(|| format!("{} cannot be read", from.display()))?;
    state::make(&folders.state).with_context(|| {
        format!("the state folder {} cannot be created", folders.state.display())
    })?;
    let lock = StoreLock::take(&folders.state.join("selkie.lock"))?;
    let kind = Kind::of(&file)?;
    let place = Place::of(&folders.state, from);
    let place = if kind == Kind::Database { place.of_the_database() } else { place };
    if super::begun(&folders.state).is_some() {
        place.finish()?;
        ensure!(
            force,
            "an earlier restore had been interrupted, and is complete now: run `selkie resume`; to restore this \
             backup instead, add --force"
        );
    }
    refuse_a_life(&place, folders, force)?;
    let target = Target::open(config).await?;
    let stage = Stage::make(place.stage())?;
    let given = RestoreRequest { file, kind, from };
    let made = made_ready(given, &stage, folders, config.now(), target.as_ref()).await;
    let label = match made {
        Ok(label) => label,
        Err(error) => {
            close(target).await;
            return Err(error);
        }
    };
    let aside = format!("{ASIDE}{}", config.now().format("%Y%m%dT%H%M%SZ"));
    let moved = moved_in(&place, &aside, target.as_ref()).await;
    close(target).await;
    drop(stage);
    drop(lock);
    Ok(RestoreReport {
        from: from.to_owned(),
        made_at: label.made_at,
        selkie: label.selkie.clone(),
        rows: label.all_rows(),
        files: label.files,
        state: folders.state.clone(),
        moved_aside: moved?.map(|aside| folders.state.join(aside)),
        was_running: label.was_running,
    })
}

async fn moved_in(
    place: &Place,
    aside: &str,
    target: Option<&Target>,
) -> anyhow::Result<Option<String>> {
    place.begin(aside)?;
    // Nothing starts here before the files are in their place.
    if let Some(target) = target {
        unseal(&target.ledger).await?;
    }
    place.finish()
}

async fn close(target: Option<Target>) {
    if let Some(target) = target {
        target.ledger.close().await;
    }
}

fn refuse_a_life(place: &Place, folders: &Folders, force: bool) -> anyhow::Result<()> {
    let lives = place.lives()?;
    if lives.is_empty() || force {
        return Ok(());
    }
    let some: Vec<&str> = lives.iter().take(5).map(String::as_str).collect();
    bail!(
        "the state folder {} is not empty ({}{}): name another one with --state, or use --force, which moves what is there \
         into a folder {ASIDE}… inside it",
        folders.state.display(),
        some.join(", "),
        if lives.len() > some.len() { ", …" } else { "" }
    );
}

/// What is restored.
struct RestoreRequest<'g> {
    file: File,
    kind: Kind,
    from: &'g Path,
}

/// Makes everything ready in the stage, and in the database of a server.
async fn made_ready(
    given: RestoreRequest<'_>,
    stage: &Stage,
    folders: &Folders,
    now: DateTime<Utc>,
    target: Option<&Target>,
) -> anyhow::Result<Label> {
    let RestoreRequest { file, kind, from } = given;
    let mut unpacked = StageWriter::into(stage, folders);
    let label = match kind {
        Kind::Archive => unpack(file, &mut unpacked),
        Kind::Database => database_alone(file, &mut unpacked),
    };
    let label = label.with_context(|| format!("{} cannot be restored", from.display()))?;
    let database = stage.path.join(DATABASE);
    sqlite::is_inert(&database)?;
    let version = sqlite::examine(&database, TIMEOUT)?.version;
    ensure!(
        version == label.schema,
        "{} cannot be restored: its label says that its database is of version {}, and it is of version {version}",
        from.display(),
        label.schema
    );
    let name = from.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let restored = RestoreOrigin {
        from: name,
        made_at: label.made_at,
        at: now,
        was_running: label.was_running,
        stopped: Vec::new(),
    };
    let own = open::own(&database)?;
    let settled = settled(&own, restored, target).await;
    own.close().await;
    drop(own);
    settled?;
    if target.is_none() {
        sqlite::has_its_tables(&database)?;
    }
    for name in beside(&stage.path)? {
        // The backup itself is what it was before.
        let is_none = target.is_some() && name == DATABASE;
        let is_of_opening = name == "selkie.lock" || name.starts_with("selkie.db.backup-");
        if is_none || is_of_opening {
            fs::remove_file(stage.path.join(name))?;
        }
    }
    unpacked.cache_in_place(folders)?;
    // Whoever restores a life takes its notes for the newest, however they were caught.
    if kind == Kind::Archive {
        Files::new(stage.path.clone(), Arc::new(SystemClock)).seal_all()?;
    }
    give(&stage.path, &folders.state)?;
    Ok(label)
}

/// Takes a copy of the database alone, as an upgrade leaves it: of a selkie that has run since.
fn database_alone(mut file: File, unpacked: &mut StageWriter) -> anyhow::Result<Label> {
    let found = file.metadata()?;
    let mut label = Label {
        format: FORMAT,
        selkie: "of an earlier version".to_owned(),
        schema: 0,
        engine: "sqlite".to_owned(),
        made_at: found.modified()?.into(),
        was_running: true,
        files: 1,
        bytes: found.len(),
        rows: BTreeMap::new(),
    };
    unpacked.label(&label)?;
    unpacked.file(DATABASE, &mut file)?;
    label.schema = sqlite::examine(&unpacked.stage.join(DATABASE), TIMEOUT)?.version;
    Ok(label)
}

/// What a file is that is to be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A backup.
    Archive,
    /// A database alone.
    Database,
}

impl Kind {
    /// Looks at how it begins.
    fn of(mut file: &File) -> std::io::Result<Self> {
        let mut begins = Vec::new();
        file.take(16).read_to_end(&mut begins)?;
        file.rewind()?;
        Ok(if begins == b"SQLite format 3\0" { Self::Database } else { Self::Archive })
    }
}

async fn settled(
    own: &SqlLedger,
    restored: RestoreOrigin,
    target: Option<&Target>,
) -> anyhow::Result<()> {
    settle_restored(own, restored).await?;
    if let Some(target) = target {
        fill(own, &target.ledger, &target.name).await?;
    }
    Ok(())
}

fn beside(folder: &Path) -> std::io::Result<Vec<String>> {
    let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().into_string()));
    let names = names.collect::<std::io::Result<Vec<_>>>()?;
    Ok(names.into_iter().filter_map(Result::ok).collect())
}

/// The database of a server that a life is restored into.
struct Target {
    ledger: SqlLedger,
    name: String,
}

impl Target {
    /// Opens it; `None` where the rows lie in the state folder.
    async fn open(config: &AppConfig) -> anyhow::Result<Option<Self>> {
        let store = &config.settings.store;
        match Database::read(store).map_err(|why| anyhow::anyhow!("store.url {why}"))? {
            Database::Own => Ok(None),
            #[cfg(feature = "postgres")]
            Database::Postgres(address) => {
                let name = address.to_string();
                let opener = ledger::opener(&AppConfig::instance());
                let ledger = open::remote(*address, opener, &config.tls, None)?;
                if selkie_store::copy::is_used(&ledger).await? {
                    ledger.close().await;
                    bail!(
                        "the database {name} is not empty: make another one, name it in store.url, and restore again; this \
                         one stays as it is"
                    );
                }
                Ok(Some(Self { ledger, name }))
            }
        }
    }
}

/// The folder in which a life is made ready. It goes when that did not come to its end.
struct Stage {
    path: PathBuf,
}

impl Stage {
    fn make(path: PathBuf) -> anyhow::Result<Self> {
        let stage = Self { path };
        stage.clear();
        state::make(&stage.path)
            .with_context(|| format!("{} cannot be created", stage.path.display()))?;
        Ok(stage)
    }

    fn clear(&self) {
        // What stays makes the next try say so.
        fs::remove_dir_all(&self.path).ok();
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // A moving that was begun goes on from what lies there.
        let is_moving = self.path.parent().is_some_and(|state| super::begun(state).is_some());
        if !is_moving {
            self.clear();
        }
    }
}

/// Takes what is unpacked into the stage.
struct StageWriter {
    stage: PathBuf,
    /// Where files of the cache are made ready.
    cache: PathBuf,
    is_inside: bool,
}

impl StageWriter {
    fn into(stage: &Stage, folders: &Folders) -> Self {
        let inside = folders.cache.strip_prefix(&folders.state).ok();
        Self {
            stage: stage.path.clone(),
            cache: stage.path.join(inside.unwrap_or(Path::new("cache.part"))),
            is_inside: inside.is_some(),
        }
    }

    /// Puts files of a cache that lies elsewhere into it; they are named by what they hold, so nothing is replaced.
    fn cache_in_place(&self, folders: &Folders) -> anyhow::Result<()> {
        if self.is_inside || !self.cache.exists() {
            return Ok(());
        }
        copy_missing(&self.cache, &folders.cache).with_context(|| {
            format!("the cache folder {} cannot be filled", folders.cache.display())
        })?;
        Ok(fs::remove_dir_all(&self.cache)?)
    }
}

fn copy_missing(from: &Path, to: &Path) -> std::io::Result<()> {
    state::make(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let there = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_missing(&entry.path(), &there)?;
        } else if !there.exists() {
            fs::copy(entry.path(), there)?;
        }
    }
    Ok(())
}

impl Taker for StageWriter {
    fn label(&mut self, label: &Label) -> anyhow::Result<()> {
        ensure!(
            label.schema <= snapshot::NEWEST,
            "it was made by selkie {}, whose database is of version {}, and this selkie ({}) knows {}: restore it with \
             selkie {} or a newer one",
            label.selkie,
            label.schema,
            crate::build::VERSION,
            snapshot::NEWEST,
            label.selkie
        );
        let disk = rustix::fs::statvfs(&self.stage)?;
        let room = disk.f_bavail.saturating_mul(disk.f_frsize);
        // The database is opened once, and may be copied before its tables change.
        let wanted = label.bytes.saturating_mul(2).saturating_add(SPARE);
        ensure!(
            wanted <= room,
            "it takes {} MB while it is restored, and there is room for {} MB: make room in the state folder",
            wanted >> 20,
            room >> 20
        );
        Ok(())
    }

    fn file(&mut self, name: &str, from: &mut dyn Read) -> anyhow::Result<()> {
        let path = match (name.strip_prefix(STATE), name.strip_prefix(CACHE)) {
            (Some(inside), _) => self.stage.join(inside),
            (_, Some(inside)) => self.cache.join(inside),
            _ => self.stage.join(DATABASE),
        };
        let unwritten = || format!("{} cannot be written", path.display());
        if let Some(folder) = path.parent() {
            state::make(folder).with_context(unwritten)?;
        }
        let mut options = OpenOptions::new();
        let mut file =
            options.write(true).create_new(true).mode(0o600).open(&path).with_context(unwritten)?;
        std::io::copy(from, &mut file).with_context(unwritten)?;
        file.sync_all().with_context(unwritten)
    }
}
