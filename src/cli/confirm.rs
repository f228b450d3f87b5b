//! Asks whoever sits at the terminal whether something is to be done.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use super::outcome::{Failure, Outcome};
use super::print;

/// Asks whether something is to be done that was shown before; says so where it is not.
///
/// # Errors
/// Where it is not, and where nobody sits who could say so: `otherwise` says what to do there.
pub fn agreed(question: &str, otherwise: impl FnOnce() -> String) -> Outcome {
    if !io::stdin().is_terminal() {
        return Err(Failure::Usage(otherwise()));
    }
    if !confirmed(question)? {
        print::out("Nothing has changed.\n")?;
        return Err(Failure::Told);
    }
    Ok(())
}

/// Says that nobody can be asked.
pub fn unasked(command: &str, otherwise: &str) -> String {
    format!("{command} asks first, and nobody can answer here: {otherwise}")
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
