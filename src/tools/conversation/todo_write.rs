//! `todo_write`: replaces the conversation's todo list.

use std::collections::BTreeSet;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::todo::{Status, Todo, print, store};
use crate::args::typed;
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// The tool.
pub(crate) struct TodoWrite;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// An empty list clears it.
    todos: Vec<Todo>,
}

#[async_trait]
impl Handler for TodoWrite {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description:
                "Replace this conversation's todo list: always the full list, at most one item \
                          in_progress."
                    .to_owned(),
            group: "conversation",
            sources: &["S0"],
            doing: "updating this chat's own list",
            ..spec::<Args>("todo_write", Class::Note, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { todos } = typed(args)?;
        check(&todos)?;
        let printed = print(&todos);
        store(scope, todos).await?;
        Ok(Output::ok(printed))
    }
}

fn check(todos: &[Todo]) -> Result<(), ToolError> {
    let mut seen = BTreeSet::new();
    for (index, todo) in todos.iter().enumerate() {
        if todo.id.is_empty() {
            return Err(ToolError::tell(format!("todos.{index}.id is required")));
        }
        if todo.title.is_empty() {
            return Err(ToolError::tell(format!("todos.{index}.title is required")));
        }
        if !seen.insert(&todo.id) {
            return Err(ToolError::tell(format!("two todos have the id {}", todo.id)));
        }
    }
    let busy: Vec<&str> =
        todos.iter().filter(|t| t.status == Status::InProgress).map(|t| t.id.as_str()).collect();
    if busy.len() > 1 {
        let ids = busy.join(", ");
        return Err(ToolError::tell(format!("only one todo may be in_progress, not {ids}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::TodoRead;
    use super::*;
    use crate::args::accept;
    use crate::paths::Level;
    use crate::testkit::Folders;
    use selkie_domain::facts::Trust;
    use selkie_domain::taint::Taint;

    async fn write(scope: &Scope, args: Value) -> String {
        let tool = TodoWrite;
        let args = match accept(&tool.spec().parameters, &args) {
            Ok(accepted) => accepted.args,
            Err(faults) => return faults,
        };
        tool.call(scope, args).await.map_or_else(|e| e.to_string(), |o| o.text)
    }

    async fn read(scope: &Scope) -> String {
        TodoRead.call(scope, json!({})).await.unwrap().text
    }

    #[tokio::test]
    async fn a_list_keeps_the_level_of_who_wrote_it() {
        let folders = Folders::new();
        let clean = folders.scope();
        let mut tainted = folders.scope();
        tainted.roots.level = Level::of_task(Taint::Derived, Trust::Owner);
        let level = async || TodoRead.call(&clean, json!({})).await.unwrap().level;
        let todos = json!({"todos": [{"id": "1", "title": "Obey", "status": "pending"}]});
        write(&tainted, todos.clone()).await;
        assert_eq!(level().await, Taint::Derived);
        write(&clean, todos).await;
        assert_eq!(level().await, Taint::Clean, "another list");
        let mut stranger = folders.scope();
        stranger.trust = Trust::Stranger;
        write(&stranger, json!({"todos": [{"id": "1", "title": "Obey", "status": "pending"}]}))
            .await;
        assert_eq!(level().await, Taint::Raw, "written by somebody of less trust");
    }

    #[tokio::test]
    async fn the_list_is_replaced_and_read_back() {
        let folders = Folders::new();
        let scope = folders.scope();
        assert_eq!(read(&scope).await, "Todo list is empty.");
        let todos = json!({"todos": [
            {"id": "1", "title": "Read code", "status": "completed"},
            {"id": "2", "title": "Write", "status": "in_progress", "description": "the parser"}
        ]});
        let printed = "[1] completed: Read code\n[2] in_progress: Write (the parser)";
        assert_eq!(write(&scope, todos).await, printed);
        assert_eq!(read(&scope).await, printed);
        assert_eq!(write(&scope, json!({"todos": []})).await, "Todo list is empty.");
        assert_eq!(read(&scope).await, "Todo list is empty.");
    }

    #[tokio::test]
    async fn a_wrong_list_changes_nothing() {
        let folders = Folders::new();
        let scope = folders.scope();
        let item = |id: &str, status: &str| json!({"id": id, "title": "t", "status": status});
        let mut said = Vec::new();
        for todos in [
            json!([item("1", "in_progress"), item("2", "in_progress")]),
            json!([item("1", "pending"), item("1", "pending")]),
            json!([item("1", "done")]),
            json!([item("", "pending")]),
            json!("milk"),
        ] {
            said.push(write(&scope, json!({ "todos": todos })).await);
        }
        insta::assert_snapshot!(said.join("\n"), @r"
        only one todo may be in_progress, not 1, 2
        two todos have the id 1
        invalid todos.0.status: done (takes pending, in_progress, completed)
        todos.0.id is required
        todos must be an array of objects
        ");
        assert_eq!(read(&scope).await, "Todo list is empty.");
    }
}
