//! A file that came with a message, as far as its platform tells.

use serde::{Deserialize, Serialize};

/// A file that came with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// What the channel needs to fetch it (opaque above the channel).
    pub handle: String,
    /// What it is.
    pub kind: AttachmentKind,
    /// The sender's name for it: any text at all, never a path.
    #[serde(default)]
    pub name: String,
    /// The type the platform claims.
    pub mime: Option<String>,
    /// Bytes, when the platform says so.
    pub size: Option<u64>,
    /// Seconds that it plays, when the platform says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<u32>,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentKind {
    /// Any file.
    Document,
    /// A picture shown inline.
    Photo,
    /// What its sender has just said, recorded for this conversation: never a file that was there before.
    Voice,
    /// Music or another recording.
    Audio,
    /// A film.
    Video,
}
