//! A file on its way out: multipart, streamed from disk, with the knowledge whether all of it left.

use futures_util::stream;
use reqwest::Body;
use reqwest::multipart::{Form, Part};
use selkie_channel_core::file;
use selkie_channel_core::http::Progress;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::fs::File;
use tokio::io::AsyncReadExt;

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;

/// The file of a call. Stored with its part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upload {
    /// The form field: `document`, `photo`, `voice`.
    pub field: String,
    /// Absolute path on this machine.
    pub path: String,
    /// Shown name.
    pub name: String,
}

impl Upload {
    /// Returns the file's size in bytes.
    ///
    /// # Errors
    /// In words for a person when there is no such file.
    pub async fn size(&self) -> Result<u64, String> {
        file::size(&self.path, &self.name).await
    }

    /// Opens the file and lays out the form.
    ///
    /// # Errors
    /// In words when the file cannot be opened.
    pub async fn form(&self, params: &Value) -> Result<(Form, Progress), String> {
        let size = self.size().await?;
        let file = File::open(&self.path).await;
        let file = file.map_err(|e| format!("the file {} cannot be read: {e}", self.name))?;
        let progress = Progress::of(size);
        let part = Part::stream_with_length(body(file, progress.clone()), size);
        let part = part.file_name(self.name.clone());
        let part = part.mime_str(mime(&self.name)).map_err(|e| e.to_string())?;
        let mut form = Form::new();
        for (key, value) in params.as_object().into_iter().flatten() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            form = form.text(key.clone(), text);
        }
        Ok((form.part(self.field.clone(), part), progress))
    }
}

fn body(file: File, progress: Progress) -> Body {
    Body::wrap_stream(stream::unfold((file, progress), |(mut file, progress)| async move {
        let mut chunk = vec![0; CHUNK];
        match file.read(&mut chunk).await {
            Ok(0) => None,
            Ok(read) => {
                chunk.truncate(read);
                progress.hand_over(read as u64);
                Some((Ok(chunk), (file, progress)))
            }
            Err(e) => Some((Err(e), (file, progress))),
        }
    }))
}

/// Telegram looks at the bytes; the type only helps where it believes the sender.
fn mime(name: &str) -> &'static str {
    let extension = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "ogg" | "oga" | "opus" => "audio/ogg",
        "mp3" => "audio/mpeg",
        "m4a" => "audio/mp4",
        "wav" => "audio/wav",
        "pdf" => "application/pdf",
        "txt" | "md" => "text/plain",
        _ => "application/octet-stream",
    }
}
