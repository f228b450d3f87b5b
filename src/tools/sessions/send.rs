//! `sessions_send`: words for another conversation, where they begin a task.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::args::typed;
use crate::paths::Roots;
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// Characters that are sent at once.
const MAX: usize = 8_000;

/// The tool.
pub(crate) struct SessionsSend;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Not this one's.
    session_id: String,
    /// At most 8,000 characters.
    content: String,
}

#[async_trait]
impl Handler for SessionsSend {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Send a message into another conversation (session): you work on it and answer there. To \
                          tell people something use message."
                .to_owned(),
            group: "sessions",
            sources: &["S4"],
            doing: "writing to another conversation",
            // The task that it begins is known by this call: calling again finds it.
            ..spec::<Args>("sessions_send", Class::Message, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { session_id, content } = typed(args)?;
        if let Some(why) = fault(&content) {
            return Err(ToolError::Tell(why));
        }
        let sent = scope.sessions.send(&scope.visitor(), session_id.trim(), content.trim()).await?;
        Ok(Output::ok(sent))
    }

    fn preview(&self, _: &Roots, args: &Value) -> Option<Preview> {
        let text = |key: &str| args.get(key).and_then(Value::as_str).unwrap_or_default();
        let shown = Preview::of("send into another conversation", &["session_id", "content"]);
        Some(shown.noting("session", text("session_id")).with(text("content")))
    }

    fn refuses(&self, _: &Scope, args: &Value) -> Option<String> {
        args.get("content").and_then(Value::as_str).and_then(fault)
    }
}

/// Says why words cannot be sent, if so.
fn fault(content: &str) -> Option<String> {
    let count = content.trim().chars().count();
    (count > MAX).then(|| format!("content has {count} characters: {MAX} can be sent at once"))
}
