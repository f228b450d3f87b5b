//! Prints an answer while it is written: each piece once, and at the end what is missing.

use std::io;

use super::live::Live;
use super::print;

/// An answer that somebody reads along.
#[derive(Debug, Default)]
pub struct StreamedAnswer {
    is_on: bool,
    /// What of this answer is printed; blanks at its end are not.
    printed: String,
    /// Blanks that are printed when a word follows.
    blanks: String,
}

impl StreamedAnswer {
    /// Prints pieces when it `is_on`, else the whole at the end.
    pub fn new(is_on: bool) -> Self {
        Self { is_on, ..Self::default() }
    }

    /// Whether a line of an answer stands that more may follow.
    pub fn is_open(&self) -> bool {
        !self.printed.is_empty()
    }

    /// Prints what was written.
    pub fn wrote(&mut self, text: &str, live: &Live) -> io::Result<()> {
        if !self.is_on {
            return Ok(());
        }
        let words = text.trim_end();
        if !words.is_empty() {
            let begins = self.printed.is_empty();
            let words = if begins { words.trim_start() } else { words };
            let blanks = std::mem::take(&mut self.blanks);
            let more = if begins { words.to_owned() } else { blanks + words };
            if begins {
                live.clear();
            }
            print::out(&more)?;
            self.printed.push_str(&more);
        }
        self.blanks.push_str(&text[text.trim_end().len()..]);
        Ok(())
    }

    /// What was printed is no answer, or not all of it: something else follows in a line of its own.
    pub fn breaks(&mut self) -> io::Result<()> {
        self.blanks.clear();
        match std::mem::take(&mut self.printed).is_empty() {
            true => Ok(()),
            false => print::out("\n"),
        }
    }

    /// Prints of a whole text what is not printed yet.
    pub fn said(&mut self, text: &str, live: &Live) -> io::Result<()> {
        let text = text.trim_end();
        if !self.printed.is_empty()
            && let Some(rest) = text.strip_prefix(&self.printed)
        {
            print::out(&format!("{rest}\n"))?;
            self.printed.clear();
            self.blanks.clear();
            return Ok(());
        }
        self.breaks()?;
        live.clear();
        print::out(&format!("{text}\n"))
    }
}
