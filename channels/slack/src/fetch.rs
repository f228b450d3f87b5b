//! Where a file of Slack comes from; of one from another workspace Slack is asked first.

use async_trait::async_trait;
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use selkie_channel_core::http::{Fault, Source, Trouble, good};
use serde_json::Value;

use crate::api::Api;
use crate::hear::Handle;
use crate::refusal::{self, Kind, kind};

/// A file that came with a message.
pub struct SlackFile<'a> {
    /// The client.
    pub api: &'a Api,
    /// How it is asked for.
    pub handle: &'a Handle,
    /// What it is, as far as Slack has said.
    pub mime: Option<&'a str>,
}

#[async_trait]
impl Source for SlackFile<'_> {
    async fn open(&self) -> Result<Response, Trouble> {
        let url = self.url().await?;
        let response = good(self.api.download(&url).await?)?;
        let of = response.headers().get(CONTENT_TYPE).and_then(|of| of.to_str().ok());
        let is_page = |of: &str| of.starts_with("text/html");
        if of.is_some_and(is_page) && !self.mime.is_some_and(is_page) {
            let why = "Slack answered with a page to sign in: the app needs files:read";
            return Err(Trouble::Final(why.to_owned()));
        }
        Ok(response)
    }
}

impl SlackFile<'_> {
    async fn url(&self) -> Result<String, Trouble> {
        if let Some(url) = &self.handle.url {
            return Ok(url.clone());
        }
        let answer = self.api.ask("files.info", &[("file", self.handle.file.as_str())]).await;
        let answer = answer.map_err(|fault| match fault {
            Fault::Refused(refused) => {
                let why = format!("Slack does not provide the file: {}", refusal::words(&refused));
                match kind(&refused) {
                    Kind::Limited => Trouble::Passing(why, refused.retry_after.unwrap_or_default()),
                    _ => Trouble::Final(why),
                }
            }
            Fault::NotSent(why) | Fault::Unclear(why) => {
                Trouble::passing(format!("the file could not be fetched: {why}"))
            }
        })?;
        let file = answer.get("file").cloned().unwrap_or_default();
        let url = |key: &str| file.get(key).and_then(Value::as_str).map(str::to_owned);
        url("url_private_download")
            .or_else(|| url("url_private"))
            .ok_or_else(|| Trouble::Final("Slack names no address for this file".to_owned()))
    }
}
