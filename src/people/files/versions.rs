//! What a file said before: listed and read.

use super::Files;
use super::error::FileError;
use super::kept_versions::{Keep, Version};

impl Files {
    /// Lists the earlier versions of a file, the newest first. Blocks.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn versions(&self, file: &str) -> Result<Vec<Version>, FileError> {
        let kept = Keep::of(&self.state, file).versions();
        kept.map_err(|source| FileError::Io { file: file.to_owned(), done: "read", source })
    }

    /// Reads an earlier version of a file. Blocks.
    ///
    /// # Errors
    /// When there is none of this name, or it cannot be read.
    pub fn version(&self, file: &str, name: &str) -> Result<String, FileError> {
        let bytes = Keep::of(&self.state, file).version(name);
        let failed = |source| FileError::Io { file: format!("kept/{file}"), done: "read", source };
        self.text(file, Some(&bytes.map_err(failed)?)).map(str::to_owned)
    }
}
