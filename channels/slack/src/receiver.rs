//! Hears Slack: the sockets and the fetching of files.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use selkie_channel_core::{
    AccountId, Attachment, ConversationId, Earlier, Inbox, ListenEnd, Receiver, Sink,
};
use tokio_util::sync::CancellationToken;

use crate::api::{Api, ClientFactory};
use crate::backfill;
use crate::fetch::SlackFile;
use crate::hear::{self, Frame};
use crate::ids::Spot;
use crate::listen::{self, Listener};
use crate::names::Names;
use crate::socket::Patience;
use crate::stubs;
use crate::whoami::Whoami;
use selkie_channel_core::Pauses;

/// Hears for one bot.
pub struct SlackReceiver {
    /// Which bot.
    pub account: AccountId,
    /// Opens connections.
    pub line: ClientFactory,
    /// A client that is ready.
    pub api: Api,
    /// Who the bot is.
    pub whoami: Arc<Whoami>,
    /// Who everybody else is.
    pub names: Names,
    /// Workspaces that are heard; empty is the bot's own.
    pub teams: BTreeSet<String>,
    /// Sockets at most.
    pub max_sockets: u8,
    /// Largest file that is fetched, bytes.
    pub max_download: u64,
    /// How long to wait after failures.
    pub pauses: Pauses,
    /// How patient a socket is.
    pub patience: Patience,
}

#[async_trait]
impl Receiver for SlackReceiver {
    async fn listen(&self, inbox: &dyn Inbox, stop: CancellationToken) -> ListenEnd {
        let listener = Listener {
            account: &self.account,
            line: &self.line,
            api: &self.api,
            whoami: &self.whoami,
            names: &self.names,
            teams: &self.teams,
            inbox,
            sockets: self.max_sockets,
            pauses: self.pauses,
            patience: self.patience,
        };
        tokio::select! {
            // In this order: the first socket is asked for before the question who we are.
            biased;
            () = stop.cancelled() => ListenEnd::Stopped,
            end = listen::listen(listener) => end,
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
            return Err(format!("the file is too big ({size} bytes): at most {most} are fetched"));
        }
        let Some(handle) = hear::handle(&attachment.handle) else {
            return Err("this attachment was not made by Slack".to_owned());
        };
        let mime = attachment.mime.as_deref();
        let file = SlackFile { api: &self.api, handle: &handle, mime };
        self.api.raw().fetch(&file, self.pauses, most, sink).await
    }

    async fn backfill(
        &self,
        conversation: &ConversationId,
        before: i64,
        limit: usize,
    ) -> Result<Earlier, String> {
        let Some(spot) = Spot::parse(conversation.key(), None) else {
            return Ok(Earlier::default());
        };
        let me = self.whoami.get().await;
        let frame = Frame {
            account: &self.account,
            me: &me,
            teams: &self.teams,
            latest: before,
            redactor: &self.line.http.redactor,
        };
        let mut earlier = backfill::earlier(&self.api, &spot, before, limit, frame).await?;
        stubs::fill(&self.api, &mut earlier.lines).await;
        self.names.fill(&self.api, &mut earlier.lines).await;
        Ok(earlier)
    }
}

#[cfg(test)]
mod tests;
