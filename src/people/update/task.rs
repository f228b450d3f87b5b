//! One call of `todo_update`: what it may see, whom it may ask, and the files.

use std::sync::Arc;

use chrono::{DateTime, Timelike as _, Utc};

use super::reminding::ReminderStore;
use super::view::{Conversations, View};
use crate::contact_files::Shelves;
use crate::directory::Directory;
use crate::files::{Edit, FileError, FileResult, OwnedTodos};
use crate::forms::Forms;
use crate::todo::{Entry, List};
use selkie_domain::taint::Taint;
use selkie_store::SeenPerson;
use selkie_tools::ToolError;
use selkie_tools::ports::{Small, TodoAsker};

/// One call: what it may see, and whom it may ask.
pub(super) struct Task<'t> {
    pub directory: &'t Directory,
    pub forms: &'t Forms,
    pub by: &'t TodoAsker,
    pub model: &'t dyn Small,
    pub reminding: &'t dyn ReminderStore,
    pub conversations: &'t dyn Conversations,
    pub view: View,
}

impl Task<'_> {
    /// Returns the time, to the minute.
    pub fn minute(&self) -> DateTime<Utc> {
        let now = self.by.now;
        now.with_second(0).and_then(|now| now.with_nanosecond(0)).unwrap_or(now)
    }

    pub async fn todos(&self, list: List) -> Result<OwnedTodos, ToolError> {
        let files = Arc::clone(&self.directory.files);
        blocking(move || files.listed(list)).await
    }

    pub async fn shelves(&self) -> Result<Shelves, ToolError> {
        self.directory.shelves().await.map_err(|error| ToolError::tell(error.to_string()))
    }

    /// Lists who has spoken in the task's chat.
    pub async fn met(&self) -> Result<Vec<SeenPerson>, ToolError> {
        self.conversations.met(&self.by.conversation, self.view.is_whole).await
    }

    pub async fn edit(&self, edits: Vec<Edit>) -> Result<FileResult, ToolError> {
        let level = self.by.taint.written();
        let files = Arc::clone(&self.directory.files);
        let now = self.by.now;
        blocking(move || files.edit(&edits, level, now)).await
    }

    /// Whose words the texts of entries are, to this task; `file`: where they stand.
    pub fn level<'e>(
        &self,
        entries: impl IntoIterator<Item = &'e Entry>,
        file: &OwnedTodos,
    ) -> Taint {
        // What stands in a private chat is of whoever writes there, unless it was noted otherwise.
        let is_here = |entry: &Entry| {
            self.by.is_private
                && self.view.sees(entry)
                && entry.chat.as_ref() == Some(&self.view.chat)
        };
        let of = |entry: &Entry| match self.view.is_own(entry) || is_here(entry) {
            true => file.level(&entry.content),
            false => Taint::Raw,
        };
        entries.into_iter().map(of).max().unwrap_or_default()
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, ToolError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ToolError::tell(format!("the files cannot be looked at: {error}")))?
        .map_err(|error| ToolError::tell(error.to_string()))
}
