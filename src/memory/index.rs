//! Keeps the index as the files are: what looks otherwise than it did is read again, whenever somebody looks for something.

use std::sync::Arc;

use tokio::sync::Mutex;

use super::pieces;
use super::reading::{FileReader, FileStamp};
use super::subject::Subject;
use super::vectors::Vectors;
use selkie_store::{FileNote, IndexedFile, Ledger, StoreError};
use selkie_tools::ToolError;

/// The index over the files.
pub struct Index {
    pub reading: Arc<FileReader>,
    pub ledger: Arc<dyn Ledger>,
    /// One at a time.
    pub one: Mutex<()>,
    /// What its pieces mean; nothing where that is off.
    pub vectors: Option<Arc<Vectors>>,
}

impl Index {
    /// Brings the index of a subject to what its files are now; returns how many were read.
    pub async fn follow(&self, subject: &Subject) -> Result<usize, ToolError> {
        let _one = self.one.lock().await;
        let seen = self.reading.list(subject).await?;
        let known = self.ledger.memory_files(subject.name()).await.map_err(failed)?;
        for note in &known {
            if !seen.iter().any(|file| file.path == note.path) {
                self.ledger.drop_memory(&note.path).await.map_err(failed)?;
            }
        }
        let is_known =
            |file: &FileStamp| known.iter().any(|n| n.path == file.path && n.look == file.look);
        let mut read = 0;
        for file in seen.into_iter().filter(|file| !is_known(file)) {
            read += usize::from(self.take_in(subject, file).await?);
        }
        if let Some(vectors) = self.vectors.as_ref().filter(|_| read > 0) {
            vectors.ring();
        }
        Ok(read)
    }

    /// Indexes a file; one that cannot be read is told, and the others are found.
    async fn take_in(&self, subject: &Subject, file: FileStamp) -> Result<bool, ToolError> {
        let FileStamp { path, look } = file;
        let page = match self.reading.page(&path).await {
            Ok(page) => page,
            Err(error) => {
                tracing::warn!(%error, "a file of memory is not searched");
                return Ok(false);
            }
        };
        let pieces = pieces::of_page(&path, &page);
        // By how it looked before it was read: what was written meanwhile is read the next time.
        let note = FileNote { path, look };
        let file = IndexedFile { subject: subject.name().to_owned(), note, pieces };
        self.ledger.index_memory(file).await.map_err(failed)?;
        Ok(true)
    }

    /// The same for every subject, and for those that have no files any more.
    pub async fn follow_all(&self) -> Result<usize, ToolError> {
        let mut subjects = self.reading.subjects().await?;
        let known = self.ledger.memory_subjects().await.map_err(failed)?;
        subjects.extend(known.iter().map(|name| Subject::named(name)));
        subjects.sort();
        subjects.dedup();
        let mut read = 0;
        for subject in &subjects {
            read += self.follow(subject).await?;
        }
        Ok(read)
    }
}

/// The store does not answer.
pub fn failed(error: StoreError) -> ToolError {
    ToolError::tell(format!("memory cannot be searched now: {error}"))
}
