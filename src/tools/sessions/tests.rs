use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};

use super::*;
use crate::args::accept;
use crate::ports::{History, Sessions, TodoReport, Visitor};
use crate::scope::Scope;
use crate::testkit::Folders;
use crate::{Handler, ToolError};
use selkie_domain::taint::Taint;

/// Writes down what is asked of it.
#[derive(Default)]
struct Noted(Mutex<Vec<String>>);

impl Noted {
    fn note(&self, what: String) -> String {
        self.0.lock().unwrap().push(what.clone());
        what
    }
}

#[async_trait]
impl Sessions for Noted {
    async fn list(&self, _: &Visitor, limit: usize) -> Result<TodoReport, ToolError> {
        Ok(TodoReport { text: self.note(format!("list {limit}")), level: Taint::Raw })
    }

    async fn history(
        &self,
        _: &Visitor,
        session: &str,
        limit: usize,
    ) -> Result<History, ToolError> {
        Ok(History { text: self.note(format!("history {session} {limit}")), of: None })
    }

    async fn send(&self, by: &Visitor, session: &str, content: &str) -> Result<String, ToolError> {
        Ok(self.note(format!("send {session} {content:?} {}", by.call)))
    }

    async fn status(&self, by: &Visitor) -> Result<String, ToolError> {
        Ok(self.note(format!("status {}", by.conversation)))
    }
}

async fn said(tool: &dyn Handler, written: Value) -> String {
    let args = match accept(&tool.spec().parameters, &written) {
        Ok(accepted) => accepted.args,
        Err(why) => return why,
    };
    let folders = Folders::new();
    let scope = Scope { sessions: Arc::new(Noted::default()), ..folders.scope() };
    match tool.call(&scope, args).await {
        Ok(output) => output.text,
        Err(why) => why.to_string(),
    }
}

#[tokio::test]
async fn numbers_have_their_usual_and_their_limits() {
    let (list, history) = (SessionsList, SessionsHistory);
    assert_eq!(said(&list, json!({})).await, "list 20");
    assert_eq!(said(&list, json!({ "limit": 3 })).await, "list 3");
    assert_eq!(said(&history, json!({ "session_id": " bird:7 " })).await, "history bird:7 50");
    assert_eq!(said(&history, json!({})).await, "session_id is required");
    assert_eq!(said(&SessionsStatus, json!({})).await, "status bird:42");
}

#[tokio::test]
async fn words_are_sent_under_their_call() {
    let send = SessionsSend;
    let sent = said(&send, json!({ "session_id": "bird:7", "content": " hello " })).await;
    assert_eq!(sent, r#"send bird:7 "hello" c1.0"#);
    assert_eq!(said(&send, json!({ "session_id": "bird:7" })).await, "content is required");
    let long = json!({ "session_id": "bird:7", "content": "x".repeat(8_001) });
    assert!(said(&send, long).await.starts_with("content has 8001 characters"));
}
