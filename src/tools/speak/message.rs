//! `message`: words for a chat by its id, or for somebody by their name.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::letter;
use crate::args::typed;
use crate::basis::Target;
use crate::paths::Roots;
use crate::ports::{AddresseeQuery, SayOutcome};
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// The tool.
pub(crate) struct Message;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// A chat's id, or a name known here that no other has.
    to: String,
    /// Markdown, at most 8,000 characters.
    content: String,
}

#[async_trait]
impl Handler for Message {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Say something to somebody in another chat. Never for this conversation."
                .to_owned(),
            group: "messaging",
            sources: &["S4"],
            doing: "writing to somebody",
            speaks: true,
            // Its effect is a row under its words: calling again finds the row.
            ..spec::<Args>("message", Class::Message, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { to, content } = typed(args)?;
        if let Some(why) = letter::fault("content", &content) {
            return Err(ToolError::Tell(why));
        }
        let to = letter::find(scope, &AddresseeQuery::Anybody(to.trim().to_owned())).await?;
        let passed = letter::pass(scope, &to, content.trim()).await?;
        let key = to.conversation.key();
        let level = letter::level(&to);
        Ok(match passed.spoken {
            SayOutcome::Refused(why) => {
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

    async fn target(&self, scope: &Scope, args: &Value) -> Result<Target, ToolError> {
        let Args { to, .. } = typed(args.clone())?;
        letter::target(scope, &AddresseeQuery::Anybody(to.trim().to_owned())).await
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
