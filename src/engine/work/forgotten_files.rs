//! The files of a forgotten place go: what was sent there, what was brought there, what was made there. Those of a message
//! that was taken back, too.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::delivery::storage::Storage;
use crate::work::attachments::folder_of;
use crate::work::sweep::Sweep;
use crate::work::workspace::own_folder;
use selkie_store::StoreError;
use selkie_tools::folder_of_documents;
use selkie_tools::shell::folder_of_sandbox;

/// Removes the files of messages that were taken back. What of them is on its way comes into the same folders, and goes
/// when its task has ended.
///
/// # Errors
/// When the store does not answer.
pub async fn remove_unsent(storage: &Storage, cache_dir: &Path) -> Result<(), StoreError> {
    let mut unsent = storage.ledger.unsent().await?;
    // Which of the pages are those of its documents nobody knows: they can be read again.
    let pages = |place| folder_of_documents(&cache_dir.join(own_folder(place)));
    let of = |place, row| [cache_dir.join(folder_of(place, row)), pages(place)];
    let folders: Vec<PathBuf> =
        unsent.messages.iter().flat_map(|it| of(it.place_row, it.row)).collect();
    let removed = tokio::task::spawn_blocking(move || {
        folders.iter().try_for_each(|folder| match std::fs::remove_dir_all(folder) {
            Ok(()) => {
                tracing::info!("files of a message were deleted: it was taken back");
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        })
    });
    let removed = removed.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    if let Err(error) = removed {
        tracing::error!(%error, "files of a message that was taken back are still there: trying again");
        unsent.over.clear();
    }
    match unsent.over.is_empty() {
        true => Ok(()),
        false => storage.ledger.unsent_gone(unsent).await,
    }
}

/// Removes the files of places that are being forgotten from their own folders in the cache. Before their rows: until those
/// are gone, a crash in between is made good.
///
/// # Errors
/// When the store does not answer.
pub async fn remove(storage: &Storage, cache_dir: &Path) -> Result<(), StoreError> {
    let sweeps: Vec<Sweep> = storage
        .ledger
        .forgetting()
        .await?
        .into_iter()
        .flat_map(|(row, since)| {
            let own = cache_dir.join(own_folder(row));
            let sweep =
                move |root| Sweep { root, spared: "", since, most: u64::MAX, in_use: Vec::new() };
            [folder_of_sandbox(&own), folder_of_documents(&own), own].map(sweep)
        })
        .collect();
    if sweeps.is_empty() {
        return Ok(());
    }
    let swept = tokio::task::spawn_blocking(move || {
        sweeps.iter().map(|sweep| sweep.run().files).sum::<u64>()
    });
    match swept.await {
        Ok(0) => {}
        Ok(files) => tracing::info!(files, "files of a chat were deleted: it is forgotten"),
        Err(error) => {
            tracing::error!(%error, "the files of a forgotten chat are still there: a defect")
        }
    }
    Ok(())
}
