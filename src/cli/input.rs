//! What is said on the command line: its words, standard input, files.

use std::fs::File;
use std::io::{IsTerminal as _, Read};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use super::outcome::Failure;
use super::print;
use selkie_domain::words::Enclosure;
use selkie_engine::work::attachments::MAX_COPIED;

/// Bytes of text that are read, from standard input and from all files together.
pub(super) const MAX_TEXT: usize = 1024 * 1024;
/// How long standard input may stay open before somebody is told that it is waited for.
const QUIET: Duration = Duration::from_secs(2);
/// Names standard input among the words.
pub(super) const DASH: &str = "-";

/// Returns the words of the command line, or standard input for `-`.
///
/// # Errors
/// When standard input is empty, too much, or no text.
pub fn text(words: &[String]) -> Result<String, Failure> {
    match words {
        [dash] if dash == DASH => {
            let text = standard_input()?;
            if text.trim().is_empty() {
                let says = "standard input is empty: there is nothing to say";
                return Err(Failure::Usage(says.to_owned()));
            }
            Ok(text)
        }
        words => Ok(words.join(" ")),
    }
}

/// Returns what is enclosed with words: standard input, where it is no terminal or the words begin or end with `-`.
///
/// # Errors
/// When it is too much, or no text.
pub fn enclosed(words: &mut Vec<String>) -> Result<Option<Enclosure>, Failure> {
    if words.as_slice() == [DASH] {
        return Ok(None);
    }
    let mut is_named = false;
    if words.last().is_some_and(|word| word == DASH) {
        words.pop();
        is_named = true;
    } else if words.first().is_some_and(|word| word == DASH) {
        words.remove(0);
        is_named = true;
    }
    if std::io::stdin().is_terminal() && !is_named {
        return Ok(None);
    }
    let text = standard_input()?.trim_end_matches(['\n', '\r']).to_owned();
    let is_empty = text.trim().is_empty();
    let name = "standard input".to_owned();
    Ok((!is_empty).then_some(Enclosure::Text { name, text }))
}

/// Encloses a file: short text as it is, anything else as a file.
///
/// # Errors
/// When it cannot be read, or is too large; names it.
pub fn file(here: &Path, named: &Path) -> Result<Enclosure, Failure> {
    let wrong = |why: String| Failure::Usage(format!("--file {}: {why}", named.display()));
    let unread = |error: std::io::Error| wrong(format!("cannot be read: {error}"));
    let path = here.join(named);
    let mut file = File::open(&path).map_err(unread)?;
    let metadata = file.metadata().map_err(unread)?;
    let mut bytes = Vec::new();
    file.by_ref().take(MAX_TEXT as u64 + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() <= MAX_TEXT
        && let Some(text) = as_text(bytes)
    {
        return Ok(Enclosure::Text { name: named.display().to_string(), text });
    }
    if !metadata.is_file() {
        return Err(wrong(format!("is neither a file nor text of at most {MAX_TEXT} bytes")));
    }
    if metadata.len() > MAX_COPIED {
        return Err(wrong(format!("has more than {MAX_COPIED} bytes")));
    }
    Ok(Enclosure::File(path.canonicalize().map_err(unread)?))
}

/// Reads all of standard input: as with other programs, what is open is waited for.
fn standard_input() -> Result<String, Failure> {
    let (read, input) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let taken = std::io::stdin().take(MAX_TEXT as u64 + 1).read_to_end(&mut bytes);
        read.send(taken.map(|_| bytes)).ok();
    });
    let bytes = match input.recv_timeout(QUIET) {
        Err(RecvTimeoutError::Timeout) => {
            let says =
                "selkie: waiting for the end of standard input (</dev/null if nothing comes)";
            print::told(says);
            input.recv()?
        }
        read => read?,
    };
    let wrong = |why: String| Failure::Usage(format!("standard input {why}"));
    let bytes = bytes.map_err(|error| wrong(format!("cannot be read: {error}")))?;
    if bytes.len() > MAX_TEXT {
        return Err(wrong(format!("is longer than {MAX_TEXT} bytes: put it into a file instead")));
    }
    as_text(bytes).ok_or_else(|| wrong("is not text (UTF-8): use --file with a file".to_owned()))
}

fn as_text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}
