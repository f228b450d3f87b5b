//! Forgets what is older than config keeps: rows in small steps beside the messages, files of the cache by
//! age and by what they take together.

use std::sync::Arc;
use std::time::Duration;

use crate::flow::desk::Desk;
use crate::flow::sweep::{InUse, Sweep};
use crate::flow::{scope, spool};

/// The first look after a start: then nobody waits for the daemon any more.
const FIRST: Duration = Duration::from_secs(60);
const EVERY: Duration = Duration::from_secs(3600);
/// Between two steps, whatever there is to do: messages go first, and the steps still come.
const PAUSE: Duration = Duration::from_millis(200);

/// Looks once an hour until the daemon ends.
pub(super) async fn run(desk: Arc<Desk>) {
    let mut wait = FIRST;
    while rests(&desk, wait).await {
        rows(&desk).await;
        files(&desk).await;
        wait = EVERY;
    }
}

/// Whether the daemon goes on after this time.
async fn rests(desk: &Desk, time: Duration) -> bool {
    tokio::select! {
        () = tokio::time::sleep(time) => true,
        () = desk.stop.work.cancelled() => false,
    }
}

/// Forgets rows until there is none left that is too old; returns how many.
pub(super) async fn rows(desk: &Arc<Desk>) -> u64 {
    let since = desk.settings.store.retention.since(desk.clock.now());
    let mut all = 0;
    loop {
        match desk.ledger.forget_old(since).await {
            Ok(0) => break,
            Ok(some) => all += some,
            Err(error) => {
                desk.trouble(&error);
                break;
            }
        }
        if !rests(desk, PAUSE).await {
            break;
        }
    }
    if all > 0 {
        tracing::info!(rows = all, "rows older than store.retention keeps them are forgotten");
    }
    all
}

/// Removes files of the cache that are too old, and the oldest while all together take too much.
pub(super) async fn files(desk: &Arc<Desk>) {
    let places = match desk.ledger.at_work().await {
        Ok(places) => places,
        Err(error) => return desk.trouble(&error),
    };
    let kept = &desk.settings.store.retention;
    let in_use = |(row, since)| InUse { folder: scope::own_folder(row), since };
    let sweep = Sweep {
        root: desk.cache_dir.clone(),
        // What is still to be sent has a sweep of its own.
        spared: spool::FOLDER,
        since: kept.since(desk.clock.now()).cache,
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::SystemTime;

    use super::*;
    use crate::flow::testing;

    #[tokio::test]
    async fn an_old_file_of_the_cache_goes_and_a_new_one_stays() {
        let house = testing::desk();
        let folder = house.desk.cache_dir.join("c1/in");
        fs::create_dir_all(&folder).unwrap();
        for name in ["old.txt", "new.txt"] {
            fs::write(folder.join(name), "x").unwrap();
        }
        let old = fs::File::options().write(true).open(folder.join("old.txt")).unwrap();
        old.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(rows(&house.desk).await, 0);
        files(&house.desk).await;
        assert!(!folder.join("old.txt").exists() && folder.join("new.txt").exists());
    }
}
