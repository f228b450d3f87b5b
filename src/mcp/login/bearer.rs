//! The token that requests to a server carry: read before each, renewed a little before its end and when it is refused.

use reqwest::Url;
use reqwest::header::HeaderValue;
use selkie_domain::clock::SharedClock;
use tokio_util::task::TaskTracker;

use super::error::LoginError;
use super::grant::Grant;
use super::token_endpoint;
use super::token_folder::TokenFolder;
use super::wire::Wire;
use crate::settings::OAuthSettings;

/// Carries what was granted for one server. It goes to the address that it was granted for, and to no other.
#[derive(Clone)]
pub(crate) struct Bearer {
    pub(crate) server: String,
    pub(crate) url: Url,
    pub(crate) settings: OAuthSettings,
    pub(crate) folder: TokenFolder,
    pub(crate) wire: Wire,
    pub(crate) clock: SharedClock,
    pub(crate) tracker: TaskTracker,
}

impl Bearer {
    /// Returns the header of a request; nothing where nobody has signed in.
    pub(crate) async fn header(&self) -> Result<Option<HeaderValue>, LoginError> {
        let Some(grant) = self.grant()? else { return Ok(None) };
        if !grant.is_old(self.now()) {
            return Ok(grant.header());
        }
        match self.renewed(&grant.access_token).await {
            // It counts for a moment yet.
            Err(error) if !grant.is_over(self.now()) && !matches!(error, LoginError::Over(_)) => {
                tracing::warn!(server = self.server, %error, "a token cannot be renewed");
                Ok(grant.header())
            }
            renewed => Ok(renewed?.and_then(|grant| grant.header())),
        }
    }

    /// Returns the header with another token than the one that was refused; nothing where there is none.
    pub(crate) async fn after(
        &self,
        refused: &HeaderValue,
    ) -> Result<Option<HeaderValue>, LoginError> {
        let token = refused.to_str().unwrap_or_default().trim_start_matches("Bearer ");
        Ok(self.renewed(token).await?.and_then(|grant| grant.header()))
    }

    fn grant(&self) -> Result<Option<Grant>, LoginError> {
        Ok(self.folder.read(&self.server)?.filter(|grant| grant.is_for(&self.url)))
    }

    fn now(&self) -> i64 {
        self.clock.now().timestamp()
    }

    /// Renews a token, even when the caller goes away: a refresh token that was used and whose answer nobody keeps is lost.
    async fn renewed(&self, old: &str) -> Result<Option<Grant>, LoginError> {
        let bearer = self.clone();
        let old = old.to_owned();
        let renewal = self.tracker.spawn(async move { bearer.renew(&old).await });
        renewal.await.unwrap_or_else(|error| {
            Err(LoginError::Answer { what: "the token", why: error.to_string() })
        })
    }

    /// Asks for a newer token, unless somebody has one meanwhile; it is kept before anybody uses it.
    async fn renew(&self, old: &str) -> Result<Option<Grant>, LoginError> {
        let _lock = self.folder.lock(&self.server).await?;
        let Some(mut grant) = self.grant()? else { return Ok(None) };
        if grant.access_token != old {
            return Ok(Some(grant));
        }
        let Some(refresh) = grant.refresh_token.clone() else { return Ok(None) };
        let is_ours = self.settings.client_id.as_ref() == Some(&grant.client.id);
        let words = [("grant_type", "refresh_token"), ("refresh_token", refresh.as_str())];
        let Self { wire, settings, clock, .. } = self;
        match token_endpoint::ask(&mut grant, wire, settings, &words, clock).await {
            Ok(()) => {
                self.folder.write(&self.server, &grant)?;
                Ok(Some(grant))
            }
            // A client that registered itself, and that nobody knows any more, registers anew with the next sign-in.
            Err(LoginError::Refused { code, .. })
                if code == "invalid_grant" || (code == "invalid_client" && !is_ours) =>
            {
                self.folder.remove(&self.server)?;
                Err(LoginError::Over(self.server.clone()))
            }
            Err(error) => Err(error),
        }
    }
}
