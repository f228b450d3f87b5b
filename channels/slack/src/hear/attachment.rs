//! The files of a message: handles only, nothing is fetched here.

use selkie_channel_core::field;
use selkie_channel_core::{Attachment, AttachmentKind};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What is needed to fetch a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handle {
    /// The file, `F…`.
    pub file: String,
    /// Where it lies; of a file shared from another workspace Slack tells it only when asked.
    pub url: Option<String>,
}

/// Files that are read of one message.
const MAX: usize = 50;

/// Returns the files of a message and of what it forwards; those that were deleted or hidden by a plan's
/// limit are left out.
pub fn of(message: &Value) -> Vec<Attachment> {
    let speaker = field::text(message, "user");
    let own = field::list(message, "files").iter().filter_map(attachment_by(speaker));
    let forwarded = field::list(message, "attachments").iter();
    let forwarded = forwarded.flat_map(|part| field::list(part, "files"));
    own.chain(forwarded.filter_map(attachment_by(None))).take(MAX).collect()
}

/// Reads files of a message: what somebody else has recorded, or its speaker for another message, is no voice of theirs.
fn attachment_by(speaker: Option<&str>) -> impl Fn(&Value) -> Option<Attachment> {
    move |file| {
        let is_own = speaker.is_some() && field::text(file, "user") == speaker;
        let read = attachment(file)?;
        let kind = match read.kind {
            AttachmentKind::Voice if !is_own => AttachmentKind::Audio,
            kind => kind,
        };
        Some(Attachment { kind, ..read })
    }
}

/// Reads what `files.info` tells of a file, of which the message told its id alone.
pub fn told(answer: &Value) -> Option<Attachment> {
    attachment(field::object(answer, "file")?)
}

/// Reads a handle that [`of`] made.
pub fn handle(text: &str) -> Option<Handle> {
    serde_json::from_str(text).ok()
}

fn attachment(file: &Value) -> Option<Attachment> {
    let id = field::text(file, "id")?;
    if matches!(field::text(file, "mode"), Some("tombstone" | "hidden_by_limit")) {
        return None;
    }
    let url = field::text(file, "url_private_download").or(field::text(file, "url_private"));
    let mime = field::text(file, "mimetype");
    let name = field::text(file, "name").or(field::text(file, "title")).unwrap_or_default();
    Some(Attachment {
        handle: json!(Handle { file: id.to_owned(), url: url.map(str::to_owned) }).to_string(),
        kind: kind(mime.unwrap_or_default(), field::text(file, "subtype")),
        name: name.to_owned(),
        mime: mime.map(str::to_owned),
        size: file.get("size").and_then(Value::as_u64),
        duration: file.get("duration_ms").and_then(Value::as_u64).and_then(seconds),
    })
}

/// Milliseconds as seconds, a begun one as a whole.
fn seconds(millis: u64) -> Option<u32> {
    u32::try_from(millis.div_ceil(1000)).ok()
}

fn kind(mime: &str, subtype: Option<&str>) -> AttachmentKind {
    match (subtype, mime.split('/').next()) {
        (Some("slack_audio"), _) => AttachmentKind::Voice,
        (_, Some("image")) => AttachmentKind::Photo,
        (_, Some("audio")) => AttachmentKind::Audio,
        (_, Some("video")) => AttachmentKind::Video,
        _ => AttachmentKind::Document,
    }
}
