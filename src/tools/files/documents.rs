//! Documents that people send and tools find, as pages of text: read in a process of their own, and kept beside the
//! conversation's own folder, so that the second page costs no second reading.

use std::ffi::OsString;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use selkie_documents::{Document, MAX_FILE};
use sha2::{Digest as _, Sha256};

use super::picture;
use crate::ToolError;
use crate::isolate::{Isolate, Job};
use selkie_domain::transcript::Picture;

/// Scanned pages that are shown at once.
const MAX_SCANS: usize = 4;
/// Changes with what is read of a document: older pages are not taken.
const FORM: &str = "1";

/// Reads documents.
#[derive(Clone)]
pub struct DocumentReader {
    /// Where they are read.
    pub isolate: Arc<dyn Isolate>,
}

/// What is to be read.
pub struct DocumentFile<'a> {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What it is called.
    pub name: &'a str,
    /// The conversation's own folder of the cache.
    pub own: &'a Path,
}

impl DocumentReader {
    /// Reads a document, or takes its pages from the cache.
    ///
    /// # Errors
    /// In words for the model, which follow the file's name: it is none, encrypted, damaged, or takes too much.
    pub async fn read(&self, file: DocumentFile<'_>) -> Result<Document, ToolError> {
        let DocumentFile { bytes, name, own } = file;
        if bytes.len() as u64 > MAX_FILE {
            return Err(ToolError::tell("it is larger than 32 MiB, and was not read"));
        }
        // A name says whether text is a table, and a wrong one is told.
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_owned();
        let folder = folder_of_documents(own);
        let known = blocking(move || {
            let path = folder.join(key(&bytes, &ending));
            let known = std::fs::read(&path).ok().and_then(|kept| Document::from_bytes(&kept));
            KnownDocument { path, known, bytes }
        });
        let KnownDocument { path, known, bytes } = known.await?;
        if let Some(document) = known {
            return Ok(document);
        }
        let pages = self.isolate.run(Job::Document { name: name.to_owned() }, bytes).await?;
        let unclear = || ToolError::tell("the document could not be read");
        let document = Document::from_bytes(&pages).ok_or_else(unclear)?;
        blocking(move || {
            if let Err(error) = keep(&path, &pages) {
                tracing::warn!(%error, "the pages of a document cannot be kept in the cache");
            }
        })
        .await?;
        Ok(document)
    }
}

impl DocumentReader {
    /// Keeps the pictures of pages of a PDF that hold no text, few at once, and says in `text` which come.
    pub(super) async fn scans(
        &self,
        pdf: &[u8],
        pages: &[usize],
        own: &Path,
        text: &mut String,
    ) -> Vec<Picture> {
        let mut pictures = Vec::new();
        for page in pages.iter().take(MAX_SCANS).filter_map(|page| u32::try_from(*page).ok()) {
            match picture::of_scan(pdf.to_vec(), page, own, &*self.isolate).await {
                Ok(picture) => {
                    text.push_str(&format!("\n[A picture of page {page} comes with this answer.]"));
                    pictures.push(picture);
                }
                Err(error) => tracing::debug!(page, %error, "a scanned page has no picture"),
            }
        }
        if let Some(next) = pages.get(MAX_SCANS) {
            text.push_str(&format!("\n[For pictures of more pages, use page=\"{next}\".]"));
        }
        pictures
    }
}

/// Returns the folder of the cache in which the pages of a conversation's documents lie, beside the conversation's own: no
/// tool and no command of the sandbox writes there.
pub fn folder_of_documents(own: &Path) -> PathBuf {
    let mut name = own.file_name().map(OsString::from).unwrap_or_default();
    name.push(".documents");
    own.with_file_name(name)
}

struct KnownDocument {
    path: PathBuf,
    known: Option<Document>,
    bytes: Vec<u8>,
}

fn key(bytes: &[u8], ending: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(FORM);
    hash.update([0]);
    hash.update(ending.to_ascii_lowercase());
    hash.update([0]);
    hash.update(bytes);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whole or not at all: another call may be keeping the same one.
fn keep(path: &Path, pages: &[u8]) -> std::io::Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let staged = folder.join(format!(".{}", uuid::Uuid::now_v7()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&staged)?;
    let written = file.write_all(pages).and_then(|()| std::fs::rename(&staged, path));
    if written.is_err() {
        // The sweep of the cache takes what is left.
        drop(std::fs::remove_file(&staged));
    }
    written
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| ToolError::Abort("the daemon is stopping".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;

    use super::*;
    use crate::isolate::InProcess;

    #[derive(Default)]
    struct Counted(AtomicUsize);

    #[async_trait]
    impl Isolate for Counted {
        async fn run(&self, job: Job, bytes: Vec<u8>) -> Result<Vec<u8>, ToolError> {
            self.0.fetch_add(1, Ordering::SeqCst);
            InProcess.run(job, bytes).await
        }
    }

    #[tokio::test]
    async fn the_same_bytes_are_read_once_and_kept_out_of_reach() {
        let cache = tempfile::tempdir().unwrap();
        let own = cache.path().join("c1");
        let counted = Arc::new(Counted::default());
        let reader = DocumentReader { isolate: Arc::<Counted>::clone(&counted) };
        let read = async |name| {
            let bytes = b"tea,2\ncoffee,4\n".to_vec();
            reader.read(DocumentFile { bytes, name, own: &own }).await.unwrap()
        };
        assert_eq!(read("a.csv").await, read("b.CSV").await);
        assert_eq!(counted.0.load(Ordering::SeqCst), 1);
        assert_eq!(read("a.txt").await.summary(), "text, 1 part", "a name says what text is");
        assert_eq!(std::fs::read_dir(cache.path().join("c1.documents")).unwrap().count(), 2);
        assert!(!own.exists());
    }

    #[tokio::test]
    async fn what_was_damaged_in_the_cache_is_read_again() {
        let cache = tempfile::tempdir().unwrap();
        let own = cache.path().join("c1");
        let reader = DocumentReader { isolate: Arc::new(InProcess) };
        let read = async || {
            let file = DocumentFile { bytes: b"<html><p>Tea".to_vec(), name: "t", own: &own };
            reader.read(file).await.unwrap().pages
        };
        let pages = read().await;
        for entry in std::fs::read_dir(folder_of_documents(&own)).unwrap() {
            std::fs::write(entry.unwrap().path(), "{}\nother words").unwrap();
        }
        assert_eq!(read().await, pages);
    }
}
