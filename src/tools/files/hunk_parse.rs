//! Reads a patch, whichever of the two grammars it is written in.

use super::hunk::Change;
use super::{hunk_envelope, hunk_unified};

/// Reads a patch in either grammar.
///
/// # Errors
/// What is wrong with it and in which line, for the model.
pub(super) fn parse(patch: &str) -> Result<Vec<Change>, String> {
    let text = unfenced(patch);
    let mut lines: Vec<&str> = text.split('\n').collect();
    lines.pop_if(|last| last.is_empty());
    let changes = if let Some(begin) = hunk_envelope::begin(&lines) {
        hunk_envelope::parse(&lines, begin)?
    } else if hunk_unified::is_one(&lines) {
        hunk_unified::parse(&lines)?
    } else {
        return Err("this is not a patch: write a unified diff (--- a/file, +++ b/file, @@ … @@) or *** Begin Patch \
            … *** End Patch"
            .to_owned());
    };
    if changes.is_empty() { Err("the patch changes nothing".to_owned()) } else { Ok(changes) }
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
