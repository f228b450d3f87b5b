//! What is said on the command line.

use std::io::Read as _;

use super::outcome::Failure;

/// Bytes that are read from standard input.
const LONGEST_INPUT: u64 = 1024 * 1024;

/// Returns the words of the command line, or standard input for `-`.
///
/// # Errors
/// When standard input is empty, too much, or no text.
pub fn text(words: &[String]) -> Result<String, Failure> {
    match words {
        [dash] if dash == "-" => piped_text(),
        words => Ok(words.join(" ")),
    }
}

fn piped_text() -> Result<String, Failure> {
    let mut text = String::new();
    let taken = std::io::stdin().take(LONGEST_INPUT + 1).read_to_string(&mut text);
    let wrong = |why: String| Err(Failure::Usage(why));
    if let Err(error) = taken {
        return wrong(format!("standard input cannot be read as text: {error}"));
    }
    if text.len() as u64 > LONGEST_INPUT {
        return wrong(format!(
            "standard input is longer than {LONGEST_INPUT} bytes: put it into a file instead"
        ));
    }
    if text.trim().is_empty() {
        return wrong("standard input is empty: there is nothing to say".to_owned());
    }
    Ok(text)
}
