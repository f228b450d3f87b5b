//! Says words aloud in this conversation: a recording, with the words beside it.

use async_trait::async_trait;
use selkie_channel_core::{Body, SpeakingTool};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::here::{outcome, spec};
use crate::paths::{Finder, Location, Roots, refused};
use crate::scope::Scope;
use crate::{Handler, Output, ToolError};
use selkie_domain::sound::Sound;
use selkie_domain::tool::ToolSpec;

/// The folder of recordings, in the conversation's own.
const FOLDER: &str = "recordings";

/// The tool; its limit is a channel's.
pub(super) struct SayAloud {
    pub(super) data: &'static SpeakingTool,
    pub(super) channel: &'static str,
}

#[async_trait]
impl Handler for SayAloud {
    fn spec(&self) -> ToolSpec {
        ToolSpec { doing: "saying it aloud", ..spec(self.data, self.channel) }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let given = |name: &str| args.get(name).and_then(Value::as_str).map(str::trim);
        let text = given("text").filter(|text| !text.is_empty());
        let text = text.ok_or_else(|| ToolError::tell("text is required"))?;
        let voice = given("voice").filter(|voice| !voice.is_empty());
        let sound = scope.studio.speak(&scope.visitor(), text, voice).await?;
        if sound.bytes.len() as u64 > self.data.max_bytes {
            let too_big = self.data.too_big;
            return Err(ToolError::tell(format!("the recording is too large to send: {too_big}")));
        }
        let kept = keep(&scope.roots, &sound)?;
        let file = kept.open().map_err(|error| refused(FOLDER, &error))?;
        let path = kept.real().to_string_lossy().into_owned();
        let name = sound.name();
        let caption = Some(text.to_owned());
        // Other kinds of recordings would be refused as voice notes, or shown as broken ones.
        let body = match sound.is_voice_note {
            true => Body::Voice { path, name, caption },
            false => Body::File { path, name, caption },
        };
        let spoken = scope.reply.send(&scope.call, body, file).await?;
        Ok(outcome(spoken, "said aloud, with the words beside it"))
    }
}

/// Keeps a recording under a name made of its bytes.
fn keep(roots: &Roots, sound: &Sound) -> Result<Location, ToolError> {
    let digest = Sha256::digest(&sound.bytes);
    let digest: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let path = format!("file_cache_dir/{FOLDER}/{digest}.{}", sound.ending);
    let location = Finder { tool: "say_aloud", roots, deny: &[] }.writable(&path)?;
    location.replace(&sound.bytes).map_err(|error| refused(&path, &error))?;
    Ok(location)
}
