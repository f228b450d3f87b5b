//! Hears LINE: the webhook and the fetching of files.

use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use secrecy::SecretString;
use selkie_channel_core::{AccountId, Attachment, Ears, Inbox, ListenEnd, Now, Sink};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use crate::api::Api;
use crate::known::Known;
use crate::names::Names;
use crate::quota::{Notice, Quota};
use crate::{fetch, listen};

/// Hears for one bot.
pub struct LineEars {
    /// Which bot.
    pub account: AccountId,
    /// The client.
    pub api: Api,
    /// What was said lately.
    pub known: Arc<Known>,
    /// What people are called.
    pub names: Names,
    /// Signs webhooks.
    pub secret: SecretString,
    /// Where the webhook listens.
    pub listen: SocketAddr,
    /// The webhook's path.
    pub path: String,
    /// Largest file that is fetched, bytes.
    pub max_download: u64,
    /// How long after an event its reply token waits for the answer.
    pub deadline: TimeDelta,
    /// Knows how to tell the owner of a refused token.
    pub quota: Quota,
    /// The clock.
    pub now: Now,
    /// What the owner should know.
    pub notices: Mutex<mpsc::Receiver<Notice>>,
}

#[async_trait]
impl Ears for LineEars {
    async fn listen(&self, inbox: &dyn Inbox, stop: CancellationToken) -> ListenEnd {
        listen::listen(self, inbox, stop).await
    }

    async fn fetch(
        &self,
        attachment: &Attachment,
        max_bytes: u64,
        sink: Sink<'_>,
    ) -> Result<u64, String> {
        fetch::fetch(&self.api, attachment, max_bytes.min(self.max_download), sink).await
    }
}

#[cfg(test)]
mod tests;
