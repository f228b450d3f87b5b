//! The command line's side of the control socket.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use futures_util::StreamExt;
use reqwest::{Client, RequestBuilder, StatusCode};
use rustls::ClientConfig;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use crate::answered::NotDone;
use crate::http;
use crate::reload::ReloadReport;
use crate::request::{Request, Response};
use crate::socket;
use selkie_engine::terminal::ask::{Ask, AskEvent};
use selkie_guard::visible::one_line;

/// The host is not looked at: the socket decides who answers.
const ORIGIN: &str = "http://selkie";

/// More than any answer of a daemon.
const LARGEST: usize = 64 * 1024 * 1024;
const SILENT: &str = "the running daemon does not answer";
/// What is said of an answer to something else.
pub const UNEXPECTED: &str = "the running daemon and this command do not understand each other, as after an upgrade: restart the daemon";
const TOO_LARGE: &str =
    "what answers at the control socket is not selkie: it sends more than 64 MiB";

/// A running daemon.
pub struct RunningDaemon(Client);

impl RunningDaemon {
    /// Finds the daemon of a state folder; `None` when none answers.
    ///
    /// # Errors
    /// When no client can be built.
    pub async fn find(tls: &Arc<ClientConfig>, state: &Path) -> anyhow::Result<Option<Self>> {
        let path = socket::path(state);
        if tokio::net::UnixStream::connect(&path).await.is_err() {
            return Ok(None);
        }
        Ok(Some(Self(http::socket_client(tls, &path)?)))
    }

    /// Asks; `lines` gets every line until the end.
    ///
    /// # Errors
    /// When the daemon refuses or goes away.
    pub async fn ask(&self, ask: &Ask, lines: mpsc::Sender<AskEvent>) -> anyhow::Result<()> {
        let response = sent(self.0.post(format!("{ORIGIN}/v1/ask")).json(ask)).await?;
        let mut stream = response.bytes_stream();
        let mut rest = Vec::new();
        while let Some(bytes) = stream.next().await {
            rest.extend_from_slice(&bytes.context("the daemon went away")?);
            if rest.len() > LARGEST {
                bail!("{TOO_LARGE}");
            }
            while let Some(end) = rest.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                let line = serde_json::from_slice(&line).context(UNEXPECTED)?;
                if lines.send(line).await.is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Has a request answered.
    ///
    /// # Errors
    /// When the daemon refuses, does not do it, or answers something else.
    pub async fn answer(&self, request: &Request) -> anyhow::Result<Response> {
        let request = self.0.post(format!("{ORIGIN}/v1/request")).json(request);
        let answered: Result<Response, NotDone> = read(sent(request).await?).await?;
        Ok(answered?)
    }

    /// Has the config read again.
    ///
    /// # Errors
    /// When the daemon refuses or answers something else.
    pub async fn reload(&self) -> anyhow::Result<Result<ReloadReport, NotDone>> {
        read(sent(self.0.post(format!("{ORIGIN}/v1/reload"))).await?).await
    }

    /// Reads how the daemon stands.
    ///
    /// # Errors
    /// When the daemon refuses or answers something else.
    pub async fn status<T: DeserializeOwned>(&self) -> anyhow::Result<T> {
        read(sent(self.0.get(format!("{ORIGIN}/v1/status"))).await?).await
    }
}

async fn sent(request: RequestBuilder) -> anyhow::Result<reqwest::Response> {
    checked(request.send().await.map_err(reqwest::Error::without_url).context(SILENT)?).await
}

async fn checked(response: reqwest::Response) -> anyhow::Result<reqwest::Response> {
    if response.status().is_success() {
        return Ok(response);
    }
    let status = response.status();
    let says = body(response).await.unwrap_or_default();
    bail!(why(status, &says))
}

/// Says why a daemon does not do what it was asked for: in its own words, where it knows what was asked.
fn why(status: StatusCode, says: &[u8]) -> String {
    let says = one_line(String::from_utf8_lossy(says).trim());
    if status == StatusCode::PAYLOAD_TOO_LARGE {
        return "that is too long for the running daemon: make it shorter".to_owned();
    }
    match status.is_server_error() {
        false => UNEXPECTED.to_owned(),
        true if says.is_empty() => {
            "the running daemon could not do it and gives no reason: see its log (selkie logs)"
                .to_owned()
        }
        true => says,
    }
}

async fn read<T: DeserializeOwned>(response: reqwest::Response) -> anyhow::Result<T> {
    serde_json::from_slice(&body(response).await?).context(UNEXPECTED)
}

/// Reads an answer: as much of it as a daemon says, whoever listens there.
async fn body(response: reqwest::Response) -> anyhow::Result<Vec<u8>> {
    let mut stream = response.bytes_stream();
    let mut all = Vec::new();
    while let Some(bytes) = stream.next().await {
        all.extend_from_slice(&bytes.context("the daemon went away")?);
        if all.len() > LARGEST {
            bail!("{TOO_LARGE}");
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_code_of_http_is_shown_to_a_person() {
        for (status, says, wanted) in [
            (503, "it was restored\n", "it was restored"),
            (500, "the disk is full", "the disk is full"),
            (500, "", "gives no reason"),
            (404, "", "restart the daemon"),
            (422, "Failed to deserialize", "restart the daemon"),
            (413, "length limit exceeded", "make it shorter"),
        ] {
            let told = why(StatusCode::from_u16(status).unwrap(), says.as_bytes());
            assert!(told.contains(wanted) && !told.contains(&status.to_string()), "{told}");
        }
    }
}
