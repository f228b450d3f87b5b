//! `message`: words for a chat by its id, or for somebody by their name.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::letter;
use selkie_domain::tool::{Also, Class, Recovery, ToolSpec};
use crate::args::{parameters, typed};
use crate::basis::Target;
use crate::paths::Roots;
use crate::ports::{Spoken, Wanted};
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Output, Tool, ToolError};

/// The tool.
pub(crate) struct Message(Arc<ToolSpec>);

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// A chat's id, or a name known here that no other has.
    to: String,
    /// Markdown, at most 8,000 characters.
    content: String,
}

impl Message {
    pub(crate) fn new() -> Self {
        Self(Arc::new(ToolSpec {
            name: "message",
            description: "Say something to somebody in another chat. Never for this conversation."
                .to_owned(),
            parameters: parameters::<Args>(),
            class: Class::Message,
            group: "messaging",
            sources: &["S4"],
            doing: "writing to somebody",
            also: Also::default(),
            // Its effect is a row under its words: calling again finds the row.
            recovery: Recovery::CallAgain,
        }))
    }
}

#[async_trait]
impl Tool for Message {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { to, content } = typed(args)?;
        if let Some(why) = letter::fault("content", &content) {
            return Err(ToolError::Tell(why));
        }
        let to = letter::find(scope, &Wanted::Anybody(to.trim().to_owned())).await?;
        let passed = letter::pass(scope, &to, content.trim()).await?;
        let key = to.conversation.key();
        let level = letter::level(&to);
        Ok(match passed.spoken {
            Spoken::Refused(why) => {
                let text = format!("refused: {why}");
                Output { text, is_error: true, level, ..Output::default() }
            }
            _ if passed.is_known => Output {
                level,
                ..Output::ok(format!("said to {key} before: it is not sent again"))
            },
            spoken => {
                Output { level, ..Output::ok(format!("to {key}: {}", letter::word(&spoken))) }
            }
        })
    }

    fn speaks(&self) -> bool {
        true
    }

    async fn target(&self, scope: &Scope, args: &Value) -> Result<Target, ToolError> {
        let Args { to, .. } = typed(args.clone())?;
        letter::target(scope, &Wanted::Anybody(to.trim().to_owned())).await
    }

    fn preview(&self, _: &Roots, args: &Value) -> Option<Preview> {
        let text = |key: &str| args.get(key).and_then(Value::as_str).unwrap_or_default();
        let shown = Preview::of("send a message to somebody else", &["to", "content"]);
        Some(shown.noting("to", text("to")).with(text("content")))
    }

    fn refuses(&self, _: &Scope, args: &Value) -> Option<String> {
        args.get("content").and_then(Value::as_str).and_then(|text| letter::fault("content", text))
    }
}
