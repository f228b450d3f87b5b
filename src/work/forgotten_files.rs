//! The files of a forgotten place go: what was sent there, what was brought there, what was made there.

use std::path::Path;

use crate::delivery::storage::Storage;
use crate::store::StoreError;
use crate::work::sweep::Sweep;
use crate::work::workspace::own_folder;

/// Removes the files of places that are being forgotten from their own folders in the cache. Before their rows: until those
/// are gone, a crash in between is made good.
///
/// # Errors
/// When the store does not answer.
pub(crate) async fn remove(storage: &Storage, cache_dir: &Path) -> Result<(), StoreError> {
    let sweeps: Vec<Sweep> = storage
        .ledger
        .forgetting()
        .await?
        .into_iter()
        .map(|(row, since)| Sweep {
            root: cache_dir.join(own_folder(row)),
            spared: "",
            since,
            most: u64::MAX,
            in_use: Vec::new(),
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
