//! What an authorization server has granted for one server of the config.

use reqwest::Url;
use reqwest::header::HeaderValue;
use serde::{Deserialize, Serialize};

use super::oauth_client::OAuthClient;

/// A token that ends so soon is not used any more, seconds.
const EARLY: i64 = 60;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Grant {
    /// The server's address in the config: its tokens go nowhere else.
    pub(crate) url: String,
    pub(crate) issuer: String,
    /// What it is for, in the issuer's words.
    pub(crate) resource: String,
    pub(crate) token_endpoint: String,
    pub(crate) client: OAuthClient,
    pub(crate) scopes: Vec<String>,
    pub(crate) access_token: String,
    pub(crate) refresh_token: Option<String>,
    /// When the access token ends, in seconds of Unix time.
    pub(crate) ends: Option<i64>,
}

impl Grant {
    /// Whether it was granted for what lies at this address.
    pub(crate) fn is_for(&self, url: &Url) -> bool {
        Url::parse(&self.url).as_ref() == Ok(url)
    }

    /// Whether another token is to be asked for, and can be.
    pub(crate) fn is_old(&self, now: i64) -> bool {
        self.refresh_token.is_some() && self.ends.is_some_and(|ends| ends - EARLY <= now)
    }

    /// Whether its token is of no use any more.
    pub(crate) fn is_over(&self, now: i64) -> bool {
        self.ends.is_some_and(|ends| ends <= now)
    }

    /// Returns the header that a request carries; nothing where the token fits into none.
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.access_token)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}
