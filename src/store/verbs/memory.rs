//! The index of what is remembered: the verbs of [`Memories`].

use async_trait::async_trait;

use super::{remembered, vectors};
use crate::engine::Purge;
use crate::error::Result;
use crate::memory::{
    BarePiece, FileNote, IndexedFile, Memories, NearPiece, Piece, PieceVector, SoughtPieces,
    SoughtVector, SoughtWords,
};
use crate::sql::{Plan, SqlLedger};

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
        self.write(plan, move |tx| {
            remembered::index(tx, &file)?;
            vectors::drop_stale(tx, &file.note.path)
        })
        .await
    }

    async fn drop_memory(&self, path: &str) -> Result<()> {
        let path = path.to_owned();
        let dropped = self.write(Plan::DURABLE.after(INDEX), move |tx| {
            remembered::forget(tx, &path)?;
            vectors::drop_all(tx, &path)
        });
        dropped.await?;
        self.engine().purge(Purge::Pages);
        Ok(())
    }

    async fn search_memory(&self, sought: SoughtWords) -> Result<Vec<Piece>> {
        self.read(move |tx| remembered::search(tx, &sought)).await
    }

    async fn pieces_without_vector(&self, sought: SoughtPieces) -> Result<Vec<BarePiece>> {
        self.read(move |tx| vectors::bare(tx, &sought)).await
    }

    async fn keep_vectors(&self, model: &str, kept: Vec<PieceVector>) -> Result<usize> {
        let bytes = kept.iter().map(|one| one.vector.width() * size_of::<f32>()).sum();
        let plan = Plan::RELAXED.bytes(bytes).after(INDEX);
        let model = model.to_owned();
        self.write(plan, move |tx| vectors::keep(tx, &model, &kept)).await
    }

    async fn vector_width(&self, model: &str) -> Result<Option<usize>> {
        let model = model.to_owned();
        self.read(move |tx| vectors::width(tx, &model)).await
    }

    async fn near_memory(&self, sought: SoughtVector) -> Result<Vec<NearPiece>> {
        self.read(move |tx| vectors::near(tx, &sought)).await
    }
}
