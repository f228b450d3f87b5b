//! `todo_update`: keeps the owner's list of what is to be done, in files that people edit, too. A runtime tool: what it
//! sees of the list is its task's.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::args::typed;
use crate::basis::Target;
use crate::paths::Roots;
use crate::ports::{AddresseeQuery, Small, TodoAsker, TodoWanted};
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, speak, spec};
use selkie_domain::command_line;
use selkie_domain::facts::Trigger;
use selkie_domain::taint::Taint;
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// Questions to a model that one call may take, and the time beside them.
const MAX_TIME: Duration = Duration::from_secs(150);

/// So many letters name an item, no less.
const LEAST: usize = 3;

/// The tool. It asks the model where words alone do not tell.
pub(crate) struct TodoUpdate(pub(crate) Arc<dyn Small>);

#[derive(Deserialize, JsonSchema)]
struct Args {
    action: Action,
    /// For add: one line that stands by itself; a time of day as "YYYY-MM-DD hh:mm". For complete: words of the item.
    content: String,
    /// Required for add: whom it speaks of, usually the speaker too; [] for nobody.
    people: Option<Vec<String>>,
    /// Default: this conversation.
    chat_id: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Action {
    Add,
    Complete,
}

#[async_trait]
impl Handler for TodoUpdate {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Keep the lasting list of what people want done or remembered (TODO.md). For steps of the \
                          task at hand use todo_write."
                .to_owned(),
            group: "conversation",
            sources: &["S3"],
            doing: "updating TODO.md",
            longest: Some(MAX_TIME),
            // What was added before is found again, and so is what was completed a moment ago.
            ..spec::<Args>("todo_update", Class::Note, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { action, content, people, chat_id } = typed(args)?;
        let chat = named(chat_id);
        let wanted = match (action, people) {
            (Action::Add, None) => {
                return Err(ToolError::tell(
                    "people is required for add action: [] when it is about nobody",
                ));
            }
            (Action::Add, Some(people)) => TodoWanted::Add { content, people, chat },
            (Action::Complete, _) => TodoWanted::Complete { words: content, chat },
        };
        if let Some(what) = self.0.lacks() {
            return Err(ToolError::tell(format!("todo_update unavailable (missing {what})")));
        }
        let by = asker(scope);
        scope.todo_file.update(&by, &self.0, wanted).await.map(Output::told)
    }

    /// An item belongs to a chat: people read it there, and its reminder is said there.
    async fn target(&self, scope: &Scope, args: &Value) -> Result<Target, ToolError> {
        let Args { action, chat_id, .. } = typed(args.clone())?;
        match named(chat_id).filter(|_| matches!(action, Action::Add)) {
            Some(chat) if scope.todo_file.is_elsewhere(&asker(scope), &chat)? => {
                // Whoever works at this machine need not have met the chat, or configured its channel.
                match command_line::is_at(&scope.conversation) {
                    true => Ok(Target::of(Class::Message)),
                    false => speak::target(scope, &AddresseeQuery::Anybody(chat)).await,
                }
            }
            _ => Ok(Target::default()),
        }
    }

    fn preview(&self, _roots: &Roots, args: &Value) -> Option<Preview> {
        let action = args.get("action").and_then(Value::as_str).unwrap_or_default();
        Some(Preview::of(format!("{action} an item of TODO.md"), &["action"]))
    }

