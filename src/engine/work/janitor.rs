//! Forgets what is older than config keeps: rows in small steps beside the messages, files of the cache by
//! age and by what they take together.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::delivery::outgoing;
use crate::delivery::runtime::Runtime;
use crate::delivery::storage::Storage;
use crate::work::forgotten_files;
use crate::work::sweep::{InUse, Sweep};
use crate::work::workspace::own_folder;
use selkie_domain::live::Live;
use selkie_store::settings::Retention;

/// The first look after a start: then nobody waits for the daemon any more.
const FIRST: Duration = Duration::from_secs(60);
const EVERY: Duration = Duration::from_secs(3600);
/// While a task that was told to stop, or what is on its way, keeps something from being forgotten.
const SOON: Duration = Duration::from_secs(2);
/// So often it is looked for soon; then it is left to the next hour.
const MAX_SOON: u32 = 300;
/// Between two steps, whatever there is to do: messages go first, and the steps still come.
const PAUSE: Duration = Duration::from_millis(200);

/// Forgets what is old.
pub struct Janitor {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) storage: Arc<Storage>,
    pub(crate) retention: Live<Retention>,
    pub(crate) cache_dir: PathBuf,
    /// Rung when something is to be forgotten now.
    pub bell: Arc<Notify>,
}

impl Janitor {
    /// Looks once an hour until the daemon ends.
    pub async fn run(self) {
        // What a kill has kept from being forgotten goes first.
        let mut wait = if self.is_forgetting().await { Duration::ZERO } else { FIRST };
        while self.rests(wait).await {
            self.rows().await;
            let mut looks = 0;
            while looks < MAX_SOON && self.is_forgetting().await && self.rests(SOON).await {
                self.rows().await;
                looks += 1;
            }
            self.files().await;
            wait = EVERY;
        }
    }

    /// Whether something that is to be forgotten now is there still.
    async fn is_forgetting(&self) -> bool {
        let asked = self.storage.ledger.is_forgetting().await;
        asked.unwrap_or_else(|error| {
            self.storage.trouble(&error);
            false
        })
    }

    /// Whether the daemon goes on after this time.
    async fn rests(&self, time: Duration) -> bool {
        tokio::select! {
            () = tokio::time::sleep(time) => true,
            () = self.bell.notified() => true,
            () = self.runtime.stop.work.cancelled() => false,
        }
    }

    /// Forgets rows until there is none left that is too old; returns how many.
    pub async fn rows(&self) -> u64 {
        let since = self.retention.now().since(self.runtime.clock.now());
        let mut all = 0;
        for gone in [
            forgotten_files::remove(&self.storage, &self.cache_dir).await,
            forgotten_files::remove_unsent(&self.storage, &self.cache_dir).await,
        ] {
            if let Err(error) = gone {
                self.storage.trouble(&error);
                return 0;
            }
        }
        loop {
            match self.storage.ledger.forget_old(since).await {
                Ok(0) => break,
                Ok(some) => all += some,
                Err(error) => {
                    self.storage.trouble(&error);
                    break;
                }
            }
            if !self.rests(PAUSE).await {
                break;
            }
        }
        if all > 0 {
            tracing::info!(
                rows = all,
                "rows were deleted: older than store.retention, or somebody had them forgotten"
            );
        }
        all
    }

    /// Removes files of the cache that are too old, and the oldest while all together take too much.
    pub async fn files(&self) {
        let places = match self.storage.ledger.at_work().await {
            Ok(places) => places,
            Err(error) => return self.storage.trouble(&error),
        };
        let kept = self.retention.now();
        let in_use = |(row, since)| InUse { folder: own_folder(row), since };
        let sweep = Sweep {
            root: self.cache_dir.clone(),
            // What is still to be sent has a sweep of its own.
            spared: outgoing::FOLDER,
            since: kept.since(self.runtime.clock.now()).cache,
            most: kept.cache_bytes,
            in_use: places.into_iter().map(in_use).collect(),
        };
        match tokio::task::spawn_blocking(move || sweep.run()).await {
            Ok(swept) if swept.files > 0 => tracing::info!(
                files = swept.files,
                bytes = swept.bytes,
                "files of the cache were older than store.retention keeps them, or too many"
            ),
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "the sweep of the cache broke: a defect"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::SystemTime;

    use super::*;
    use crate::flow::testing;

    #[tokio::test]
    async fn an_old_file_of_the_cache_goes_and_a_new_one_stays() {
        let house = testing::desk();
        let folder = house.cache.path().join("c1/in");
        fs::create_dir_all(&folder).unwrap();
        for name in ["old.txt", "new.txt"] {
            fs::write(folder.join(name), "x").unwrap();
        }
        let old = fs::File::options().write(true).open(folder.join("old.txt")).unwrap();
        old.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let janitor = Janitor {
            runtime: Arc::clone(&house.context.runtime),
            storage: Arc::clone(&house.context.storage),
            retention: Live::default(),
            cache_dir: house.cache.path().into(),
            bell: Arc::default(),
        };
        assert_eq!(janitor.rows().await, 0);
        janitor.files().await;
        assert!(!folder.join("old.txt").exists() && folder.join("new.txt").exists());
    }
}
