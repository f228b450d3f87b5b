//! What of the todo files one task sees: an owner alone all of it, every other conversation its own.

use async_trait::async_trait;
use selkie_channel_core::ConversationId;

use crate::todo::{Entry, List, Todos};
use selkie_domain::command_line;
use selkie_store::SeenPerson;
use selkie_tools::ToolError;
use selkie_tools::ports::TodoAsker;

/// What the book has to ask of conversations.
#[async_trait]
pub trait Conversations: Send + Sync {
    /// Returns the id of the chat that a conversation belongs to: the same for every thread of it.
    fn chat(&self, conversation: &ConversationId) -> String;

    /// Lists who has spoken in that chat, the latest first; where all are heard of also who has spoken elsewhere and
    /// stands in no file yet.
    ///
    /// # Errors
    /// When the ledger does not answer.
    async fn met(
        &self,
        conversation: &ConversationId,
        sees_all: bool,
    ) -> Result<Vec<SeenPerson>, ToolError>;
}

/// What a task sees.
pub(super) struct View {
    /// Everything: an owner's private chat, or the command line.
    pub is_whole: bool,
    /// The chat of the task.
    pub chat: String,
    /// The chat that its new entries name; the owner's own name none.
    pub names: Option<String>,
}

impl View {
    pub fn of(by: &TodoAsker, conversations: &dyn Conversations) -> Self {
        let is_whole = by.sees_all;
        let chat = conversations.chat(&by.conversation);
        let is_nowhere = is_whole && command_line::is_at(&by.conversation);
        let names = (!is_nowhere).then(|| chat.clone());
        Self { is_whole, chat, names }
    }

    /// What somebody sees who only looks.
    pub fn of_chat(chat: String, is_whole: bool) -> Self {
        Self { is_whole, chat, names: None }
    }

    /// Whether the task is shown an entry.
    pub fn sees(&self, entry: &Entry) -> bool {
        self.is_whole || entry.chat.as_ref() == Some(&self.chat)
    }

    /// Whether an entry is of this conversation, or the owner's own.
    pub fn is_own(&self, entry: &Entry) -> bool {
        let is_here = entry.chat.as_ref() == Some(&self.chat);
        if self.is_whole { is_here || entry.chat.is_none() } else { false }
    }

    /// Lists what it sees of a file, the newest first.
    pub fn entries<'t>(&self, todos: &'t Todos) -> Vec<&'t Entry> {
        todos.counted().filter(|entry| self.sees(entry)).collect()
    }

    /// Counts what it sees of a file.
    pub fn count(&self, todos: &Todos) -> usize {
        self.entries(todos).len()
    }

    /// Says what of a file could not be read, to whoever may see all of it.
    pub fn faults(&self, list: List, todos: &Todos) -> Vec<String> {
        const MAX: usize = 3;
        let file = list.file();
        let all = todos.faults();
        if !self.is_whole {
            return Vec::new();
        }
        let more = all.len().saturating_sub(MAX);
        let shown = all.iter().take(MAX).map(|fault| format!("{file}, {fault}"));
        shown
            .chain((more > 0).then(|| format!("{file}: {more} more lines cannot be read")))
            .collect()
    }
}
