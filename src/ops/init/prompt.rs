//! Questions at a terminal: a line each, secrets without echo; a signal ends the asking and leaves the terminal as it was.

use std::io::{self, BufRead as _, Read as _};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use secrecy::SecretString;
use tokio::sync::mpsc;

use selkie_app::lifecycle::Signals;

/// The longest line that is read.
const MAX_LENGTH: u64 = 16 * 1024;

/// Nobody goes on answering: a signal came, or the terminal was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptClosed;

/// Whoever sits there, as far as questions go.
pub struct Prompter {
    /// Prints sentences. A terminal that was closed is noticed when it is read.
    print: fn(&str) -> io::Result<()>,
    lines: mpsc::Receiver<String>,
    signals: Signals,
    before: Echo,
}

impl Prompter {
    /// Takes the process's terminal.
    ///
    /// # Errors
    /// When signals cannot be handled, or standard input is no terminal.
    pub fn at_terminal(print: fn(&str) -> io::Result<()>) -> io::Result<Self> {
        let before = Echo(tcgetattr(io::stdin())?);
        let (typed, lines) = mpsc::channel(1);
        // A read that nobody waits for any more ends with the process.
        std::thread::Builder::new().name("answers".to_owned()).spawn(move || read(&typed))?;
        Ok(Self { print, lines, signals: Signals::listen()?, before })
    }

    fn show(&self, text: &str) {
        (self.print)(text).ok();
    }

    /// Prints a line.
    pub fn say(&self, line: &str) {
        self.show(&format!("{line}\n"));
    }

    /// Asks for a line; an empty one takes the default.
    ///
    /// # Errors
    /// When nobody goes on answering.
    pub async fn line(&mut self, prompt: &str, default: &str) -> Result<String, PromptClosed> {
        self.show(&match default {
            "" => format!("{prompt}: "),
            default => format!("{prompt} [{default}]: "),
        });
        let line = self.typed().await?;
        Ok(match line.trim() {
            "" => default.to_owned(),
            line => line.to_owned(),
        })
    }

    /// Asks for yes or no.
    ///
    /// # Errors
    /// When nobody goes on answering.
    pub async fn agrees(&mut self, question: &str, default: bool) -> Result<bool, PromptClosed> {
        loop {
            self.show(&format!("{question} [{}]: ", if default { "Y/n" } else { "y/N" }));
            match self.typed().await?.trim().to_lowercase().as_str() {
                "" => return Ok(default),
                "y" | "yes" => return Ok(true),
                "n" | "no" => return Ok(false),
                _ => self.say("Please answer y or n."),
            }
        }
    }

    /// Asks for a secret, which is not shown; `None` for an empty line. `empty` says what that means.
    ///
    /// # Errors
    /// When nobody goes on answering.
    pub async fn secret(
        &mut self,
        prompt: &str,
        empty: &str,
    ) -> Result<Option<SecretString>, PromptClosed> {
        // Before the question: what is typed at it is never shown.
        self.before.off();
        self.show(&format!("{prompt} (not shown) [{empty}]: "));
        let line = self.typed().await;
        self.before.restore();
        // The end of the line was not shown either.
        self.show("\n");
        let line = line?;
        Ok(Some(line.trim()).filter(|line| !line.is_empty()).map(SecretString::from))
    }

    /// Waits for a line that answers what was shown before.
    ///
    /// # Errors
    /// When nobody goes on answering.
    pub async fn typed(&mut self) -> Result<String, PromptClosed> {
        tokio::select! {
            line = self.lines.recv() => line.ok_or(PromptClosed),
            _ = self.signals.next() => Err(PromptClosed),
        }
    }
}

/// The terminal's modes as they were found; back when this goes.
struct Echo(Termios);

impl Echo {
    fn off(&self) {
        let mut modes = self.0.clone();
        modes.local_modes.remove(LocalModes::ECHO);
        // What was typed ahead was not meant for this question.
        tcsetattr(io::stdin(), OptionalActions::Flush, &modes).ok();
    }

    fn restore(&self) {
        tcsetattr(io::stdin(), OptionalActions::Drain, &self.0).ok();
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.restore();
    }
}

fn read(typed: &mpsc::Sender<String>) {
    let mut stdin = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        match stdin.by_ref().take(MAX_LENGTH).read_until(b'\n', &mut line) {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        if typed.blocking_send(String::from_utf8_lossy(&line).into_owned()).is_err() {
            return;
        }
    }
}
