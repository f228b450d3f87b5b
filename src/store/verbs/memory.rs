//! The index of what is remembered: the verbs of [`Memories`].

use async_trait::async_trait;

use super::remembered;
use crate::store::error::Result;
use crate::store::memory::{FileNote, IndexedFile, Memories, Piece, SoughtWords};
use crate::store::sql::{Plan, SqlLedger};

/// What every change of the index is behind: no two are made at once.
const INDEX: &str = "memory";

#[async_trait]
impl Memories for SqlLedger {
    async fn memory_subjects(&self) -> Result<Vec<String>> {
        self.write(Plan::RELAXED.after(INDEX), remembered::subjects).await
    }

    async fn memory_files(&self, subject: &str) -> Result<Vec<FileNote>> {
        let subject = subject.to_owned();
        self.read(move |tx| remembered::files(tx, &subject)).await
    }

    async fn index_memory(&self, file: IndexedFile) -> Result<()> {
        let bytes = file.pieces.iter().map(|piece| piece.text.len() + piece.words.len()).sum();
        let plan = Plan::RELAXED.bytes(bytes).after(INDEX);
        self.write(plan, move |tx| remembered::index(tx, &file)).await
    }

    async fn drop_memory(&self, path: &str) -> Result<()> {
        let path = path.to_owned();
        self.write(Plan::DURABLE.after(INDEX), move |tx| remembered::forget(tx, &path)).await?;
        self.engine().purge();
        Ok(())
    }

    async fn search_memory(&self, sought: SoughtWords) -> Result<Vec<Piece>> {
        self.read(move |tx| remembered::search(tx, &sought)).await
    }
}
