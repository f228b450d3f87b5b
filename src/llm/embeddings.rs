//! What texts mean, asked of a server that speaks OpenAI's `/embeddings`.

mod answer;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use selkie_channel_core::{Problem, Redactor};
use serde::Serialize;
use tokio::time::timeout;

use crate::build::HttpFactory;
use crate::model_server::ModelAtServer;
use crate::refusal::{ProviderRefusal, What};
use crate::settings::EmbeddingSettings;
use selkie_domain::clock::SharedClock;
use selkie_domain::span::Span;
use selkie_domain::vector::UnitVector;

/// The most bytes of an answer: 64 vectors of 4,096 numbers fit.
const LARGEST: usize = 8 * 1024 * 1024;

/// Tells what texts mean.
#[async_trait]
pub trait Embeddings: Send + Sync {
    /// Returns the model's name: vectors of another one cannot be compared.
    fn model(&self) -> &str;

    /// Asks once for all of these texts, and waits so long at most; the vectors come in their order, all of one width.
    async fn embed(
        &self,
        texts: &[String],
        limit: Duration,
    ) -> Result<Vec<UnitVector>, NotEmbedded>;

    /// How long a request may take that nobody waits for.
    fn patience(&self) -> Duration;
}

/// Why there are no vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotEmbedded {
    /// In words.
    pub why: String,
    /// What the server asks to wait.
    pub retry_after: Option<Duration>,
    /// It refuses what was sent: other texts may do.
    pub refuses_text: bool,
}

/// Builds what the settings say; nothing while it is off.
///
/// # Errors
/// Everything that is wrong with the settings; keys are inside the section.
pub fn embeddings(
    settings: &EmbeddingSettings,
    http: &HttpFactory,
    redactor: &Redactor,
    clock: &SharedClock,
) -> Result<Option<Arc<dyn Embeddings>>, Vec<Problem>> {
    let Some(at) = ModelAtServer::build(settings, http, redactor, clock)? else { return Ok(None) };
    let server = Server { at, patience: settings.timeout.0 };
    Ok(Some(Arc::new(server)))
}

/// A server of embeddings.
struct Server {
    at: ModelAtServer,
    patience: Duration,
}

/// What is asked.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [String],
}

#[async_trait]
impl Embeddings for Server {
    fn model(&self) -> &str {
        &self.at.model
    }

    async fn embed(
        &self,
        texts: &[String],
        limit: Duration,
    ) -> Result<Vec<UnitVector>, NotEmbedded> {
        let body = Body { model: &self.at.model, input: texts };
        let asked = timeout(limit, self.at.wire.post_for_bytes(&body, LARGEST)).await;
        let bytes = match asked {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(refused)) => return Err(not_embedded(refused)),
            Err(_) => return Err(unusable(format!("no answer within {}", Span(limit)))),
        };
        answer::read(&bytes, texts.len()).map_err(|why| {
            unusable(self.at.wire.redactor.clean(&format!("the answer cannot be used: {why}")))
        })
    }

    fn patience(&self) -> Duration {
        self.patience
    }
}

fn unusable(why: String) -> NotEmbedded {
    NotEmbedded { why, retry_after: None, refuses_text: false }
}

fn not_embedded(refused: ProviderRefusal) -> NotEmbedded {
    let ProviderRefusal { what, message, retry_after, .. } = refused;
    let refuses_text = matches!(what, What::Status(400 | 413 | 422));
    let why = match what {
        What::Status(status) => format!("it answers {status}: {message}"),
        What::Trouble(_) => message,
    };
    NotEmbedded { why, retry_after, refuses_text }
}
