//! Whether the database that is open still lies where it was opened.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};

/// A file by its path and its identity.
#[derive(Debug)]
pub struct Place {
    path: PathBuf,
    identity: Option<(u64, u64)>,
}

impl Place {
    /// Remembers the file that lies there now.
    pub fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), identity: path.metadata().ok().as_ref().map(identity) }
    }

    /// Where it lay.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// # Errors
    /// `Broken` when it is gone or another file lies there: what is written to it then is lost.
    pub fn is_there(&self) -> Result<()> {
        match self.path.metadata() {
            Ok(found) if self.identity.is_none_or(|known| known == identity(&found)) => Ok(()),
            Ok(_) => Err(self.says("another file lies there")),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Err(self.says("it is gone")),
            Err(e) => Err(self.says(&e.to_string())),
        }
    }

    fn says(&self, what: &str) -> StoreError {
        StoreError::Broken(format!(
            "{} was open, and now {what}: put it back, or restart selkie on what is there",
            self.path.display()
        ))
    }
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}
