//! A server of one model that is no model of conversations: of embeddings, of speech, of pictures.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use selkie_channel_core::{Problem, Redactor};

use tokio::time::{sleep, timeout};

use crate::Reason;
use crate::build::HttpFactory;
use crate::refusal::{ProviderRefusal, What};
use crate::settings::ServerSection;
use crate::wire::Wire;
use selkie_domain::clock::SharedClock;
use selkie_domain::span::Span;

/// How long a server rests before it is asked once more.
const PAUSE: Duration = Duration::from_millis(500);

/// Why a server or a program did not do what it was asked for, for the log and for doctor: no secret stands in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// Nobody answers, or not in time.
    #[error("{0}")]
    Away(String),
    /// It was refused, or what came back is no answer.
    #[error("{0}")]
    Unusable(String),
}

/// The way to a server, and what it calls its model.
pub(super) struct ModelAtServer {
    pub wire: Wire,
    pub model: String,
}

impl ModelAtServer {
    /// Builds the way to the server of a section; nothing where it names none.
    ///
    /// # Errors
    /// Everything that is wrong with the section; keys are inside of it.
    pub fn build(
        section: &impl ServerSection,
        http: &HttpFactory,
        redactor: &Redactor,
        clock: &SharedClock,
    ) -> Result<Option<Self>, Vec<Problem>> {
        let problems = section.problems();
        if !problems.is_empty() {
            return Err(problems);
        }
        let keys = section.server();
        let Some((url, model)) = keys.url().zip(keys.model()) else { return Ok(None) };
        let of = |message: String| vec![Problem { key: "endpoint".to_owned(), message }];
        let headers = bearer(keys.api_key).map_err(of)?;
        let http = http().map_err(of)?;
        let silence = keys.timeout.0;
        let clock = Arc::clone(clock);
        let wire = Wire { http, url, headers, silence, redactor: redactor.clone(), clock };
        Ok(Some(Self { wire, model: model.to_owned() }))
    }
}

fn bearer(api_key: Option<&SecretString>) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    let key = api_key.map(|key| key.expose_secret().trim());
    if let Some(key) = key.filter(|key| !key.is_empty()) {
        let value = HeaderValue::from_str(&format!("Bearer {key}"));
        let mut value = value.map_err(|error| error.to_string())?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

/// Waits for an answer, so long at most.
///
/// # Errors
/// See [`ServerError`].
pub(super) async fn within(
    limit: Duration,
    answer: impl Future<Output = Result<Vec<u8>, ProviderRefusal>>,
) -> Result<Vec<u8>, ServerError> {
    let refused = match timeout(limit, answer).await {
        Ok(Ok(bytes)) => return Ok(bytes),
        Ok(Err(refused)) => refused,
        Err(_) => return Err(ServerError::Away(format!("no answer within {}", Span(limit)))),
    };
    let ProviderRefusal { what, message, .. } = refused;
    Err(match what {
        What::Status(status @ 500..) => {
            ServerError::Away(format!("it answers {status}: {message}"))
        }
        What::Status(status) => ServerError::Unusable(format!("it answers {status}: {message}")),
        What::Trouble(Reason::Garbled) => ServerError::Unusable(message),
        What::Trouble(_) => ServerError::Away(message),
    })
}

/// Asks, and once more when nobody answers.
///
/// # Errors
/// Those of the last try.
pub(super) async fn twice<T, Asking>(ask: impl Fn() -> Asking + Send) -> Result<T, ServerError>
where
    Asking: Future<Output = Result<T, ServerError>> + Send,
{
    match ask().await {
        Err(ServerError::Away(why)) => {
            tracing::debug!(why, "a server is asked once more");
            sleep(PAUSE).await;
            ask().await
        }
        done => done,
    }
}
