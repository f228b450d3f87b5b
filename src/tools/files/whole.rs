//! A whole file in memory: read for a change, and written back only if nobody changed it meanwhile.

use std::io::{self, Read};

use super::blocking::refused;
use crate::ToolError;
use crate::paths::{Finder, Kind, Location};

/// Larger files are not changed as a whole, in bytes.
pub(super) const MAX_WHOLE: u64 = 16 * 1024 * 1024;

/// A file that is there and may be changed.
pub(super) struct Whole {
    /// Where it lies.
    pub(super) located: Location,
    /// What it held when it was read.
    pub(super) content: Vec<u8>,
}

impl Whole {
    /// Reads a file that is to be changed.
    ///
    /// # Errors
    /// Why not, for the model.
    pub(super) fn of(finder: &Finder<'_>, path: &str) -> Result<Self, ToolError> {
        let located = finder.writable(path)?;
        let Some(content) = content(&located)? else {
            return Err(ToolError::tell(format!("no such file: {path}")));
        };
        Ok(Self { located, content })
    }

    /// Returns its path as tools take it.
    pub(super) fn shown(&self) -> String {
        self.located.shown()
    }

    /// Puts new content in its place.
    ///
    /// # Errors
    /// When the file was changed since it was read, or the disk refuses.
    pub(super) fn replace(&self, new: &[u8]) -> Result<(), ToolError> {
        unchanged(&self.located, Some(&self.content))?;
        self.located.replace(new).map_err(|e| refused(&self.shown(), &e))
    }
}

/// Fails when a file does not hold what it held (`None`: was not there).
///
/// # Errors
/// For the model: it reads again.
pub(super) fn unchanged(located: &Location, then: Option<&[u8]>) -> Result<(), ToolError> {
    if content(located)?.as_deref() == then {
        return Ok(());
    }
    let shown = located.shown();
    Err(ToolError::tell(format!("{shown} was changed by somebody else meanwhile: read it again")))
}

/// Reads a whole file; `None` when there is none.
///
/// # Errors
/// When it is no file, too large, or the disk refuses.
pub(super) fn content(located: &Location) -> Result<Option<Vec<u8>>, ToolError> {
    let shown = located.shown();
    match located.kind() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refused(&shown, &error)),
        Ok((Kind::Folder, _)) => {
            return Err(ToolError::tell(format!("{shown} is a directory: name a file in it")));
        }
        Ok((_, size)) if size > MAX_WHOLE => return Err(too_large(&shown, size)),
        Ok(_) => {}
    }
    let mut content = Vec::new();
    let read = located.open().and_then(|file| file.take(MAX_WHOLE + 1).read_to_end(&mut content));
    read.map_err(|e| refused(&shown, &e))?;
    if content.len() as u64 > MAX_WHOLE {
        return Err(too_large(&shown, content.len() as u64));
    }
    Ok(Some(content))
}

fn too_large(shown: &str, size: u64) -> ToolError {
    let most = MAX_WHOLE / 1024 / 1024;
    ToolError::tell(format!("{shown} is too large to change ({size} bytes > {most} MiB max)"))
}
