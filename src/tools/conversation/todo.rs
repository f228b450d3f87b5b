//! The todo list of a conversation: its items, its rules, its printed form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ToolError;
use crate::scope::Scope;
use selkie_channel_core::ConversationId;
use selkie_domain::facts::Trust;
use selkie_domain::parent::agent_conversation;
use selkie_domain::provenance::Provenance;
use selkie_domain::taint::Taint;

/// One thing to do.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Todo {
    /// Unique.
    pub(super) id: String,
    pub(super) title: String,
    pub(super) status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Pending,
    InProgress,
    Completed,
}

/// What is stored: the list with the version of its layout.
#[derive(Serialize, Deserialize)]
struct StoredTodos {
    v: u16,
    todos: Vec<Todo>,
    /// What whoever wrote it had read.
    #[serde(default, skip_serializing_if = "Taint::is_clean")]
    level: Taint,
    /// The trust in whoever wrote it; lists of earlier versions do not say.
    #[serde(default)]
    by: Option<Trust>,
}

/// A thing to do, as people read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatItem {
    /// What is to be done.
    pub text: String,
    /// It was done.
    pub is_done: bool,
}

/// Reads a list as it is stored, for people.
///
/// # Errors
/// What is no list.
pub fn items(json: &str) -> serde_json::Result<Vec<ChatItem>> {
    let item =
        |Todo { title, status, .. }| ChatItem { text: title, is_done: status == Status::Completed };
    let stored: StoredTodos = serde_json::from_str(json)?;
    Ok(stored.todos.into_iter().map(item).collect())
}

/// Whose list it is: an agent has one of its own.
fn owner(scope: &Scope) -> ConversationId {
    match &scope.agent {
        Some(name) => agent_conversation(&scope.conversation, name),
        None => scope.conversation.clone(),
    }
}

/// Reads the conversation's list and its level: what its writer had read, and others' words where the writer is
/// trusted less than who reads. None is an empty one.
pub(super) async fn load(scope: &Scope) -> Result<(Vec<Todo>, Taint), ToolError> {
    let Some(json) = scope.todos.read(&owner(scope)).await? else {
        return Ok((Vec::new(), Taint::Clean));
    };
    let stored: StoredTodos = serde_json::from_str(&json).map_err(|e| {
        ToolError::tell(format!("the stored todo list cannot be read ({e}): write a new one"))
    })?;
    // Nobody can say who wrote an old list.
    let trust = stored.by.unwrap_or(Trust::Stranger);
    Ok((stored.todos, Provenance { level: stored.level, trust }.read_by(scope.trust)))
}

/// Replaces the conversation's list.
pub(super) async fn store(scope: &Scope, todos: Vec<Todo>) -> Result<(), ToolError> {
    let level = scope.roots.level.writes().level;
    let stored = serde_json::to_string(&StoredTodos { v: 1, todos, level, by: Some(scope.trust) });
    let json = stored.map_err(|e| ToolError::tell(format!("the list cannot be stored: {e}")))?;
    scope.todos.write(&owner(scope), json).await
}

/// Prints a list as `[id] status: title (description)`.
pub(super) fn print(todos: &[Todo]) -> String {
    if todos.is_empty() {
        return "Todo list is empty.".to_owned();
    }
    let lines: Vec<String> = todos.iter().map(line).collect();
    lines.join("\n")
}

fn line(todo: &Todo) -> String {
    let status = match todo.status {
        Status::Pending => "pending",
        Status::InProgress => "in_progress",
        Status::Completed => "completed",
    };
    let more = todo.description.as_deref().filter(|d| !d.is_empty());
    let more = more.map(|d| format!(" ({d})")).unwrap_or_default();
    format!("[{}] {status}: {}{more}", todo.id, todo.title)
}
