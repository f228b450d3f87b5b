//! Why a request failed, in words for the model.

use std::error::Error;
use std::time::Duration;

use reqwest::Url;

use crate::ToolError;
use crate::auth::AuthError;

/// Why a request was not made, or came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum RequestError {
    /// The guard does not allow its address.
    #[error("{0}")]
    Guarded(String),
    /// It names no address.
    #[error("invalid url: {url} ({why}); it takes http://… or https://…")]
    Invalid { url: String, why: String },
    #[error("the url has no host")]
    NoHost,
    /// It names another protocol.
    #[error("only http and https are accepted, not {0}")]
    Scheme(String),
    #[error("a url must not hold a name and password")]
    Credentials,
    /// Its server sends it to another, and what it carries is not for that one.
    #[error("the server redirects this request to another server: it was not sent there")]
    Redirected,
    /// What it carries is for other requests.
    #[error(transparent)]
    Auth(#[from] AuthError),
    #[error("the server redirects more than {times} times, last to {last}")]
    Redirects { times: usize, last: Url },
    #[error("the server did not answer within {} s", .0.as_secs_f64())]
    Late(Duration),
    /// There is no network, or the connection has failed.
    #[error("{0}")]
    Failed(String),
}

impl RequestError {
    /// Says that a text is no address.
    pub(super) fn invalid(url: &str, error: &dyn std::fmt::Display) -> Self {
        Self::Invalid { url: url.to_owned(), why: error.to_string() }
    }
}

/// The guard's own refusal where there is one, else the innermost reason.
impl From<reqwest::Error> for RequestError {
    fn from(error: reqwest::Error) -> Self {
        let mut inner: &dyn Error = &error;
        while let Some(source) = inner.source() {
            if let Some(refused) = source.downcast_ref::<RequestRefusal>() {
                return Self::Guarded(refused.0.clone());
            }
            inner = source;
        }
        let what = if error.is_connect() { "cannot connect" } else { "the request failed" };
        Self::Failed(format!("{what}: {inner}"))
    }
}

impl From<RequestError> for ToolError {
    fn from(error: RequestError) -> Self {
        Self::tell(error.to_string())
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct RequestRefusal(pub(super) String);
