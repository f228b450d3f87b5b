//! Asks whoever sits at the terminal whether something is to be done.

use std::io::{self, BufRead as _, Write as _};

/// Asks on standard error, where no pipe takes the question away; anything but a yes is a no.
///
/// # Errors
/// When nothing can be read.
pub fn confirmed(question: &str) -> io::Result<bool> {
    let mut said = io::stderr().lock();
    write!(said, "{question} [y/N] ")?;
    said.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}
