//! Backups that the config asks for: made beside the messages, the oldest removed; what fails is told once.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use selkie_channel_core::locked;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::make::{BackupReport, BackupRequest, make};
use crate::build::AppConfig;
use crate::ledger;
use crate::state;
use selkie_config::paths::Folders;
use selkie_domain::clock::SharedClock;
use selkie_store::database::Database;
use selkie_store::settings::{Backup, Settings};
use selkie_store::snapshot::Source;

/// What stands before the moment in a backup's name, and behind it.
const NAME: &str = "selkie-";
const ENDING: &str = ".tar.gz";
/// How the moment is written.
const MOMENT: &str = "%Y%m%dT%H%M%SZ";
/// The name until one is whole: one that was killed is overwritten by the next.
const PART: &str = ".selkie-backup.part";
/// How often the folder is looked at: the clock may be set, and disks come and go.
const LOOK: Duration = Duration::from_secs(600);

/// How backups stand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupStatus {
    /// Where they go.
    pub dir: PathBuf,
    /// When the newest was made.
    pub last_at: Option<DateTime<Utc>>,
    /// Why the last try failed.
    pub trouble: Option<String>,
}

/// Makes backups as the config says.
pub struct BackupSchedule {
    backup: Backup,
    dir: PathBuf,
    folders: Folders,
    store: Settings,
    tls: Arc<rustls::ClientConfig>,
    clock: SharedClock,
    status: Mutex<BackupStatus>,
}

impl BackupSchedule {
    /// Reads what the config says; `None` where it asks for none.
    pub fn of(config: &AppConfig) -> Option<Arc<Self>> {
        let backup = config.settings.backup.clone();
        let dir = backup.dir.clone()?;
        Some(Arc::new(Self {
            status: Mutex::new(BackupStatus { dir: dir.clone(), ..BackupStatus::default() }),
            backup,
            dir,
            folders: config.folders.clone(),
            store: config.settings.store.clone(),
            tls: Arc::clone(&config.tls),
            clock: config.clock(),
        }))
    }

    /// Tells how they stand.
    pub fn status(&self) -> BackupStatus {
        locked(&self.status).clone()
    }

    /// Makes one whenever one is due, until `stop`.
    pub async fn run(self: Arc<Self>, stop: CancellationToken) {
        loop {
            let now = self.clock.now();
            let this = Arc::clone(&self);
            let mut wait = LOOK;
            // It reads and writes files for as long as it takes: on a thread of its own.
            match tokio::task::spawn_blocking(move || this.look(now)).await {
                Ok(next) => wait = next.min(LOOK),
                Err(error) => tracing::error!(%error, "a backup broke: a defect"),
            }
            if stop.run_until_cancelled(tokio::time::sleep(wait)).await.is_none() {
                return;
            }
        }
    }

    /// Makes one when it is due; returns how long until the next.
    fn look(&self, now: DateTime<Utc>) -> Duration {
        let newest = all(&self.dir).pop();
        let last_at = newest.as_deref().and_then(moment);
        locked(&self.status).last_at = last_at;
        let every = TimeDelta::from_std(self.backup.every.0).unwrap_or(TimeDelta::MAX);
        // One from the future was made by a clock that was ahead.
        let due = last_at.filter(|at| *at <= now).and_then(|at| at.checked_add_signed(every));
        if let Some(left) = due.and_then(|due| (due - now).to_std().ok()).filter(|l| !l.is_zero()) {
            return left;
        }
        match self.make(now) {
            Ok(made) => self.went_well(&made, now),
            Err(error) => self.failed(&format!("{error:#}")),
        }
        self.backup.every.0
    }

    fn make(&self, now: DateTime<Utc>) -> anyhow::Result<BackupReport> {
        state::make(&self.dir)
            .map_err(|e| anyhow::anyhow!("{} cannot be created: {e}", self.dir.display()))?;
        let database =
            Database::read(&self.store).map_err(|why| anyhow::anyhow!("store.url {why}"))?;
        let made = make(BackupRequest {
            source: Source {
                state: &self.folders.state,
                database,
                opener: ledger::opener(&AppConfig::instance()),
                tls: &self.tls,
                now,
            },
            folders: &self.folders,
            to: &self.dir.join(format!("{NAME}{}{ENDING}", now.format(MOMENT))),
            part: self.dir.join(PART),
            apart: None,
            replaces: false,
        })?;
        let kept = usize::try_from(self.backup.keep).unwrap_or(usize::MAX).max(1);
        for old in all(&self.dir).iter().rev().skip(kept) {
            if let Err(error) = fs::remove_file(old) {
                tracing::warn!(file = %old.display(), %error, "an old backup cannot be removed");
            }
        }
        Ok(made)
    }

    fn went_well(&self, made: &BackupReport, now: DateTime<Utc>) {
        let mut status = locked(&self.status);
        status.last_at = Some(now);
        if status.trouble.take().is_some() {
            tracing::info!("backups can be made again");
        }
        tracing::info!(file = %made.file.display(), bytes = made.bytes, "a backup was made");
    }

    /// Tells a failure when it comes, and when it is another one.
    fn failed(&self, why: &str) {
        let mut status = locked(&self.status);
        if status.trouble.as_deref() != Some(why) {
            tracing::error!(why, "no backup can be made (it is tried again every ten minutes)");
        }
        status.trouble = Some(why.to_owned());
    }
}

/// Lists the backups of a folder, the oldest first.
fn all(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut all: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    all.retain(|path| moment(path).is_some());
    all.sort();
    all
}

/// Reads the moment in a backup's name; `None` for what is no scheduled backup.
fn moment(path: &Path) -> Option<DateTime<Utc>> {
    let name = path.file_name().and_then(OsStr::to_str)?;
    let moment = name.strip_prefix(NAME)?.strip_suffix(ENDING)?;
    NaiveDateTime::parse_from_str(moment, MOMENT).ok().map(|at| at.and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_counted_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "selkie-20261123T150801Z.tar.gz",
            "selkie-20251123T150801Z.tar.gz",
            "selkie-before-upgrade.tar.gz",
            "other.tar.gz",
        ] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let names: Vec<_> =
            all(folder.path()).iter().map(|p| p.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["selkie-20251123T150801Z.tar.gz", "selkie-20261123T150801Z.tar.gz"]);
    }
}
