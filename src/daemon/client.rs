//! The command line's side of the control socket.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use futures_util::StreamExt;
use reqwest::{Client, Response, StatusCode};
use rustls::ClientConfig;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use crate::daemon::http;
use crate::daemon::socket::{self, AskBody, AskLine};
use crate::guard::visible::one_line;

/// The host is not looked at: the socket decides who answers.
const ORIGIN: &str = "http://selkie";

/// More than any answer of a daemon.
const LARGEST: usize = 64 * 1024 * 1024;
const SILENT: &str = "the running daemon does not answer";
const UNEXPECTED: &str = "the running daemon and this command do not understand each other, as after an upgrade: restart the daemon";
const TOO_LARGE: &str =
    "what answers at the control socket is not selkie: it sends more than 64 MiB";

/// A running daemon.
pub struct Running(Client);

impl Running {
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
    pub async fn ask(&self, body: &AskBody, lines: mpsc::Sender<AskLine>) -> anyhow::Result<()> {
        let response = self.post("/v1/ask", body).await?;
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

    /// Posts and reads the answer.
    ///
    /// # Errors
    /// When the daemon refuses or answers something else.
    pub async fn call<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<T> {
        answered(self.post(path, body).await?).await
    }

    /// Reads.
    ///
    /// # Errors
    /// When the daemon refuses or answers something else.
    pub async fn read<T: DeserializeOwned>(&self, parts: &[&str]) -> anyhow::Result<T> {
        self.get(url(parts)?).await
    }

    /// Reads a list of at most so many rows.
    ///
    /// # Errors
    /// When the daemon refuses or answers something else.
    pub async fn list<T: DeserializeOwned>(&self, parts: &[&str], most: u16) -> anyhow::Result<T> {
        let mut url = url(parts)?;
        url.query_pairs_mut().append_pair("limit", &most.to_string());
        self.get(url).await
    }

    async fn get<T: DeserializeOwned>(&self, url: reqwest::Url) -> anyhow::Result<T> {
        let sent = self.0.get(url).send().await.map_err(reqwest::Error::without_url);
        answered(checked(sent.context(SILENT)?).await?).await
    }

    async fn post(&self, path: &str, body: &impl Serialize) -> anyhow::Result<Response> {
        let sent = self.0.post(format!("{ORIGIN}{path}")).json(body).send().await;
        checked(sent.map_err(reqwest::Error::without_url).context(SILENT)?).await
    }
}

fn url(parts: &[&str]) -> anyhow::Result<reqwest::Url> {
    let mut url = reqwest::Url::parse(ORIGIN)?;
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.extend(parts);
    }
    Ok(url)
}

async fn checked(response: Response) -> anyhow::Result<Response> {
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

async fn answered<T: DeserializeOwned>(response: Response) -> anyhow::Result<T> {
    serde_json::from_slice(&body(response).await?).context(UNEXPECTED)
}

/// Reads an answer: as much of it as a daemon says, whoever listens there.
async fn body(response: Response) -> anyhow::Result<Vec<u8>> {
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
