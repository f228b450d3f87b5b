//! What is said on the command line.

use std::io::Read as _;

use anyhow::{Context as _, bail};

/// Bytes that are read from standard input.
const LONGEST_INPUT: u64 = 1024 * 1024;

/// Returns the words of the command line, or standard input for `-`.
///
/// # Errors
/// When standard input is empty, too much, or no text.
pub fn text(words: &[String]) -> anyhow::Result<String> {
    match words {
        [dash] if dash == "-" => piped_text(),
        words => Ok(words.join(" ")),
    }
}

fn piped_text() -> anyhow::Result<String> {
    let mut text = String::new();
    let taken = std::io::stdin().take(LONGEST_INPUT + 1).read_to_string(&mut text);
    taken.context("standard input cannot be read as text")?;
    if text.len() as u64 > LONGEST_INPUT {
        bail!("standard input is longer than {LONGEST_INPUT} bytes: put it into a file instead");
    }
    if text.trim().is_empty() {
        bail!("standard input is empty: there is nothing to say");
    }
    Ok(text)
}
