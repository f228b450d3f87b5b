//! Hears Telegram: the long poll and the fetching of files.

use std::time::Duration;

use async_trait::async_trait;
use selkie_channel_core::{AccountId, Attachment, Ears, Inbox, ListenEnd, Sink};
use serde_json::{Value, json};
use teloxide_reqwest::Response;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::api::{Api, CALL_LIMIT, Fault, Line};
use crate::hear;
use crate::listen::{self, Listener};
use crate::whoami::Whoami;
use selkie_channel_core::Pauses;

/// A download without a byte for so long is given up.
const SILENCE: Duration = Duration::from_secs(30);
/// What Telegram itself hands out to bots, bytes.
const PLATFORM_MOST: u64 = 20 * 1024 * 1024;

/// Hears for one bot.
pub struct TelegramEars {
    /// Which bot.
    pub account: AccountId,
    /// Opens connections.
    pub line: Line,
    /// A client that is ready.
    pub api: Api,
    /// Who the bot is.
    pub whoami: Whoami,
    /// How long one poll waits.
    pub poll: Duration,
    /// Largest file that is fetched, bytes.
    pub max_download: u64,
    /// How long to wait after failures.
    pub pauses: Pauses,
}

#[async_trait]
impl Ears for TelegramEars {
    async fn listen(&self, inbox: &dyn Inbox, stop: CancellationToken) -> ListenEnd {
        let listener = Listener {
            account: &self.account,
            line: &self.line,
            whoami: &self.whoami,
            inbox,
            poll: self.poll,
            pauses: self.pauses,
        };
        tokio::select! {
            // In this order: the first poll goes out before the question who we are.
            biased;
            () = stop.cancelled() => ListenEnd::Stopped,
            end = listen::listen(listener, self.api.clone()) => end,
            never = self.whoami.keep_fresh(&self.api, |fails| self.pauses.after(fails)) => {
                match never {}
            }
        }
    }

    async fn fetch(
        &self,
        attachment: &Attachment,
        max_bytes: u64,
        sink: Sink<'_>,
    ) -> Result<u64, String> {
        let most = max_bytes.min(self.max_download);
        if let Some(size) = attachment.size.filter(|size| *size > most) {
            return Err(too_big(Some(size), most));
        }
        let Some(id) = hear::file_id(&attachment.handle) else {
            return Err("this attachment was not made by Telegram".to_owned());
        };
        let path = self.file_path(&id).await?;
        let response = self.api.download(&path).await?;
        self.pour(response, most, sink).await
    }
}

impl TelegramEars {
    /// Asks where a file lies.
    async fn file_path(&self, id: &str) -> Result<String, String> {
        let answer = self.api.call("getFile", &json!({ "file_id": id }), CALL_LIMIT).await;
        let answer = answer.map_err(|fault| match fault {
            Fault::Refused(refusal) if refusal.text.contains("file is too big") => {
                too_big(None, PLATFORM_MOST)
            }
            Fault::Refused(refusal) => {
                format!("Telegram does not hand out the file: {}", refusal.text)
            }
            Fault::NotSent(why) | Fault::Unclear(why) => {
                format!("the file could not be fetched, try again later: {why}")
            }
        })?;
        let file: Value = serde_json::from_str(answer.result.get()).unwrap_or_default();
        let path = file.get("file_path").and_then(Value::as_str).unwrap_or_default();
        let inside = !path.is_empty() && path.split('/').all(|s| !matches!(s, "" | "." | ".."));
        // An absolute path is a Bot API server in local mode: the file lies on that machine.
        if !inside {
            return Err(
                "the Bot API server names no path under its file URL; run it without --local"
                    .to_owned(),
            );
        }
        Ok(path.to_owned())
    }

    async fn pour(&self, mut response: Response, most: u64, sink: Sink<'_>) -> Result<u64, String> {
        if !response.status().is_success() {
            return Err(format!("the file server answered HTTP {}", response.status().as_u16()));
        }
        let mut written: u64 = 0;
        loop {
            let chunk = timeout(SILENCE, response.chunk()).await;
            let chunk =
                chunk.map_err(|_| "the download stood still; try again later".to_owned())?;
            let Some(chunk) = chunk.map_err(|e| self.api.words("the download broke off", e))?
            else {
                break;
            };
            written += chunk.len() as u64;
            if written > most {
                return Err(too_big(None, most));
            }
            let stored = sink.write_all(&chunk).await;
            stored.map_err(|e| format!("the file cannot be stored: {e}"))?;
        }
        let flushed = sink.flush().await;
        flushed.map_err(|e| format!("the file cannot be stored: {e}")).map(|()| written)
    }
}

fn too_big(size: Option<u64>, most: u64) -> String {
    let size = size.map(|size| format!(" ({size} bytes)")).unwrap_or_default();
    let reason = if most >= PLATFORM_MOST {
        "Telegram hands out files up to 20 MB to bots".to_owned()
    } else {
        format!("at most {most} bytes are fetched")
    };
    format!("the file is too big{size}: {reason}")
}

#[cfg(test)]
mod tests;
