//! The files of memory off the runtime's threads, and what was read of them last: a file is read again when it looks
//! otherwise.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use selkie_channel_core::locked;

use super::marked_lines;
use super::page::Page;
use super::subject::{FOLDER, Subject, is_file_name};
use selkie_people::files::{FileError, Files};
use selkie_tools::ToolError;

/// The most files of one subject, beside its main one.
const MAX_FILES: usize = 200;
/// The most subjects.
const MAX_SUBJECTS: usize = 20_000;
/// So many pages are kept as they were read.
const MAX_KEPT: usize = 64;

/// Reads the files.
pub struct FileReader {
    files: Arc<Files>,
    kept: Arc<Mutex<HashMap<String, PageCache>>>,
}

/// A page as it was read.
struct PageCache {
    look: String,
    page: Arc<Page>,
}

/// A file from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStamp {
    /// Its path in the state folder.
    pub path: String,
    /// What it looks like.
    pub look: String,
}

impl FileReader {
    pub fn new(files: Arc<Files>) -> Self {
        Self { files, kept: Arc::default() }
    }

    /// Returns the files.
    pub fn files(&self) -> &Arc<Files> {
        &self.files
    }

    /// Lists the files of a subject, the main one first.
    pub async fn list(&self, subject: &Subject) -> Result<Vec<FileStamp>, ToolError> {
        let files = Arc::clone(&self.files);
        let subject = subject.clone();
        blocking(move || {
            let mut seen = Vec::new();
            for path in files_of(&files, &subject)? {
                seen.extend(files.look(&path)?.map(|look| FileStamp { path, look }));
            }
            Ok(seen)
        })
        .await
    }

    /// Lists the subjects that have a folder, and the general one.
    pub async fn subjects(&self) -> Result<Vec<Subject>, ToolError> {
        let files = Arc::clone(&self.files);
        let names = blocking(move || files.names(FOLDER, MAX_SUBJECTS)).await?;
        let mut subjects: Vec<Subject> = names.iter().map(|name| Subject::named(name)).collect();
        if !subjects.iter().any(Subject::is_general) {
            subjects.insert(0, Subject::general());
        }
        Ok(subjects)
    }

    /// Reads a file as it is now. Whether it has changed is looked up here: a task reads its memory for each message, and most
    /// of the time there is none, or the same.
    pub async fn page(&self, path: &str) -> Result<Arc<Page>, ToolError> {
        let look = self.files.look(path).map_err(|error| ToolError::tell(error.to_string()))?;
        let Some(look) = look else { return Ok(Arc::default()) };
        if let Some(known) = locked(&self.kept).get(path).filter(|known| known.look == look) {
            return Ok(Arc::clone(&known.page));
        }
        let files = Arc::clone(&self.files);
        let kept = Arc::clone(&self.kept);
        let path = path.to_owned();
        blocking(move || read(&files, &kept, &path)).await
    }

    /// Forgets what was read of a file.
    pub fn forget(&self, path: &str) {
        locked(&self.kept).remove(path);
    }
}

/// Lists the files of a subject, the main one first. Blocks.
pub fn files_of(files: &Files, subject: &Subject) -> Result<Vec<String>, FileError> {
    let names = files.names(&subject.folder(), MAX_FILES)?;
    let main = subject.main();
    let others = names.iter().filter(|name| is_file_name(name)).map(|name| subject.file(name));
    let others = others.filter(|path| *path != main);
    let mut all = Vec::new();
    for path in std::iter::once(main.clone()).chain(others) {
        if files.look(&path)?.is_some() {
            all.push(path);
        }
    }
    Ok(all)
}

fn read(
    files: &Files,
    kept: &Mutex<HashMap<String, PageCache>>,
    path: &str,
) -> Result<Arc<Page>, FileError> {
    let Some(look) = files.look(path)? else { return Ok(Arc::default()) };
    if let Some(known) = locked(kept).get(path).filter(|known| known.look == look) {
        return Ok(Arc::clone(&known.page));
    }
    let page = Arc::new(marked_lines::page(files, path)?);
    // One that has changed meanwhile is read again the next time: it looks otherwise.
    let mut kept = locked(kept);
    if kept.len() >= MAX_KEPT {
        kept.clear();
    }
    kept.insert(path.to_owned(), PageCache { look, page: Arc::clone(&page) });
    Ok(page)
}

/// Does what blocks on a thread for it.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, ToolError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ToolError::tell(format!("memory cannot be looked at: {error}")))?
        .map_err(|error| ToolError::tell(error.to_string()))
}
