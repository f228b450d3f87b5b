//! The file host: takes what an upload URL names, hands out to the bot's token alone; and how files are told.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use serde_json::{Value, json};

use super::Server;
use super::params::bearer;
use super::world::{BOT_TOKEN, File};

/// `POST /upload/{id}`: the bytes, of the length that was told.
pub(super) async fn upload(
    State(server): State<Arc<Server>>,
    Path(id): Path<String>,
    bytes: Bytes,
) -> Response {
    let mut world = server.world();
    match world.files.get_mut(&id).filter(|file| file.bytes.is_none()) {
        Some(file) if file.length == bytes.len() as u64 => {
            let answer = format!("OK - {}", bytes.len());
            file.bytes = Some(bytes);
            answer.into_response()
        }
        Some(_) => (StatusCode::BAD_REQUEST, "another length was told").into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// `GET /files/{id}/{name}`: without the token it is a page to sign in, as at Slack.
pub(super) async fn download(
    State(server): State<Arc<Server>>,
    Path((id, _)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if bearer(&headers) != Some(BOT_TOKEN) {
        return Html("<html><body>Sign in</body></html>").into_response();
    }
    let world = server.world();
    match world.files.get(&id).and_then(|file| file.bytes.clone()) {
        Some(bytes) => bytes.into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

impl File {
    /// Tells of it, as messages do.
    pub(super) fn render(&self, id: &str, base: &str) -> Value {
        let url = format!("{base}/files/{id}/{}", self.name);
        let mut shares = json!({});
        for (channel, ts) in &self.shared {
            shares[channel] = json!([{ "ts": ts }]);
        }
        let kind = if self.name.ends_with(".png") { "image/png" } else { "text/plain" };
        let mut file = json!({
            "id": id, "name": self.name, "title": self.name, "mimetype": kind, "mode": "hosted",
            "size": self.length, "url_private": url, "url_private_download": url,
            "shares": { "public": shares },
        });
        if let Some((user, millis)) = &self.clip {
            file["user"] = json!(user);
            file["subtype"] = json!("slack_audio");
            file["media_display_type"] = json!("audio");
            file["duration_ms"] = json!(millis);
            // As Slack has it, also of clips without a picture.
            file["mimetype"] = json!("video/webm");
        }
        file
    }
}
