//! Streams what a platform keeps, and gives it up when it falls silent.

use std::ops::Deref;
use std::time::Duration;

use reqwest::Response;
use tokio::time::timeout;

use super::client::Client;

/// A download without a byte for so long is given up.
const SILENCE: Duration = Duration::from_secs(30);

impl Client {
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
