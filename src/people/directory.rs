//! Whom somebody may mean by a name: the files of contacts, in which nobody who has spoken is missing.

use std::sync::Arc;

use async_trait::async_trait;

use super::contact_files::Shelves;
use super::files::{FileError, Files};

/// Knows who has spoken and stands in no file yet.
#[async_trait]
pub trait Newcomers: Send + Sync {
    /// Brings them into the files now. Where that fails the files stay as they are, and the log says why.
    async fn bring_in(&self);
}

/// The files of contacts for whoever looks somebody up. Who only changes the files reads [`Shelves`] itself.
#[derive(Clone)]
pub struct Directory {
    /// The files.
    pub files: Arc<Files>,
    /// Who is to be brought into them first.
    pub newcomers: Arc<dyn Newcomers>,
}

impl Directory {
    /// Reads both files of contacts, up to now.
    ///
    /// # Errors
    /// When one is there and cannot be read.
    pub async fn shelves(&self) -> Result<Shelves, FileError> {
        let files = Arc::clone(self.current().await);
        let read = tokio::task::spawn_blocking(move || Shelves::read(&files)).await;
        read.unwrap_or_else(|error| Err(FileError::ended(&error)))
    }

    /// Returns the files when everybody who has spoken stands there.
    pub async fn current(&self) -> &Arc<Files> {
        self.newcomers.bring_in().await;
        &self.files
    }
}

#[cfg(test)]
pub mod testing {
    //! A directory for tests.

    use super::*;

    struct Nobody;

    #[async_trait]
    impl Newcomers for Nobody {
        async fn bring_in(&self) {}
    }

    /// Files into which nobody is to be brought.
    pub fn quiet(files: Arc<Files>) -> Directory {
        Directory { files, newcomers: Arc::new(Nobody) }
    }
}
