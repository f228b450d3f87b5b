//! Where a file of Telegram comes from: it is asked where it lies, then for its bytes.

use async_trait::async_trait;
use reqwest::{Response, StatusCode};
use selkie_channel_core::http::{Fault, Refusal, Source, Trouble, good};
use selkie_channel_core::json;
use serde_json::{Value, json};

use crate::api::{Api, CALL_LIMIT};
use crate::refusal::{Kind, kind};

/// What Telegram itself hands out to bots, bytes.
const PLATFORM_MOST: u64 = 20 * 1024 * 1024;

/// A file by its id.
pub struct TelegramFile<'a> {
    /// The client.
    pub api: &'a Api,
    /// Its id.
    pub id: &'a str,
}

#[async_trait]
impl Source for TelegramFile<'_> {
    /// A path that is not there has expired: the next try asks anew.
    async fn open(&self) -> Result<Response, Trouble> {
        // Asked each time: where a file lies holds for an hour at least, and then no longer.
        let path = file_path(self.api, self.id).await?;
        let response = self.api.download(&path).await.map_err(Trouble::passing)?;
        let expired = matches!(response.status(), StatusCode::NOT_FOUND | StatusCode::GONE);
        good(response).map_err(|trouble| match trouble {
            Trouble::Final(why) if expired => Trouble::passing(why),
            trouble => trouble,
        })
    }

    fn too_big(&self, most: u64) -> String {
        too_big(None, most)
    }
}

/// Asks where a file lies.
async fn file_path(api: &Api, id: &str) -> Result<String, Trouble> {
    let answer = api.call("getFile", &json!({ "file_id": id }), CALL_LIMIT).await;
    let answer = answer.map_err(|fault| match fault {
        Fault::Refused(refusal) => refused(&refusal),
        Fault::NotSent(why) | Fault::Unclear(why) => Trouble::passing(why),
    })?;
    let file: Value = json::read(answer.result.get()).unwrap_or_default();
    // It is told when the file lies ready, and an answer may lack it.
    let path = file.get("file_path").and_then(Value::as_str);
    let path = path.ok_or_else(|| {
        Trouble::passing("Telegram does not say yet where the file lies".to_owned())
    })?;
    let inside = !path.is_empty() && path.split('/').all(|s| !matches!(s, "" | "." | ".."));
    // An absolute path is a Bot API server in local mode: the file lies on that machine.
    if !inside {
        let why = "the Bot API server names no path under its file URL; run it without --local";
        return Err(Trouble::Final(why.to_owned()));
    }
    Ok(path.to_owned())
}

fn refused(refusal: &Refusal) -> Trouble {
    let wait = refusal.retry_after.unwrap_or_default();
    match kind(refusal) {
        Kind::Limited => {
            Trouble::Passing("Telegram limits how fast files are fetched".into(), wait)
        }
        // The channel's listening deals with a token that is refused; it may be back in a moment.
        Kind::Token => {
            Trouble::passing(format!("Telegram refuses the bot's token ({})", refusal.words))
        }
        _ if refusal.words.contains("file is too big") => {
            Trouble::Final(too_big(None, PLATFORM_MOST))
        }
        _ if refusal.words.contains("temporarily unavailable") => {
            Trouble::passing(refusal.words.clone())
        }
        _ => Trouble::Final(format!("Telegram does not provide the file: {}", refusal.words)),
    }
}

/// Says that a file is too big, for Telegram or for our own limit.
pub fn too_big(size: Option<u64>, most: u64) -> String {
    let size = size.map(|size| format!(" ({size} bytes)")).unwrap_or_default();
    let reason = if most >= PLATFORM_MOST {
        "Telegram gives bots files up to 20 MB".to_owned()
    } else {
        format!("at most {most} bytes are fetched")
    };
    format!("the file is too big{size}: {reason}")
}
