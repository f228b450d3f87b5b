//! The files of posts, kept for as long as a post that has them may still leave.

use std::fs::File;
use std::path::PathBuf;

use async_trait::async_trait;

use crate::ToolError;

/// Keeps the files of posts for as long as a post that has them may still leave.
#[async_trait]
pub trait PostFiles: Send + Sync {
    /// Keeps what an opened file holds now; the same bytes are kept once.
    ///
    /// # Errors
    /// In words: it holds a secret of this machine, or cannot be read, or there is no room.
    async fn keep(&self, file: File, name: &str) -> Result<KeptFile, ToolError> {
        let _ = file;
        Err(ToolError::tell(format!("{name} cannot be kept here")))
    }
}

/// A file that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFile {
    /// Where its copy lies.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}
