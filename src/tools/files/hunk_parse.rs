//! Reads a patch, whichever of the two grammars it is written in.

use super::hunk::Change;
use super::patch_error::PatchError;
use super::{hunk_envelope, hunk_unified};

/// Reads a patch in either grammar.
///
/// # Errors
/// What is wrong with it and in which line, for the model.
pub(super) fn parse(patch: &str) -> Result<Vec<Change>, PatchError> {
    let text = unfenced(patch);
    let mut lines: Vec<&str> = text.split('\n').collect();
    lines.pop_if(|last| last.is_empty());
    let changes = if let Some(begin) = hunk_envelope::begin(&lines) {
        hunk_envelope::parse(&lines, begin)?
    } else if hunk_unified::is_one(&lines) {
        hunk_unified::parse(&lines)?
    } else {
        return Err(PatchError::Unknown);
    };
    if changes.is_empty() { Err(PatchError::Empty) } else { Ok(changes) }
}

/// Takes a code fence off.
fn unfenced(text: &str) -> &str {
    let bare = text.trim_matches('\n');
    let inner = bare.strip_prefix("```").and_then(|rest| {
        let (_language, rest) = rest.split_once('\n')?;
        rest.trim_end().strip_suffix("```")
    });
    inner.unwrap_or(text)
}
