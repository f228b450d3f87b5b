//! A server of one model that is no model of conversations: of embeddings, of what was said aloud.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use selkie_channel_core::Redactor;

use crate::build::HttpFactory;
use crate::wire::Wire;
use selkie_domain::clock::SharedClock;

/// A server of one model, which takes its key as a bearer token.
pub(super) struct ModelServer<'a> {
    pub url: Url,
    pub api_key: Option<&'a SecretString>,
    pub silence: Duration,
}

/// Builds the way to a server of one model.
///
/// # Errors
/// In words: there is no client, or the key is none.
pub(super) fn wire_to(
    server: ModelServer<'_>,
    http: &HttpFactory,
    redactor: &Redactor,
    clock: &SharedClock,
) -> Result<Wire, String> {
    let ModelServer { url, api_key, silence } = server;
    let mut headers = HeaderMap::new();
    let key = api_key.map(|key| key.expose_secret().trim());
    if let Some(key) = key.filter(|key| !key.is_empty()) {
        let value = HeaderValue::from_str(&format!("Bearer {key}"));
        let mut value = value.map_err(|error| error.to_string())?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    let clock = Arc::clone(clock);
    Ok(Wire { http: http()?, url, headers, silence, redactor: redactor.clone(), clock })
}
