//! Words of the command line as they are said, however many lines they take at a terminal.

/// Puts the words of a text on one line.
pub fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
