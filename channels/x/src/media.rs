//! Uploads pictures: X keeps them for a day, and nobody sees one before a post names it.

use std::time::Duration;

use ring::digest;
use selkie_channel_core::PostPicture;
use selkie_channel_core::http::Fault;
use serde_json::{Value, json};
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;
use tokio::time::sleep;

use crate::api::Api;
use crate::ids::is_id;

/// Bytes of one piece: X takes up to 5 MB, and a slow line should carry one within a call's time.
const PIECE: usize = 1024 * 1024;
/// So often X is asked whether it has read a picture.
const LOOKS: usize = 12;
/// The longest pause between two looks.
const MAX_PAUSE: u64 = 5;

/// Why a picture was not uploaded.
#[derive(Debug)]
pub enum NotUploaded {
    /// A call failed: repeating it harms nobody.
    Fault(Fault),
    /// It never will be, and why.
    Never(String),
}

impl From<Fault> for NotUploaded {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Uploads a picture; returns the id by which a post names it.
///
/// # Errors
/// What failed, or why it never goes.
pub async fn upload(api: &Api, picture: &PostPicture) -> Result<String, NotUploaded> {
    let bytes = as_approved(picture).await.map_err(NotUploaded::Never)?;
    let category = if picture.mime == "image/gif" { "tweet_gif" } else { "tweet_image" };
    let wanted = json!({
        "media_type": picture.mime, "total_bytes": bytes.len(), "media_category": category,
    });
    let begun = api.post("media/upload/initialize", &wanted).await?;
    let Some(id) = begun["data"]["id"].as_str().filter(|id| is_id(id)) else {
        let why = "X's answer names no picture".to_owned();
        return Err(NotUploaded::Fault(Fault::Unclear(why)));
    };
    let append = format!("media/upload/{id}/append");
    for (n, piece) in bytes.chunks(PIECE).enumerate() {
        api.post_piece(&append, n, piece).await?;
    }
    let mut answer = api.post(&format!("media/upload/{id}/finalize"), &json!({})).await?;
    for _ in 0..LOOKS {
        match is_read(&answer, &picture.name).map_err(NotUploaded::Never)? {
            None => return Ok(id.to_owned()),
            Some(pause) => sleep(pause).await,
        }
        answer = api.get("media/upload", &[("command", "STATUS"), ("media_id", id)]).await?;
    }
    let why = format!("X has not read {} yet", picture.name);
    Err(NotUploaded::Fault(Fault::NotSent(why)))
}

/// Reads the bytes that were approved.
async fn as_approved(picture: &PostPicture) -> Result<Vec<u8>, String> {
    let PostPicture { path, name, bytes, sha256, .. } = picture;
    let mut found = Vec::new();
    let read = async {
        let file = File::open(path).await?;
        file.take(bytes.saturating_add(1)).read_to_end(&mut found).await
    };
    if let Err(error) = read.await {
        return Err(format!("the picture {name} is gone ({error}): ask for the post again"));
    }
    let digest = digest::digest(&digest::SHA256, &found);
    let now: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    if now != *sha256 {
        return Err(format!(
            "the picture {name} is not the one that was approved: ask for the post again"
        ));
    }
    Ok(found)
}

/// Says how long X still reads a picture; `None` when it has.
fn is_read(answer: &Value, name: &str) -> Result<Option<Duration>, String> {
    let info = &answer["data"]["processing_info"];
    match info["state"].as_str() {
        Some("failed") => {
            let words = info["error"]["message"].as_str().unwrap_or("no reason");
            let words: String = words.chars().take(200).collect();
            Err(format!("X cannot read the picture {name}: {words}"))
        }
        Some("pending" | "in_progress") => {
            let seconds = info["check_after_secs"].as_u64().unwrap_or(1).clamp(1, MAX_PAUSE);
            Ok(Some(Duration::from_secs(seconds)))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x_says_how_far_it_is() {
        let info = |state: &str| {
            json!({ "data": { "processing_info": { "state": state,
            "check_after_secs": 900, "error": { "message": "InvalidMedia" } } } })
        };
        assert_eq!(is_read(&json!({ "data": { "id": "7" } }), "a"), Ok(None));
        assert_eq!(is_read(&info("succeeded"), "a"), Ok(None));
        assert_eq!(is_read(&info("pending"), "a"), Ok(Some(Duration::from_secs(5))));
        let failed = Err("X cannot read the picture a: InvalidMedia".to_owned());
        assert_eq!(is_read(&info("failed"), "a"), failed);
    }
}
