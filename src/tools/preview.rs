//! What a call would do, for a person who is asked to allow it.

use std::sync::Arc;

use selkie_channel_core::Redactor;
use serde_json::Value;

use crate::Tool;
use crate::args::accept;
use crate::paths::Roots;
use crate::shown::Preview;

/// Lines that a person is shown at most.
const LINES: usize = 60;
/// Characters of them.
const CHARACTERS: usize = 4_000;

/// Shows what a call would do; `None` when it changes nothing. Reads the files it speaks of, so it may
/// wait for the disk.
///
/// # Errors
/// The faults of the arguments, for the model: a call that cannot be made needs nobody's approval.
pub fn preview(
    tool: &Arc<Tool>,
    roots: &Roots,
    arguments: &Value,
    redactor: &Redactor,
) -> Result<Option<String>, String> {
    let args = accept(&tool.spec().parameters, arguments)?.args;
    // Cleaned before it is cut: half a secret would not be recognised.
    let shown = tool.handler.preview(roots, &args).map(|shown| shown.written(&args, redactor));
    Ok(shown.map(|shown| bounded(&shown)))
}

/// Shows all that a call would do, with nothing cut away. `of`: what stands behind names in its arguments.
/// Reads the files it speaks of.
pub fn whole(
    tool: &Arc<Tool>,
    roots: &Roots,
    args: &Value,
    of: &[(String, String)],
    redactor: &Redactor,
) -> String {
    let said = tool.handler.preview(roots, args);
    let said = said.unwrap_or_else(|| Preview::of(format!("use {}", tool.spec().name), &[]));
    let all = of.iter().fold(said, |said, (name, value)| said.noting(name, value));
    all.written(args, redactor)
}

/// Puts a mark before every line.
pub(super) fn marked(mark: char, text: &str) -> String {
    text.lines().map(|line| format!("{mark}{line}\n")).collect()
}

/// Keeps the head, and says how much is missing.
fn bounded(text: &str) -> String {
    let by_lines = text.match_indices('\n').nth(LINES - 1).map_or(text.len(), |(at, _)| at);
    let by_characters = text.char_indices().nth(CHARACTERS).map_or(text.len(), |(at, _)| at);
    let end = by_lines.min(by_characters);
    if end == text.len() {
        return text.to_owned();
    }
    let rest = &text[end..];
    let lines = rest.trim_start_matches('\n').lines().count();
    let characters = rest.chars().count();
    format!("{}\n[+{lines} lines, {characters} characters]", &text[..end])
}

#[cfg(test)]
mod tests;
