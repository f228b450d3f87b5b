//! What `todo_update` does: adds an item to `TODO.md`, or moves one into `TODO.DONE.md`, as far as the task may see them.

mod add;
mod complete;
mod context;
mod contract;
mod known;
mod likeness;
mod outcome;
mod reminding;
mod resolve;
mod seen;
mod task;
#[cfg(test)]
mod tests;
mod view;

use std::sync::Arc;

use async_trait::async_trait;

pub use self::context::OpenTodos;
pub use self::reminding::ReminderStore;
pub use self::seen::{NamedPerson, SeenTodo, SeenTodos, seen};
use self::task::Task;
pub use self::view::Conversations;
use self::view::View;
use super::directory::Directory;
use super::forms::Forms;
use selkie_tools::ToolError;
use selkie_tools::ports::{Small, TodoAsker, TodoFile, TodoReport, TodoWanted};

/// The todo files behind the port.
pub struct TodoBook {
    /// The files.
    pub directory: Directory,
    /// How ids are written.
    pub forms: Forms,
    /// Knows conversations.
    pub conversations: Arc<dyn Conversations>,
    /// Keeps reminders of items that have a time.
    pub reminding: Arc<dyn ReminderStore>,
}

#[async_trait]
impl TodoFile for TodoBook {
    async fn update(
        &self,
        by: &TodoAsker,
        model: &Arc<dyn Small>,
        wanted: TodoWanted,
    ) -> Result<TodoReport, ToolError> {
        let Self { directory, forms, conversations, reminding } = self;
        let view = View::of(by, &**conversations);
        let model = &**model;
        let reminding = &**reminding;
        let conversations = &**conversations;
        let task = Task { directory, forms, by, model, reminding, conversations, view };
        match wanted {
            TodoWanted::Add { content, people, chat } => {
                add::add(&task, &content, &people, chat).await
            }
            TodoWanted::Complete { words, chat } => complete::complete(&task, &words, chat).await,
        }
    }

    fn is_elsewhere(&self, by: &TodoAsker, chat: &str) -> Result<bool, ToolError> {
        let view = View::of(by, &*self.conversations);
        let chat = add::chat_of(&view, &self.forms, Some(chat.to_owned()))?;
        Ok(chat != view.names)
    }
}
