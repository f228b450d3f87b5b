//! What a channel finds when it is asked how it stands with its platform: who it is, what it may do, what is in the
//! way.

use chrono::{DateTime, Utc};

use crate::PersonId;

/// What is to be looked at, beside the channel's own credential.
#[derive(Clone, Copy, Debug)]
pub struct Examine<'a> {
    /// The owners of this platform: whether the bot can speak to them.
    pub owners: &'a [PersonId],
    /// The daemon is running: what the platform sends arrives there, and what works once is its to use.
    pub daemon_runs: bool,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExaminationReport {
    /// One thing each; none where the channel looks at nothing.
    pub findings: Vec<Examination>,
    /// What the platform's clock said just now, where its answers tell.
    pub clock: Option<DateTime<Utc>>,
}

/// Whether a platform takes a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialCheck {
    /// It does.
    Taken,
    /// It refuses it for sure, and says so itself. In words: what was refused and what to do; they hold no secret.
    Refused(String),
    /// Nobody knows: it does not answer, it limits us, or asking would use up what works once.
    Unknown,
}

/// One thing that was found. Holds no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examination {
    /// How bad it is.
    pub gravity: Gravity,
    /// What is so.
    pub message: String,
    /// What to do; empty where nothing is to be done.
    pub advice: String,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gravity {
    /// It is as it should be.
    Fine,
    /// It works, and something about it will be missed.
    Warning,
    /// It does not work.
    Error,
}

impl ExaminationReport {
    /// One error and nothing else: whatever else could be asked would fail alike.
    pub fn broken(message: impl Into<String>, advice: impl Into<String>) -> Self {
        let mut examined = Self::default();
        examined.error(message, advice);
        examined
    }

    /// Adds what is as it should be.
    pub fn fine(&mut self, message: impl Into<String>) {
        self.add(Gravity::Fine, message.into(), String::new());
    }

    /// Adds what works, with something missing.
    pub fn warning(&mut self, message: impl Into<String>, advice: impl Into<String>) {
        self.add(Gravity::Warning, message.into(), advice.into());
    }

    /// Adds what does not work.
    pub fn error(&mut self, message: impl Into<String>, advice: impl Into<String>) {
        self.add(Gravity::Error, message.into(), advice.into());
    }

    fn add(&mut self, gravity: Gravity, message: String, advice: String) {
        self.findings.push(Examination { gravity, message, advice });
    }
}
