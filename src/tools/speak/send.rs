//! Sends a file, a picture or a voice note into this conversation.

use std::fs::File;

use async_trait::async_trait;
use schemars::JsonSchema;
use selkie_channel_core::{Body, SpeakingEffect, SpeakingTool};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::here::{only_here, outcome, spec};
use super::leaving::leaving;
use crate::basis::Basis;
use crate::paths::{Kind, Location, Roots};
use crate::scope::Scope;
use crate::{Handler, Output, ToolError};
use selkie_domain::tool::ToolSpec;

/// `tools.send`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Send")]
pub struct Settings {
    /// Whether files may be sent.
    pub enabled: bool,
    /// Bytes of the largest file; a platform's own limit may be lower.
    #[schemars(range(min = 1))]
    pub max_bytes: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { enabled: true, max_bytes: 20 * 1024 * 1024 }
    }
}

/// The tool; its names and its limit are a channel's.
pub(super) struct Send {
    pub(super) data: &'static SpeakingTool,
    pub(super) channel: &'static str,
    /// The platform's limit or config's, whichever is lower.
    pub(super) max_bytes: u64,
}

#[async_trait]
impl Handler for Send {
    fn spec(&self) -> ToolSpec {
        spec(self.data, self.channel)
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        only_here(self.data, scope, &args)?;
        let Some(path) = text(&args, "path") else {
            return Err(ToolError::tell("path is required"));
        };
        let (located, file) = self.sendable(self.found(&scope.roots, path)?, path)?;
        let body = self.body(&located, &args)?;
        let spoken = scope.reply.send(&scope.call, body, file).await?;
        Ok(outcome(spoken, "sent"))
    }

    fn basis(&self, scope: &Scope, args: &Value) -> Basis {
        let found = text(args, "path").and_then(|path| self.found(&scope.roots, path).ok());
        Basis { reads: found.into_iter().collect(), ..Basis::default() }
    }

    fn unseen(&self, args: &Value) -> Vec<String> {
        text(args, "path").map(|path| format!("what {path} holds")).into_iter().collect()
    }
}

impl Send {
    fn found(&self, roots: &Roots, path: &str) -> Result<Location, ToolError> {
        leaving(self.data.name, roots, path)
    }

    /// Judges what is opened, so that nothing can be put in its place in between.
    fn sendable(&self, located: Location, path: &str) -> Result<(Location, File), ToolError> {
        let unread = |e| ToolError::tell(format!("{path} cannot be read: {e}"));
        match located.kind().map_err(unread)?.0 {
            Kind::Folder => return Err(ToolError::tell(format!("path is a directory: {path}"))),
            Kind::File => {}
            Kind::Link | Kind::Other => {
                return Err(ToolError::tell(format!("path is not a file: {path}")));
            }
        }
        let file = located.open().map_err(unread)?;
        let size = file.metadata().map_err(unread)?.len();
        if size == 0 {
            return Err(ToolError::tell(format!("the file is empty: {path}")));
        }
        let most = self.max_bytes;
        if size > most {
            let hint = if most < self.data.max_bytes { "" } else { self.data.too_big };
            let said = format!("file too large to send (>{most} bytes): {path} {hint}");
            return Err(ToolError::tell(said.trim_end()));
        }
        Ok((located, file))
    }

    fn body(&self, file: &Location, args: &Value) -> Result<Body, ToolError> {
        let real = file.real();
        let Some(path) = real.to_str().map(str::to_owned) else {
            return Err(ToolError::tell("the file's name is not UTF-8: rename it first"));
        };
        let name = text(args, "filename").or(text(args, "title")).and_then(shown_name);
        let name = name.or_else(|| shown_name(&path)).unwrap_or_else(|| "file".to_owned());
        let caption = text(args, "caption").or(text(args, "comment")).map(str::to_owned);
        Ok(match self.data.effect {
            SpeakingEffect::SendPhoto => Body::Photo { path, caption },
            SpeakingEffect::SendVoice => Body::Voice { path, name, caption: None },
            SpeakingEffect::SendFile | SpeakingEffect::SayAloud | SpeakingEffect::React => {
                Body::File { path, name, caption }
            }
        })
    }
}

fn text<'a>(args: &'a Value, name: &str) -> Option<&'a str> {
    args.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

/// A name as people may see it: the last part alone, nothing that cannot be printed.
fn shown_name(written: &str) -> Option<String> {
    let last = written.rsplit(['/', '\\']).next()?;
    let clean: String = last.chars().filter(|c| !c.is_control()).take(120).collect();
    let clean = clean.trim().to_owned();
    (!clean.is_empty() && clean != "." && clean != "..").then_some(clean)
}
