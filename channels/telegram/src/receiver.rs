//! Hears Telegram: the long poll, and files on demand.

use std::time::Duration;

use async_trait::async_trait;
use selkie_channel_core::{
    AccountId, Attachment, Inbox, ListenEnd, OfferedCommand, Receiver, Sink,
};
use tokio_util::sync::CancellationToken;

use crate::api::{Api, ClientFactory};
use crate::commands;
use crate::fetch;
use crate::hear;
use crate::listen::{self, Listener};
use crate::whoami::Whoami;
use selkie_channel_core::Pauses;

/// Hears for one bot.
pub struct TelegramReceiver {
    /// Which bot.
    pub account: AccountId,
    /// Opens connections.
    pub line: ClientFactory,
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
impl Receiver for TelegramReceiver {
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

    async fn offer(&self, commands: &[OfferedCommand]) -> Result<(), String> {
        commands::offer(&self.api, self.pauses, commands).await
    }

    async fn fetch(
        &self,
        attachment: &Attachment,
        max_bytes: u64,
        sink: Sink<'_>,
    ) -> Result<u64, String> {
        let most = max_bytes.min(self.max_download);
        if let Some(size) = attachment.size.filter(|size| *size > most) {
            return Err(fetch::too_big(Some(size), most));
        }
        let Some(id) = hear::file_id(&attachment.handle) else {
            return Err("this attachment was not made by Telegram".to_owned());
        };
        let file = fetch::TelegramFile { api: &self.api, id: &id };
        self.api.client().fetch(&file, self.pauses, most, sink).await
    }
}

#[cfg(test)]
mod tests;
