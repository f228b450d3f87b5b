//! Fetches the bytes of a file, and again from where they broke off when the way fails. Only what the platform itself
//! refuses, and trouble that does not end, is told.

use std::hash::Hasher as _;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Response, StatusCode};
use tokio::io::AsyncWriteExt as _;
use tokio::time::{Instant, sleep};

use super::client::Client;
use super::reply::retry_after;
use crate::hash::Fnv;
use crate::{Pauses, Sink};

/// So often it is tried …
const TRIES: u32 = 6;
/// … and no try begins after this: a person waits.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Where a file comes from.
#[async_trait]
pub trait Source: Send + Sync {
    /// Asks for its bytes, from the first one.
    ///
    /// # Errors
    /// Why they do not come, and whether another try may bring them.
    async fn open(&self) -> Result<Response, Trouble>;

    /// Says in words for a person that more came than `most` bytes.
    fn too_big(&self, most: u64) -> String {
        format!("the file is too big: at most {most} bytes are fetched")
    }
}

/// Why a try failed, in words for a person.
#[derive(Debug)]
pub enum Trouble {
    /// Another may bring it, after at least so long.
    Passing(String, Duration),
    /// No other will.
    Final(String),
}

impl Trouble {
    /// Trouble of the way, not of the file.
    pub fn passing(why: String) -> Self {
        Self::Passing(why, Duration::ZERO)
    }
}

/// Looks at what a file server says: trouble of its own passes, what it refuses stays refused.
///
/// # Errors
/// What it is, where it is no file.
pub fn good(response: Response) -> Result<Response, Trouble> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let why = format!("the file server answered HTTP {}", status.as_u16());
    let busy = matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    if !status.is_server_error() && !busy {
        return Err(Trouble::Final(why));
    }
    Err(Trouble::Passing(why, retry_after(response.headers()).unwrap_or_default()))
}

/// What has arrived so far, over all tries: a sink cannot be rewound.
struct FetchProgress<'a> {
    source: &'a dyn Source,
    sink: Sink<'a>,
    most: u64,
    written: u64,
    /// Of all that was written: another try has to begin with the same bytes.
    sum: Fnv,
}

impl Client {
    /// Brings a file into `sink`, at most `most` bytes of it; returns how many there were.
    ///
    /// # Errors
    /// In words for a person.
    pub async fn fetch(
        &self,
        source: &dyn Source,
        pauses: Pauses,
        most: u64,
        sink: Sink<'_>,
    ) -> Result<u64, String> {
        let end = Instant::now() + TIMEOUT;
        let mut poured = FetchProgress { source, sink, most, written: 0, sum: Fnv::default() };
        let mut tried = 0;
        loop {
            tried += 1;
            let (why, least) = match poured.once(self).await {
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
}

impl FetchProgress<'_> {
    async fn once(&mut self, client: &Client) -> Result<(), Trouble> {
        let response = self.source.open().await?;
        self.pour(client, response).await
    }

    /// Writes what is new: the bytes that an earlier try brought come again, and are only compared.
    async fn pour(&mut self, client: &Client, mut response: Response) -> Result<(), Trouble> {
        let mut again = (self.written, Fnv::default());
        while let Some(chunk) = client.chunk(&mut response).await.map_err(Trouble::passing)? {
            let known = usize::try_from(again.0).unwrap_or(usize::MAX).min(chunk.len());
            let (known, new) = chunk.split_at(known);
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
            return Err(Trouble::Final(self.source.too_big(self.most)));
        }
        self.sink.write_all(new).await.map_err(|e| unstored(&e))?;
        self.written += new.len() as u64;
        self.sum.write(new);
        Ok(())
    }
}

fn changed() -> Trouble {
    Trouble::Final("the file has changed while it was fetched".to_owned())
}

fn unstored(error: &std::io::Error) -> Trouble {
    Trouble::Final(format!("the file cannot be stored: {error}"))
}
