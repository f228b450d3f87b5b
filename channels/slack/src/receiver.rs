//! Hears Slack: the sockets and the fetching of files.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::header::CONTENT_TYPE;
use selkie_channel_core::http::Fault;
use selkie_channel_core::{
    AccountId, Attachment, ConversationId, Earlier, Inbox, ListenEnd, Receiver, Sink,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::api::{Api, ClientFactory};
use crate::backfill;
use crate::hear::{self, Frame, Handle};
use crate::ids::Spot;
use crate::listen::{self, Listener};
use crate::names::Names;
use crate::refusal;
use crate::socket::Patience;
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
        let url = self.url(handle).await?;
        self.pour(&url, attachment, most, sink).await
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
        self.names.fill(&self.api, &mut earlier.lines).await;
        Ok(earlier)
    }
}

impl SlackReceiver {
    /// Returns where a file lies; of one from another workspace Slack has to be asked.
    async fn url(&self, handle: Handle) -> Result<String, String> {
        if let Some(url) = handle.url {
            return Ok(url);
        }
        let answer = self.api.ask("files.info", &[("file", handle.file.as_str())]).await;
        let answer = answer.map_err(|fault| match fault {
            Fault::Refused(refused) => {
                format!("Slack does not provide the file: {}", refusal::words(&refused))
            }
            Fault::NotSent(why) | Fault::Unclear(why) => {
                format!("the file could not be fetched, try again later: {why}")
            }
        })?;
        let file = answer.get("file").cloned().unwrap_or_default();
        let url = |key: &str| file.get(key).and_then(Value::as_str).map(str::to_owned);
        url("url_private_download")
            .or_else(|| url("url_private"))
            .ok_or_else(|| "Slack names no address for this file".to_owned())
    }

    async fn pour(
        &self,
        url: &str,
        attachment: &Attachment,
        most: u64,
        sink: Sink<'_>,
    ) -> Result<u64, String> {
        let response = self.api.download(url).await?;
        if !response.status().is_success() {
            return Err(format!("the file server answered HTTP {}", response.status().as_u16()));
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let is_page = |kind: &str| kind.starts_with("text/html");
        if kind.is_some_and(is_page) && !attachment.mime.as_deref().is_some_and(is_page) {
            return Err(
                "Slack answered with a page to sign in: the app needs files:read".to_owned()
            );
        }
        self.api.raw().pour(response, most, sink).await
    }
}

#[cfg(test)]
mod tests;
