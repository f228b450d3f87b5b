//! A file on its way out: named to Slack, then handed to the address that Slack names.

use std::collections::HashMap;
use std::sync::Mutex;

use bytes::Bytes;
use selkie_channel_core::http::Fault;
use selkie_channel_core::{file, locked};
use serde_json::{Value, json};

use crate::api::Api;
use crate::call::Call;

/// Uploads whose end is unclear; older ones are forgotten.
const MANY_UNCLEAR: usize = 100;

/// Files whose last step is unclear, by the text of their call.
#[derive(Default)]
pub struct UnclearFiles(Mutex<HashMap<String, String>>);

impl UnclearFiles {
    /// Notes a file.
    pub fn remember(&self, call: &Call, file: String) {
        let mut unclear = locked(&self.0);
        if unclear.len() >= MANY_UNCLEAR {
            unclear.clear();
        }
        unclear.insert(json!(call).to_string(), file);
    }

    /// Returns the file of a call.
    pub fn file(&self, call: &Call) -> Option<String> {
        locked(&self.0).get(&json!(call).to_string()).cloned()
    }
}

/// Reads the file, which has to fit into memory twice: Slack's client takes bytes.
///
/// # Errors
/// In words for a person: no such file, empty, or over `most` bytes.
pub async fn read(path: &str, name: &str, most: u64) -> Result<Bytes, String> {
    let size = file::size(path, name).await?;
    if let Some(why) = file::objection(name, size, most) {
        return Err(why);
    }
    let unread = |e: std::io::Error| format!("the file {name} cannot be read: {e}");
    tokio::fs::read(path).await.map(Bytes::from).map_err(unread)
}

/// Asks where the bytes go and brings them there; returns the file's id. Nobody sees it yet.
///
/// # Errors
/// By what is proven; here everything proves that nothing can be seen.
pub async fn hand_over(api: &Api, name: &str, bytes: Bytes) -> Result<String, Fault> {
    let length = bytes.len().to_string();
    let params = [("filename", name), ("length", length.as_str())];
    let answer = api.ask("files.getUploadURLExternal", &params).await?;
    let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
    let Some((url, file)) = text("upload_url").zip(text("file_id")) else {
        return Err(Fault::Unclear("files.getUploadURLExternal named no address".to_owned()));
    };
    api.put(&url, bytes).await.map_err(Fault::NotSent)?;
    Ok(file)
}
