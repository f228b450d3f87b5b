//! Calls to Slack that are no methods of the Web API: bytes of files, and answers to slash commands.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Response, Url};
use selkie_channel_core::http::{Fault, PlatformReply, Refusal, Reply, Request, Trouble};
use serde_json::Value;
use tokio::time::timeout;

use crate::api::Api;
use crate::connector::CALL_LIMIT;
use crate::refusal::limited;

/// How long the bytes of a file may take.
const UPLOAD_LIMIT: Duration = Duration::from_secs(120);
const MAX_REDIRECTS: usize = 3;

impl Api {
    /// Hands a file's bytes to the address that Slack named for them; no token goes there.
    ///
    /// # Errors
    /// In words; nobody sees the file before the upload is completed.
    pub async fn put(&self, url: &str, bytes: Bytes) -> Result<(), String> {
        let url = Url::parse(url).map_err(|_| "Slack named no upload URL".to_owned())?;
        let request = self.raw().post(url).body(bytes);
        let request = request.header(CONTENT_TYPE, "application/octet-stream");
        let what = "the upload";
        let call = Request { what, request, limit: UPLOAD_LIMIT, progress: None };
        let done = self.raw().call(call, |reply| match reply.status.is_success() {
            true => PlatformReply::Done(()),
            false => {
                PlatformReply::Unsure(format!("its server answered HTTP {}", reply.status.as_u16()))
            }
        });
        done.await.map_err(|fault| fault.to_string())
    }

    /// Answers at the address that came with a slash command; no token goes there.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn respond(&self, url: &str, body: &Value) -> Result<(), Fault> {
        let unknown = || Refusal { code: "no_response_url".to_owned(), ..Refusal::default() };
        let url = Url::parse(url).ok().filter(|url| self.is_slacks(url));
        let url = url.ok_or_else(|| Fault::Refused(unknown()))?;
        let request = self.raw().post(url).body(body.to_string());
        let request = request.header(CONTENT_TYPE, "application/json; charset=utf-8");
        let what = "response_url";
        let call = Request { what, request, limit: CALL_LIMIT, progress: None };
        let done = self.raw().call(call, |reply| match reply.status.as_u16() {
            200..300 => taken(reply),
            429 => PlatformReply::Refused(limited(reply.retry_after())),
            400..500 => PlatformReply::Refused(unknown()),
            status => PlatformReply::Unsure(format!("HTTP {status}")),
        });
        done.await
    }

    /// Asks for a file's bytes. The token goes to the address itself when that is Slack's; where it leads
    /// on, nobody is shown the token, and other hosts are not asked.
    ///
    /// # Errors
    /// In words for a person, without the URL.
    pub async fn download(&self, url: &str) -> Result<Response, Trouble> {
        let broken = || Trouble::Final("Slack named no address for this file".to_owned());
        let mut url = Url::parse(url).map_err(|_| broken())?;
        let mut token = Some(self.bot());
        for _ in 0..=MAX_REDIRECTS {
            if !self.is_slacks(&url) {
                let host = url.host_str().unwrap_or_default();
                return Err(Trouble::Final(format!(
                    "the file is on {host}, which is not Slack's: not fetched (slack.file_hosts may name more \
                     hosts)"
                )));
            }
            let mut request = self.raw().get(url.clone());
            if let Some(token) = token.take() {
                request = request.bearer_auth(&token.token_value.0);
            }
            let response = timeout(CALL_LIMIT, request.send())
                .await
                .map_err(|_| Trouble::passing("the file server does not answer".to_owned()))?
                .map_err(|e| {
                    Trouble::passing(self.raw().words("the file could not be fetched", e))
                })?;
            if !response.status().is_redirection() {
                return Ok(response);
            }
            let next = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            url = next.and_then(|next| url.join(next).ok()).ok_or_else(broken)?;
        }
        Err(Trouble::Final("the file server redirects again and again".to_owned()))
    }

    /// Whether files lie here and slash commands are answered here: the base URL's own server, Slack's
    /// hosts when the base URL is Slack's, and hosts that the settings name.
    fn is_slacks(&self, url: &Url) -> bool {
        let (base, named) = self.hosts();
        if url.origin() == base.origin() {
            return true;
        }
        let host = url.host_str().unwrap_or_default();
        let secure = url.scheme() == "https" || url.scheme() == base.scheme();
        let slack = |host: &str| host == "slack.com" || host.ends_with(".slack.com");
        secure && (named.contains(host) || (base.host_str().is_some_and(slack) && slack(host)))
    }
}

/// What a good status says of an answer to a command: Slack says `ok`; a page does not.
fn taken(reply: &Reply) -> PlatformReply<()> {
    if reply.body.is_empty() || reply.body.trim_ascii().eq_ignore_ascii_case(b"ok") {
        return PlatformReply::Done(());
    }
    let body = reply.object().unwrap_or_default();
    match (body["ok"].as_bool(), body["error"].as_str()) {
        (Some(true), _) => PlatformReply::Done(()),
        (Some(false), Some(code)) => {
            PlatformReply::Refused(Refusal { code: code.to_owned(), ..reply.refusal() })
        }
        _ => PlatformReply::Foreign,
    }
}
