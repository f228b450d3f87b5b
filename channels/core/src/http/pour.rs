//! Streams what a platform keeps: bounded, and given up when it falls silent.

use std::ops::Deref;
use std::time::Duration;

use reqwest::Response;
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

use super::client::Client;
use crate::Sink;

/// A download without a byte for so long is given up.
const SILENCE: Duration = Duration::from_secs(30);

impl Client {
    /// Brings the rest of an answer into `sink`, at most `most` bytes of it; returns how many there were.
    ///
    /// # Errors
    /// In words for a person.
    pub async fn pour(
        &self,
        mut response: Response,
        most: u64,
        sink: Sink<'_>,
    ) -> Result<u64, String> {
        let mut written: u64 = 0;
        let later = |why| format!("{why}; try again later");
        while let Some(chunk) = self.chunk(&mut response).await.map_err(later)? {
            written += chunk.len() as u64;
            if written > most {
                return Err(too_big(most));
            }
            sink.write_all(&chunk).await.map_err(|e| unstored(&e))?;
        }
        sink.flush().await.map_err(|e| unstored(&e)).map(|()| written)
    }

    /// Returns what comes next; `None` at the end.
    ///
    /// # Errors
    /// In words: nothing came for half a minute, or the connection broke.
    pub async fn chunk(
        &self,
        response: &mut Response,
    ) -> Result<Option<impl Deref<Target = [u8]> + use<>>, String> {
        let chunk = timeout(SILENCE, response.chunk()).await;
        let chunk = chunk.map_err(|_| "the download stalled".to_owned())?;
        chunk.map_err(|e| self.words("the download was interrupted", e))
    }
}

/// Says that more came than is taken.
fn too_big(most: u64) -> String {
    format!("the file is too big: at most {most} bytes are fetched")
}

fn unstored(error: &std::io::Error) -> String {
    format!("the file cannot be stored: {error}")
}
