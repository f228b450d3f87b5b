//! What the tools of memory need of the house: one port, which sees what the task may see and nothing else.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, PersonId};

use crate::ToolError;
use crate::ports::TodoReport;
use selkie_domain::facts::Trust;
use selkie_domain::taint::Taint;

/// What is remembered.
#[async_trait]
pub trait Memory: Send + Sync {
    /// Remembers something in the conversation's own memory; returns what to tell of it.
    ///
    /// # Errors
    /// In words: it is too long, there is too much of it, the file cannot be written.
    async fn write(&self, by: &Rememberer, new: NewMemory) -> Result<TodoReport, ToolError>;

    /// Finds what fits a question.
    ///
    /// # Errors
    /// In words: the files or the index cannot be read.
    async fn search(&self, by: &Rememberer, sought: MemoryQuery) -> Result<TodoReport, ToolError>;

    /// Returns lines of a file.
    ///
    /// # Errors
    /// In words: there is no such file here, or it cannot be read.
    async fn get(&self, by: &Rememberer, wanted: WantedLines) -> Result<TodoReport, ToolError>;
}

/// The task that remembers.
#[derive(Clone, Debug)]
pub struct Rememberer {
    /// Where it speaks.
    pub conversation: ConversationId,
    /// Whether it sees the general memory, too: an owner alone does.
    pub sees_general: bool,
    /// The memory of its own that it has there instead, by its name: an agent's.
    pub own_memory: Option<String>,
    /// Who has asked for it.
    pub author: PersonId,
    /// How far whoever asked is trusted.
    pub trust: Trust,
    /// The level of what it reads.
    pub level: Taint,
    /// The time.
    pub now: DateTime<Utc>,
}

/// What is to be remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMemory {
    /// In one line.
    pub text: String,
    /// The heading under which it is kept.
    pub section: Option<String>,
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryQuery {
    /// In any words.
    pub query: String,
    /// So many results at most.
    pub most: usize,
    /// How well they fit at least, from 0 to 1.
    pub least: f64,
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedLines {
    /// Its path.
    pub path: String,
    /// The first line, from 1.
    pub from: usize,
    /// How many.
    pub lines: usize,
}
