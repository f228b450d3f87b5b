//! Who we are to one authorization server, and how that is proved.

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use crate::settings::OAuthSettings;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ClientProof {
    /// Not at all: what runs on somebody's machine keeps no secret.
    #[serde(rename = "none")]
    Nothing,
    #[serde(rename = "client_secret_basic")]
    Basic,
    #[serde(rename = "client_secret_post")]
    Post,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct OAuthClient {
    pub(crate) id: String,
    /// What it was given when it registered; the config's own stays in the config.
    pub(crate) secret: Option<String>,
    pub(crate) proof: ClientProof,
}

impl OAuthSettings {
    /// Returns the config's secret of a client that is the config's.
    pub(crate) fn secret_of<'a>(&'a self, client: &'a OAuthClient) -> Option<&'a str> {
        let is_ours = self.client_id.as_ref() == Some(&client.id);
        let secret = self.client_secret.as_ref().map(SecretString::expose_secret);
        secret.filter(|_| is_ours).or(client.secret.as_deref())
    }
}
