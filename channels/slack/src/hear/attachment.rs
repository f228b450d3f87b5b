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
    let forwarded = field::list(message, "attachments").iter();
    let all = std::iter::once(message).chain(forwarded);
    all.flat_map(|part| field::list(part, "files")).filter_map(attachment).take(MAX).collect()
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
    })
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
