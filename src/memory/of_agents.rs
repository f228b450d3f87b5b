//! The memories that agents have for themselves in a place: people see them there, and what is done with the place's is done
//! with them.

use std::sync::Arc;

use super::book::MemoryBook;
use super::index::failed;
use super::reading::blocking;
use super::subject::Subject;
use selkie_tools::ToolError;

/// The folder of earlier versions, in the state folder.
const KEPT: &str = "kept";
/// The most files that have any.
const MAX_KEPT: usize = 100_000;

impl MemoryBook {
    /// Lists those of a place: whichever has a folder, stands in the index still, or has left earlier versions.
    pub(super) async fn of_agents(&self, place: &Subject) -> Result<Vec<Subject>, ToolError> {
        let mut all = self.reading.subjects().await?;
        let known = self.index.ledger.memory_subjects().await.map_err(failed)?;
        all.extend(known.iter().map(|name| Subject::named(name)));
        let files = Arc::clone(self.reading.files());
        let kept = blocking(move || files.names(KEPT, MAX_KEPT)).await?;
        all.extend(kept.iter().filter_map(|name| Subject::of_kept(name)));
        all.retain(|subject| subject.is_within(place));
        all.sort();
        all.dedup();
        Ok(all)
    }
}
