//! One call to X's API: out over one client, back as a result that says what is proven.

use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use reqwest::header::AUTHORIZATION;
use reqwest::{RequestBuilder, multipart};
use selkie_channel_core::Now;
use selkie_channel_core::http::{Client, Fault, Opener};
use selkie_channel_core::settings::Url;
use serde_json::Value;

use crate::credential::{Credential, Login};
use crate::wire::Wire;

/// What a client is made of.
pub struct Platform {
    /// Ends before `/2`.
    pub base: Url,
    /// Opens the client.
    pub http: Opener,
    /// The time.
    pub now: Now,
    /// The channel's own folder.
    pub folder: PathBuf,
}

/// Calls X for one account.
pub struct Api {
    wire: Wire,
    credential: Credential,
}

impl Api {
    /// Opens a client.
    ///
    /// # Errors
    /// When the library refuses the TLS configuration.
    pub fn open(platform: Platform, login: Login) -> Result<Self, String> {
        let Platform { base, http, now, folder } = platform;
        let client = http.open(|builder| builder)?;
        let credential = Credential::new(login, folder, http.redactor, Arc::clone(&now));
        Ok(Self { wire: Wire::new(client, base, now), credential })
    }

    /// Posts JSON to a path below `/2`.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, Fault> {
        let url = self.wire.url(path);
        self.call("POST", &url, |client| client.post(url.clone()).json(body)).await
    }

    /// Posts one piece of a file to a path below `/2`.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn post_piece(&self, path: &str, n: usize, piece: &[u8]) -> Result<Value, Fault> {
        let url = self.wire.url(path);
        let form = || {
            let piece = multipart::Part::bytes(piece.to_vec()).file_name("piece");
            multipart::Form::new().text("segment_index", n.to_string()).part("media", piece)
        };
        self.call("POST", &url, |client| client.post(url.clone()).multipart(form())).await
    }

    /// Asks for a path below `/2`.
    ///
    /// # Errors
    /// By what is proven; see [`Fault`].
    pub async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, Fault> {
        let mut url = self.wire.url(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.call("GET", &url, |client| client.get(url.clone())).await
    }

    /// Returns how far X's clock is ahead of ours, as its last answer told.
    pub fn ahead(&self) -> Option<TimeDelta> {
        self.wire.ahead()
    }

    /// Returns X's time, as its last answer told.
    pub fn their_time(&self) -> Option<DateTime<Utc>> {
        self.wire.their_time()
    }

    /// Whether asking may use up what works once: a refresh token.
    pub fn renews(&self) -> bool {
        matches!(self.credential, Credential::Renewing(_))
    }

    /// Returns the keys of the config by which it is proven who posts.
    pub fn keys(&self) -> &'static str {
        self.credential.keys()
    }

    async fn call(
        &self,
        method: &str,
        url: &reqwest::Url,
        request: impl Fn(&Client) -> RequestBuilder,
    ) -> Result<Value, Fault> {
        let once = async || {
            let header = self.credential.header(&self.wire, method, url).await?;
            let request = request(self.wire.client()).header(AUTHORIZATION, &header);
            Ok((self.wire.send(url.path(), request).await, header))
        };
        match once().await? {
            (Err(Fault::Refused(refusal)), header)
                if refusal.status == 401 && self.credential.refused(&header).await =>
            {
                once().await?.0
            }
            (answer, _) => answer,
        }
    }
}
