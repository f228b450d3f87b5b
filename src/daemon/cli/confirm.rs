//! Asks whoever sits at the terminal whether something is to be done.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use super::outcome::Failure;

/// Asks whether a command is to do what it has shown.
///
/// # Errors
/// Where nobody sits who could say so: `otherwise` says what to do there.
pub fn agreed(command: &str, question: &str, otherwise: &str) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        let why = format!("{command} asks first, and nobody can answer here: {otherwise}");
        return Err(Failure::Usage(why));
    }
    Ok(confirmed(question)?)
}

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
