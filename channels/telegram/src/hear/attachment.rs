//! The files of a message: handles only, nothing is fetched here.

use selkie_channel_core::{Attachment, AttachmentKind};
use serde_json::{Value, json};

use super::field;

/// Where each kind of file stands and the type it has when Telegram names none. An animation is
/// listed by its `document` twin.
const PLACES: &[(&str, AttachmentKind, Option<&str>)] = &[
    ("document", AttachmentKind::Document, None),
    ("voice", AttachmentKind::Voice, Some("audio/ogg")),
    ("audio", AttachmentKind::Audio, Some("audio/mpeg")),
    ("video", AttachmentKind::Video, Some("video/mp4")),
    ("video_note", AttachmentKind::Video, Some("video/mp4")),
];

/// Returns the files of a message, a photo in its largest size.
pub fn of(message: &Value) -> Vec<Attachment> {
    let named = PLACES
        .iter()
        .filter_map(|(key, kind, mime)| attachment(field::object(message, key)?, *kind, *mime));
    let photo = largest(field::list(message, "photo"))
        .and_then(|size| attachment(size, AttachmentKind::Photo, Some("image/jpeg")));
    photo.into_iter().chain(named).collect()
}

/// Reads the file id out of a handle that [`of`] made.
pub fn file_id(handle: &str) -> Option<String> {
    let handle: Value = serde_json::from_str(handle).ok()?;
    field::text(&handle, "file_id").map(str::to_owned)
}

fn attachment(file: &Value, kind: AttachmentKind, mime: Option<&str>) -> Option<Attachment> {
    let id = field::text(file, "file_id")?;
    Some(Attachment {
        handle: json!({ "file_id": id }).to_string(),
        kind,
        name: field::text(file, "file_name").unwrap_or_default().to_owned(),
        mime: field::text(file, "mime_type").or(mime).map(str::to_owned),
        size: field::number(file, "file_size").and_then(|size| u64::try_from(size).ok()),
        duration: field::number(file, "duration").and_then(|all| u32::try_from(all).ok()),
    })
}

fn largest(sizes: &[Value]) -> Option<&Value> {
    let area = |size: &Value| {
        let side = |key| field::number(size, key).unwrap_or_default();
        side("width").saturating_mul(side("height"))
    };
    // Telegram lists the largest last: equal areas go to the later one.
    sizes.iter().max_by_key(|size| area(size))
}
