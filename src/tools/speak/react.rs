//! Puts an emoji on a message of this conversation.

use async_trait::async_trait;
use selkie_channel_core::{Body, MessageRef, SpeakingTool};
use serde_json::Value;

use super::here::{id, only_here, outcome, spec};
use crate::scope::Scope;
use crate::{Handler, Output, ToolError};
use selkie_domain::tool::ToolSpec;

/// The tool; its names and its vocabulary are a channel's.
pub(super) struct React {
    pub(super) data: &'static SpeakingTool,
    pub(super) channel: &'static str,
}

#[async_trait]
impl Handler for React {
    fn spec(&self) -> ToolSpec {
        spec(self.data, self.channel)
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        only_here(self.data, scope, &args)?;
        let message = self.message(scope, &args)?;
        let emoji = self.emoji(&args)?;
        let big = args.get("is_big").and_then(Value::as_bool).unwrap_or(false);
        let said = format!("reacted with {emoji}");
        let spoken = scope.reply.say(&scope.call, Body::Reaction { message, emoji, big }).await?;
        Ok(outcome(spoken, &said))
    }
}

impl React {
    fn message(&self, scope: &Scope, args: &Value) -> Result<MessageRef, ToolError> {
        let name = self.data.names.message;
        let written = name.and_then(|n| args.get(n)).and_then(id).map(MessageRef::new);
        written.or_else(|| scope.message.clone()).ok_or_else(|| {
            ToolError::tell(format!(
                "{} is required: this task answers no message",
                name.unwrap_or("a message")
            ))
        })
    }

    /// The emoji in the channel's own writing: with or without the sign that asks for colours.
    fn emoji(&self, args: &Value) -> Result<String, ToolError> {
        let written = args.get("emoji").and_then(Value::as_str).unwrap_or_default().trim();
        if written.is_empty() {
            return Err(ToolError::tell("emoji is required"));
        }
        let vocabulary = self.data.vocabulary;
        if vocabulary.is_empty() {
            return Ok(written.to_owned());
        }
        let known = vocabulary.split(' ').find(|known| plain(known) == plain(written));
        known.map(|known| (*known).to_owned()).ok_or_else(|| {
            ToolError::tell(format!("invalid emoji: {written} (takes {vocabulary})"))
        })
    }
}

fn plain(emoji: &str) -> String {
    emoji.replace('\u{fe0f}', "")
}
