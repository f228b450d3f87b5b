//! What an adapter knows of the profile it serves, and the error for a deadline that has passed.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{AskError, Card, ModelError, Reason, Request, dialect};
use selkie_domain::effort::Effort;
use selkie_domain::own_form::OwnForm;
use selkie_domain::span::Span;

/// A profile as every adapter takes it, with all defaults filled in.
#[derive(Clone)]
pub(super) struct Profile {
    /// What callers must know.
    pub card: Card,
    /// Its name in config.
    pub name: String,
    /// Where it stands in config: `llm.profiles.fast`, or `llm` in the short form.
    pub at: String,
    /// The model's name at its provider.
    pub model: String,
    /// Names the provider's address and the model, without a secret of either.
    pub origin: Arc<str>,
    /// How hard it thinks where nobody says.
    pub effort: Option<Effort>,
    /// The profile's own limit of tokens written.
    pub max_output: Option<u32>,
}

impl Profile {
    /// Who answers, for people: `name/model`.
    pub fn by(&self) -> String {
        format!("{}/{}", self.name, self.model)
    }

    /// Names where it asks.
    pub fn asks_at(self, url: &Url) -> Self {
        let address = (url.scheme(), url.host_str(), url.port_or_known_default(), url.path());
        let digest = Sha256::digest(format!("{address:?} {}", self.model));
        let origin =
            digest.iter().take(8).fold(String::new(), |all, byte| format!("{all}{byte:02x}"));
        Self { origin: origin.into(), ..self }
    }

    /// An answer in the provider's own form, as it is kept: not where it is larger than a task may keep.
    pub fn own(&self, form: Value) -> Option<OwnForm> {
        let json = dialect::is_readable(&form).then(|| form.to_string())?;
        let fits = json.len() <= OwnForm::MAX;
        fits.then(|| OwnForm { origin: Arc::clone(&self.origin), json: json.into() })
    }

    /// What this provider has written in its own form, and nobody else.
    pub fn read_own(&self, own: Option<&OwnForm>) -> Option<Value> {
        let own = own.filter(|own| own.origin == self.origin)?;
        serde_json::from_str(&own.json).ok()
    }

    /// How hard it is to think.
    pub fn effort(&self, request: &Request) -> Option<Effort> {
        request.effort.or(self.effort)
    }

    /// How many tokens of answer are asked for.
    pub fn most(&self, request: &Request) -> u32 {
        self.max_output.map_or(request.max_output, |most| most.min(request.max_output))
    }
}

/// Says that the deadline has passed.
pub(super) fn too_late(deadline: Duration) -> AskError {
    let why = format!("no answer within {}", Span(deadline));
    ModelError::Transient { why, reason: Reason::Silent, retry_after: None }.into()
}
