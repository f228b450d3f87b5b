//! Hears LINE: the webhook and the fetching of files.

use async_trait::async_trait;
use selkie_channel_core::{Attachment, Inbox, ListenEnd, Receiver, Sink};
use tokio_util::sync::CancellationToken;

use crate::examine;
use crate::fetch;
use crate::listen::{self, Listener};

/// Hears for one bot.
pub struct LineReceiver {
    /// What listening takes.
    pub listener: Listener,
    /// Largest file that is fetched, bytes.
    pub max_download: u64,
}

#[async_trait]
impl Receiver for LineReceiver {
    async fn listen(&self, inbox: &dyn Inbox, stop: CancellationToken) -> ListenEnd {
        listen::listen(&self.listener, inbox, stop).await
    }

    async fn reached_at(&self) -> Result<Vec<String>, String> {
        examine::reached_at(&self.listener.api).await
    }

    async fn fetch(
        &self,
        attachment: &Attachment,
        max_bytes: u64,
        sink: Sink<'_>,
    ) -> Result<u64, String> {
        let most = max_bytes.min(self.max_download);
        fetch::fetch(&self.listener.api, attachment, most, sink).await
    }
}

#[cfg(test)]
mod tests;