    /// To take an item off the list of an owner. In other conversations it is their own talk that does so. What was only
    /// in play before gives way to what the person has just written.
    fn changes_the_owners(&self, scope: &Scope, args: &Value) -> bool {
        let text = |key: &str| args.get(key).and_then(Value::as_str).unwrap_or_default();
        let has_written =
            scope.taint == Taint::Derived && holds(&scope.asked.text, text("content"));
        scope.roots.state.is_some() && text("action") == "complete" && !has_written
    }
}

/// Who wants something of the list.
fn asker(scope: &Scope) -> TodoAsker {
    TodoAsker {
        conversation: scope.conversation.clone(),
        // The lists are files of the state folder, which is open to an owner alone.
        sees_all: scope.roots.state.is_some(),
        is_private: scope.is_private,
        wisher: scope.wisher().ok(),
        is_asked: scope.trigger == Trigger::Asked,
        is_approved: scope.approved.is_some(),
        asked: Arc::clone(&scope.asked),
        taint: scope.taint,
        spent: Arc::clone(&scope.spent),
        now: scope.clock.now(),
    }
}

/// The chat that an argument names.
fn named(chat: Option<String>) -> Option<String> {
    chat.map(|chat| chat.trim().to_owned()).filter(|chat| !chat.is_empty())
}

/// Whether words stand in a text, as whole words and next to each other, whatever is between and around them.
fn holds(text: &str, words: &str) -> bool {
    let read = |text: &str| -> String {
        let text = text.to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.fold(" ".to_owned(), |all, word| all + word + " ")
    };
    let words = read(words);
    words.chars().filter(|c| c.is_alphanumeric()).count() >= LEAST && read(text).contains(&words)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;
    use crate::args::accept;
    use crate::asked::UserText;
    use crate::ports::{TodoFile, TodoReport};
    use crate::testkit::Folders;
    use selkie_domain::usage::Meter;

    /// Writes down what is wanted.
    #[derive(Default)]
    struct Noted(Mutex<Vec<String>>);

    #[async_trait]
    impl TodoFile for Noted {
        async fn update(
            &self,
            _: &TodoAsker,
            _: &Arc<dyn Small>,
            wanted: TodoWanted,
        ) -> Result<TodoReport, ToolError> {
            self.0.lock().unwrap().push(format!("{wanted:?}"));
            Ok(TodoReport::default())
        }

        fn is_elsewhere(&self, _: &TodoAsker, chat: &str) -> Result<bool, ToolError> {
            Ok(chat != "bird:42")
        }
    }

    struct Model(Option<&'static str>);

    #[async_trait]
    impl Small for Model {
        async fn ask(&self, _: &str, _: &str, _: Duration, _: &Meter) -> Result<String, ToolError> {
            Err(ToolError::tell("it is not asked"))
        }

        fn lacks(&self) -> Option<&'static str> {
            self.0
        }
    }

    async fn said(lacks: Option<&'static str>, written: Value) -> String {
        let model: Arc<dyn Small> = Arc::new(Model(lacks));
        let tool = TodoUpdate(Arc::clone(&model));
        let args = match accept(&tool.spec().parameters, &written) {
            Ok(accepted) => accepted.args,
            Err(why) => return why,
        };
        let noted = Arc::new(Noted::default());
        let folders = Folders::new();
        let scope = Scope { todo_file: noted.clone(), ..folders.scope() };
        match tool.call(&scope, args).await {
            Ok(_) => noted.0.lock().unwrap().join("\n"),
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn an_owners_item_is_taken_off_by_others_words_only_when_the_owner_says_so() {
        let model: Arc<dyn Small> = Arc::new(Model(None));
        let (tool, folders) = (TodoUpdate(Arc::clone(&model)), Folders::new());
        let asks = |taint, typed: &str, args: Value| {
            let asked = UserText { text: typed.to_owned(), ..UserText::default() };
            let scope = Scope { taint, asked: Arc::new(asked), ..folders.scope() };
            tool.changes_the_owners(&scope, &args)
        };
        let complete = || json!({ "action": "complete", "content": "buy milk" });
        assert!(asks(Taint::Raw, "buy milk is done", complete()), "a forward stands beside it");
        assert!(asks(Taint::Derived, "what is new?", complete()));
        assert!(asks(Taint::Derived, "buy milkshakes", complete()), "another word");
        assert!(!asks(Taint::Derived, "Done: *Buy* milk!", complete()), "just written");
        let add = json!({ "action": "add", "content": "buy milk", "people": [] });
        assert!(!asks(Taint::Raw, "", add));
        let short = json!({ "action": "complete", "content": "a" });
        assert!(asks(Taint::Derived, "what a day", short));
        let mut elsewhere = Scope { taint: Taint::Raw, ..folders.scope() };
        elsewhere.roots.state = None;
        assert!(!tool.changes_the_owners(&elsewhere, &complete()), "a list of their own");
    }

    #[tokio::test]
    async fn faults_are_named_in_the_words_of_the_reference() {
        for (written, words) in [
            (json!({ "content": "x" }), "action is required"),
            (json!({ "action": "add", "people": [] }), "content is required"),
            (json!({ "action": "add", "content": "", "people": [] }), "content is required"),
            (
                json!({ "action": "drop", "content": "x" }),
                "invalid action: drop (takes add, complete)",
            ),
            (json!({ "action": "add", "content": "x" }), "people is required for add action"),
            (
                json!({ "action": "add", "content": "x", "people": [1] }),
                "people must be an array of strings",
            ),
            (
                json!({ "action": "add", "content": "x", "people": "Bo" }),
                "people must be an array of strings",
            ),
            (
                json!({ "action": "add", "content": "x", "people": [], "chat_id": 7 }),
                "chat_id must be a string",
            ),
        ] {
            let said = said(None, written.clone()).await;
            assert!(said.contains(words), "{written}: {said}");
        }
        let fine = json!({ "action": "complete", "content": "x" });
        assert_eq!(
            said(Some("llm client"), fine.clone()).await,
            "todo_update unavailable (missing llm client)"
        );
        assert_eq!(
            said(Some("llm model"), fine.clone()).await,
            "todo_update unavailable (missing llm model)"
        );
        assert_eq!(said(None, fine).await, r#"Complete { words: "x", chat: None }"#);
    }
}
