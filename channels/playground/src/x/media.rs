//! Pictures that are uploaded: begun, sent in pieces, ended and read; checked as strictly as X does.

use axum::body::Body;
use axum::extract::{FromRequest as _, Multipart, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::keys::USER;
use super::medium::Medium;
use super::record::XPicture;
use super::refusal::Refusal;
use super::server::World;

/// Bytes of a picture at most.
const PICTURE: usize = 5 * 1024 * 1024;
/// Bytes of a GIF at most.
const GIF: usize = 15 * 1024 * 1024;
/// Bytes of a piece at most.
pub(super) const PIECE: usize = 5 * 1024 * 1024;
/// How long a picture waits for its post, in seconds.
const LIFE: i64 = 86_400;
/// Pictures of a post at most.
const MAX: usize = 4;
/// What is taken, with the bytes by which each begins.
const KINDS: [(&str, &str, &[u8]); 4] = [
    ("image/jpeg", "tweet_image", b"\xff\xd8\xff"),
    ("image/png", "tweet_image", b"\x89PNG\r\n\x1a\n"),
    ("image/webp", "tweet_image", b"RIFF"),
    ("image/gif", "tweet_gif", b"GIF8"),
];

/// A piece as it came.
pub(super) struct Form {
    pub(super) index: Option<u64>,
    pub(super) media: Vec<u8>,
}

/// Reads a form; `None` for what is none.
pub(super) async fn form(headers: &HeaderMap, bytes: &[u8]) -> Option<Form> {
    let kind = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    if !kind.starts_with("multipart/form-data") {
        return None;
    }
    let request = Request::builder().header(CONTENT_TYPE, kind).body(Body::from(bytes.to_vec()));
    let mut fields = Multipart::from_request(request.ok()?, &()).await.ok()?;
    let mut form = Form { index: None, media: Vec::new() };
    while let Some(field) = fields.next_field().await.ok()? {
        match field.name() {
            Some("segment_index") => form.index = field.text().await.ok()?.parse().ok(),
            Some("media") => form.media = field.bytes().await.ok()?.to_vec(),
            _ => return None,
        }
    }
    Some(form)
}

fn invalid(says: &str) -> Refusal {
    Refusal::new(400, "Invalid Request", says)
}

/// Begins an upload.
pub(super) fn begin(world: &mut World, body: &Value, now: DateTime<Utc>) -> Result<Value, Refusal> {
    let mime = body["media_type"].as_str().unwrap_or_default();
    let kind = KINDS.iter().find(|(known, ..)| *known == mime);
    let (_, category, _) = kind.ok_or_else(|| invalid("$.media_type: is not one of [...]"))?;
    if body["media_category"] != *category {
        return Err(invalid("$.media_category: does not fit the media type"));
    }
    let total = body["total_bytes"].as_u64().and_then(|total| usize::try_from(total).ok());
    let total = total.filter(|total| *total > 0);
    let total = total.ok_or_else(|| invalid("$.total_bytes: integer expected"))?;
    let most = if *category == "tweet_gif" { GIF } else { PICTURE };
    if total > most {
        return Err(invalid("The media file is too large."));
    }
    let id = format!("19{:017}", world.next());
    world.media.push(Medium {
        id: id.clone(),
        owner: USER,
        mime: mime.to_owned(),
        total,
        content: Vec::new(),
        pieces: 0,
        is_ended: false,
        is_read: false,
        ends: now + TimeDelta::seconds(LIFE),
    });
    Ok(json!({ "data": { "id": id, "media_key": format!("3_{id}"), "expires_after_secs": LIFE } }))
}

/// Takes a piece.
pub(super) fn append(world: &mut World, id: &str, form: Option<&Form>) -> Result<Value, Refusal> {
    let form = form.ok_or_else(|| invalid("The body must be multipart/form-data."))?;
    let medium = open(world, id)?;
    if form.index != Some(medium.pieces) {
        return Err(invalid("The segment_index is not the next one."));
    }
    if form.media.is_empty() || form.media.len() > PIECE {
        return Err(invalid("The segment has no bytes, or too many."));
    }
    medium.content.extend_from_slice(&form.media);
    medium.pieces += 1;
    Ok(json!({ "data": { "expires_at": medium.ends.timestamp() } }))
}

/// Ends an upload.
pub(super) fn end(world: &mut World, id: &str) -> Result<Value, Refusal> {
    let medium = open(world, id)?;
    if medium.content.len() != medium.total {
        return Err(invalid("The segments do not add up to total_bytes."));
    }
    medium.is_ended = true;
    let moves = medium.mime == "image/gif";
    medium.is_read = !moves;
    if !is_picture(medium) {
        return Err(invalid("The media could not be processed: InvalidMedia."));
    }
    let mut data = json!({ "id": id, "media_key": format!("3_{id}"), "size": medium.total, "expires_after_secs": LIFE });
    if moves {
        data["processing_info"] = json!({ "state": "pending", "check_after_secs": 1 });
    }
    Ok(json!({ "data": data }))
}

/// Says how far X is with one.
pub(super) fn status(world: &mut World, query: &[(String, String)]) -> Result<Value, Refusal> {
    let of =
        |name: &str| query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    if of("command") != Some("STATUS") {
        return Err(invalid("The query parameter [command] is not one of [STATUS]"));
    }
    let id = of("media_id").unwrap_or_default();
    let found = world.media.iter_mut().find(|medium| medium.id == id && medium.is_ended);
    let medium = found.ok_or_else(|| invalid("Could not find that media."))?;
    medium.is_read = true;
    let info = json!({ "state": "succeeded", "progress_percent": 100 });
    Ok(json!({ "data": { "id": id, "processing_info": info } }))
}

/// Returns the pictures that a post names.
pub(super) fn named(
    world: &World,
    media: &Value,
    now: DateTime<Utc>,
) -> Result<Vec<XPicture>, Refusal> {
    let Value::Object(fields) = media else { return Ok(Vec::new()) };
    let ids = fields.get("media_ids").and_then(Value::as_array);
    let ids = ids.filter(|ids| (1..=MAX).contains(&ids.len()) && fields.len() == 1);
    let ids = ids.ok_or_else(|| invalid("$.media.media_ids: 1 to 4 ids expected"))?;
    let is_there = |medium: &&Medium, id: &Value| {
        *id == medium.id && medium.owner == USER && medium.is_read && medium.ends > now
    };
    let found = ids.iter().map(|id| world.media.iter().find(|medium| is_there(medium, id)));
    let found: Option<Vec<&Medium>> = found.collect();
    let found = found.ok_or_else(|| invalid("Your media IDs are invalid."))?;
    if found.len() > 1 && found.iter().any(|medium| medium.mime == "image/gif") {
        return Err(invalid("A Tweet has up to 4 photos, or 1 animated GIF."));
    }
    let shown =
        |medium: &Medium| XPicture { mime: medium.mime.clone(), content: medium.content.clone() };
    Ok(found.into_iter().map(shown).collect())
}

/// Keeps a picture that another account has uploaded; returns its id.
pub(super) fn of_another(world: &mut World, now: DateTime<Utc>) -> String {
    let id = format!("19{:017}", world.next());
    world.media.push(Medium {
        id: id.clone(),
        owner: "1",
        mime: "image/png".to_owned(),
        total: 1,
        content: vec![0],
        pieces: 1,
        is_ended: true,
        is_read: true,
        ends: now + TimeDelta::seconds(LIFE),
    });
    id
}

/// An upload of the account that has not ended.
fn open<'a>(world: &'a mut World, id: &str) -> Result<&'a mut Medium, Refusal> {
    let mut all = world.media.iter_mut();
    let found = all.find(|medium| medium.id == id && medium.owner == USER && !medium.is_ended);
    found.ok_or_else(|| invalid("Could not find that media."))
}

fn is_picture(medium: &Medium) -> bool {
    let begins = KINDS.iter().find(|(mime, ..)| *mime == medium.mime).map(|(.., begins)| *begins);
    begins.is_some_and(|begins| medium.content.starts_with(begins))
}
