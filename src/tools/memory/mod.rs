//! What is remembered beyond a conversation's history: written, found, read.

mod asker;
mod get;
pub mod port;
mod search;
mod write;

pub(super) use get::MemoryGet;
pub(super) use search::MemorySearch;
pub(super) use write::MemoryWrite;

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use async_trait::async_trait;
    use serde_json::{Value, json};

    use super::port::{Memory, MemoryQuery, NewMemory, Rememberer, WantedLines};
    use super::*;
    use crate::args::accept;
    use crate::ports::TodoReport;
    use crate::scope::Scope;
    use crate::testkit::Folders;
    use crate::{Handler, ToolError};
    use selkie_domain::taint::Taint;

    /// Writes down what is wanted.
    #[derive(Default)]
    struct Noted(Mutex<Vec<String>>);

    impl Noted {
        fn told(&self, wanted: String) -> Result<TodoReport, ToolError> {
            self.0.lock().unwrap().push(wanted);
            Ok(TodoReport { text: "told".to_owned(), level: Taint::Raw })
        }
    }

    #[async_trait]
    impl Memory for Noted {
        async fn write(&self, by: &Rememberer, new: NewMemory) -> Result<TodoReport, ToolError> {
            self.told(format!("{} {new:?}", by.author))
        }

        async fn search(
            &self,
            by: &Rememberer,
            sought: MemoryQuery,
        ) -> Result<TodoReport, ToolError> {
            self.told(format!("{} {sought:?}", by.sees_general))
        }

        async fn get(&self, _: &Rememberer, wanted: WantedLines) -> Result<TodoReport, ToolError> {
            self.told(format!("{wanted:?}"))
        }
    }

    async fn called(tool: &dyn Handler, written: Value) -> String {
        let args = match accept(&tool.spec().parameters, &written) {
            Ok(accepted) => accepted.args,
            Err(why) => return why,
        };
        let noted = Arc::new(Noted::default());
        let scope = Scope { memory: noted.clone(), ..Folders::new().scope() };
        match tool.call(&scope, args).await {
            Ok(output) => {
                assert_eq!(output.level, Taint::Raw, "the level of what was found goes along");
                noted.0.lock().unwrap().join("\n")
            }
            Err(why) => why.to_string(),
        }
    }

    #[tokio::test]
    async fn what_is_not_said_has_the_values_of_the_reference() {
        assert_eq!(
            called(&MemorySearch, json!({ "query": "tea" })).await,
            r#"true MemoryQuery { query: "tea", most: 6, least: 0.35 }"#
        );
        assert_eq!(
            called(&MemorySearch, json!({ "query": "tea", "max_results": 999, "min_score": 7 }))
                .await,
            r#"true MemoryQuery { query: "tea", most: 50, least: 1.0 }"#
        );
        assert_eq!(
            called(&MemoryGet, json!({ "path": "MEMORY.md" })).await,
            r#"WantedLines { path: "MEMORY.md", from: 1, lines: 200 }"#
        );
        assert_eq!(
            called(&MemoryWrite, json!({ "text": "tea" })).await,
            r#"selkie NewMemory { text: "tea", section: None }"#
        );
    }

    #[tokio::test]
    async fn faults_are_named() {
        for (tool, written, words) in [
            (&MemorySearch as &dyn Handler, json!({}), "query is required"),
            (&MemorySearch, json!({ "query": " " }), "query is required"),
            (&MemorySearch, json!({ "query": "a", "min_score": "b" }), "min_score must be"),
            (&MemoryGet, json!({ "from": 1 }), "path is required"),
            (&MemoryWrite, json!({ "text": "" }), "text is required"),
        ] {
            let said = called(tool, written.clone()).await;
            assert!(said.contains(words), "{written}: {said}");
        }
    }
}
