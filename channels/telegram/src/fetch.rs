//! Fetches one file: where it lies, then its bytes, and again from where it broke off when the way fails.
//! Only what Telegram itself refuses, and trouble that does not end, is told.

use std::hash::Hasher as _;
use std::time::Duration;

use reqwest::{Response, StatusCode};
use selkie_channel_core::hash::Fnv;
use selkie_channel_core::http::{self, Fault, Refusal};
use selkie_channel_core::{Pauses, Sink, json};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::time::{Instant, sleep};

use crate::api::{Api, CALL_LIMIT};
use crate::refusal::{Kind, kind};

/// What Telegram itself hands out to bots, bytes.
const PLATFORM_MOST: u64 = 20 * 1024 * 1024;
/// So often it is tried …
const TRIES: u32 = 6;
/// … and no try begins after this: a person waits.
const PATIENCE: Duration = Duration::from_secs(120);

/// Why a try failed.
enum Trouble {
    /// Another may bring it, after at least so long.
    Passing(String, Duration),
    /// No other will.
    Final(String),
}

/// What has arrived so far, over all tries: a sink cannot be rewound.
struct Poured<'a> {
    sink: Sink<'a>,
    most: u64,
    written: u64,
    /// Of all that was written: another try has to begin with the same bytes.
    sum: Fnv,
}

/// Fetches the file with this id, at most `most` bytes of it.
///
/// # Errors
/// In words for a person.
pub async fn fetch(
    api: &Api,
    pauses: Pauses,
    id: &str,
    most: u64,
    sink: Sink<'_>,
) -> Result<u64, String> {
    let end = Instant::now() + PATIENCE;
    let mut poured = Poured { sink, most, written: 0, sum: Fnv::default() };
    let mut tried = 0;
    loop {
        tried += 1;
        let (why, least) = match once(api, id, &mut poured).await {
            Ok(()) => return Ok(poured.written),
            Err(Trouble::Final(why)) => return Err(why),
            Err(Trouble::Passing(why, least)) => (why, least),
        };
        let pause = pauses.after(tried + 1).max(least);
        if tried == TRIES || Instant::now() + pause > end {
            return Err(format!("it was tried {tried} times: {why}"));
        }
        tracing::info!(tried, pause_ms = pause.as_millis(), why, "fetching a file again");
        sleep(pause).await;
    }
}

async fn once(api: &Api, id: &str, poured: &mut Poured<'_>) -> Result<(), Trouble> {
    // Asked each time: where a file lies holds for an hour at least, and then no longer.
    let path = file_path(api, id).await?;
    let response = api.download(&path).await.map_err(passing)?;
    good(&response)?;
    poured.pour(api, response).await
}

/// Asks where a file lies.
async fn file_path(api: &Api, id: &str) -> Result<String, Trouble> {
    let answer = api.call("getFile", &json!({ "file_id": id }), CALL_LIMIT).await;
    let answer = answer.map_err(|fault| match fault {
        Fault::Refused(refusal) => refused(&refusal),
        Fault::NotSent(why) | Fault::Unclear(why) => passing(why),
    })?;
    let file: Value = json::read(answer.result.get()).unwrap_or_default();
    // It is told when the file lies ready, and an answer may lack it.
    let path = file.get("file_path").and_then(Value::as_str);
    let path =
        path.ok_or_else(|| passing("Telegram does not say yet where the file lies".to_owned()))?;
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
        Kind::Token => passing(format!("Telegram refuses the bot's token ({})", refusal.words)),
        _ if refusal.words.contains("file is too big") => {
            Trouble::Final(too_big(None, PLATFORM_MOST))
        }
        _ if refusal.words.contains("temporarily unavailable") => passing(refusal.words.clone()),
        _ => Trouble::Final(format!("Telegram does not provide the file: {}", refusal.words)),
    }
}

/// Looks at what the file server says. A path that is not there has expired: the next try asks anew.
fn good(response: &Response) -> Result<(), Trouble> {
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    let why = format!("the file server answered HTTP {}", status.as_u16());
    let passes = status.is_server_error()
        || matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS
                | StatusCode::REQUEST_TIMEOUT
                | StatusCode::NOT_FOUND
                | StatusCode::GONE
        );
    let wait = http::retry_after(response.headers()).unwrap_or_default();
    Err(if passes { Trouble::Passing(why, wait) } else { Trouble::Final(why) })
}

impl Poured<'_> {
    /// Writes what is new: the bytes that an earlier try brought come again, and are only compared.
    async fn pour(&mut self, api: &Api, mut response: Response) -> Result<(), Trouble> {
        let mut again = (self.written, Fnv::default());
        loop {
            let Some(chunk) = api.client().chunk(&mut response).await.map_err(passing)? else {
                break;
            };
            let (known, new) = chunk.split_at(chunk.len().min(usize_of(again.0)));
            again.1.write(known);
            again.0 -= known.len() as u64;
            if again.0 == 0 && !known.is_empty() && again.1.finish() != self.sum.finish() {
                return Err(changed());
            }
            self.write(new).await?;
        }
        if again.0 > 0 {
            return Err(changed());
        }
        self.sink.flush().await.map_err(|e| unstored(&e))
    }

    async fn write(&mut self, new: &[u8]) -> Result<(), Trouble> {
        if self.written + new.len() as u64 > self.most {
            return Err(Trouble::Final(too_big(None, self.most)));
        }
        self.sink.write_all(new).await.map_err(|e| unstored(&e))?;
        self.written += new.len() as u64;
        self.sum.write(new);
        Ok(())
    }
}

fn usize_of(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn passing(why: String) -> Trouble {
    Trouble::Passing(why, Duration::ZERO)
}

fn changed() -> Trouble {
    Trouble::Final("the file has changed while it was fetched".to_owned())
}

fn unstored(error: &std::io::Error) -> Trouble {
    Trouble::Final(format!("the file cannot be stored: {error}"))
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
