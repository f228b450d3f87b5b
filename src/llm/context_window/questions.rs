//! Asks a server for the window it has loaded a model with: at the addresses of the servers that tell, in turn.

use std::time::Duration;

use reqwest::{RequestBuilder, StatusCode, Url};
use selkie_channel_core::json;
use serde_json::Value;
use tokio::time::timeout;

use super::answers::{self, Answer};
use crate::settings::Provider;
use crate::wire::Wire;
use crate::{ContextWindow, WindowSource};

/// How long one answer may take.
const LIMIT: Duration = Duration::from_secs(2);
/// More than any list of models.
const LARGEST: usize = 4 * 1024 * 1024;
/// What Ollama gives a model on a machine with little memory (<https://docs.ollama.com/context-length>).
const OLLAMA_DEFAULT: u64 = 4_096;

/// What a server says of its window.
pub(super) enum WindowAnswer {
    /// This is it, for as long as the process lives.
    Known(ContextWindow),
    /// It is likely to be this.
    Likely(ContextWindow),
    /// It may tell later.
    Later,
    /// It tells nothing.
    Nothing,
}

/// A server that tells its window.
#[derive(Clone, Copy)]
enum Kind {
    /// In the list of its models: vLLM, OpenRouter.
    List,
    Llamacpp,
    Lmstudio,
    Ollama,
}

/// What is asked for one profile.
pub(crate) struct Questions {
    wire: Wire,
    model: String,
    provider: Provider,
}

/// Nothing came in time, or the server says that it is not ready.
struct Away;

impl Questions {
    /// Asks the server behind `wire`, which leads to the profile's endpoint.
    pub fn new(wire: Wire, model: &str, provider: Provider) -> Self {
        Self { wire, model: model.to_owned(), provider }
    }

    /// Asks until something is known. A server that does not answer is asked nothing more.
    pub(super) async fn ask(&self) -> WindowAnswer {
        for kind in self.kinds() {
            match self.ask_as(*kind).await {
                Ok(WindowAnswer::Nothing) => {}
                Ok(answer) => return answer,
                Err(Away) => return WindowAnswer::Later,
            }
        }
        WindowAnswer::Nothing
    }

    /// What it may be.
    fn kinds(&self) -> &'static [Kind] {
        match self.provider {
            Provider::Vllm | Provider::Openrouter => &[Kind::List],
            Provider::Llamacpp => &[Kind::Llamacpp],
            Provider::Lmstudio => &[Kind::Lmstudio],
            Provider::Ollama => &[Kind::Ollama],
            _ => &[Kind::List, Kind::Llamacpp, Kind::Lmstudio, Kind::Ollama],
        }
    }

    async fn ask_as(&self, kind: Kind) -> Result<WindowAnswer, Away> {
        let model = &self.model;
        let (path, answer) = match kind {
            Kind::List => {
                let list = self.get(self.at_endpoint("/models")).await?;
                ("/models", answers::of_list(&list, model))
            }
            Kind::Llamacpp => {
                ("/props", answers::of_props(&self.get(self.at_root("/props")).await?))
            }
            Kind::Lmstudio => {
                let list = self.get(self.at_root("/api/v0/models")).await?;
                ("/api/v0/models", answers::of_lmstudio(&list, model))
            }
            Kind::Ollama => {
                let running = self.get(self.at_root("/api/ps")).await?;
                match answers::of_running(&running, model) {
                    Answer::NotLoaded => return self.ask_what_ollama_loads().await,
                    answer => ("/api/ps", answer),
                }
            }
        };
        Ok(match answer {
            Answer::Tokens(tokens) => known(tokens, path),
            Answer::NotLoaded => WindowAnswer::Later,
            Answer::Nothing => WindowAnswer::Nothing,
        })
    }

    /// The window that Ollama will load the model with.
    async fn ask_what_ollama_loads(&self) -> Result<WindowAnswer, Away> {
        let http = &self.wire.http;
        let asked = serde_json::json!({ "model": self.model });
        let shown = self.json(http.post(self.at_root("/api/show")).json(&asked)).await?;
        if let Some(tokens) = answers::of_modelfile(&shown) {
            return Ok(known(tokens, "/api/show"));
        }
        // One that runs in Ollama's cloud has all that it can have.
        if shown["remote_host"].is_string() {
            return Ok(WindowAnswer::Nothing);
        }
        // Others answer at the same addresses.
        let is_ollama = self.provider == Provider::Ollama
            || self.text(http.get(self.at_root("/"))).await?.starts_with("Ollama is running");
        if !is_ollama || !shown["details"].is_object() {
            return Ok(WindowAnswer::Later);
        }
        Ok(WindowAnswer::Likely(ContextWindow {
            tokens: OLLAMA_DEFAULT,
            source: WindowSource::OllamaDefault,
        }))
    }

    fn at_endpoint(&self, path: &str) -> Url {
        let mut url = self.wire.url.clone();
        url.set_path(&format!("{}{path}", url.path().trim_end_matches('/')));
        url
    }

    /// The address before the `/v1` of the endpoint.
    fn at_root(&self, path: &str) -> Url {
        let mut url = self.wire.url.clone();
        let endpoint = url.path().trim_end_matches('/');
        let root = endpoint.strip_suffix("/v1").unwrap_or(endpoint);
        url.set_path(&format!("{root}{path}"));
        url
    }

    async fn get(&self, url: Url) -> Result<Value, Away> {
        self.json(self.wire.http.get(url)).await
    }

    /// What is no JSON tells nothing.
    async fn json(&self, request: RequestBuilder) -> Result<Value, Away> {
        Ok(json::read(&self.text(request).await?).unwrap_or_default())
    }

    /// An answer's text: none where it is refused or too large.
    async fn text(&self, request: RequestBuilder) -> Result<String, Away> {
        let answer = async {
            let sent = request.headers(self.wire.headers.clone()).send().await;
            let mut response = sent.map_err(|_| Away)?;
            let status = response.status();
            if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
                return Err(Away);
            }
            let mut body = Vec::new();
            while let Some(piece) = response.chunk().await.map_err(|_| Away)? {
                body.extend_from_slice(&piece);
                if body.len() > LARGEST {
                    return Ok(String::new());
                }
            }
            let text = String::from_utf8_lossy(&body);
            Ok(if status.is_success() { text.into_owned() } else { String::new() })
        };
        timeout(LIMIT, answer).await.unwrap_or(Err(Away))
    }
}

fn known(tokens: u64, path: &'static str) -> WindowAnswer {
    WindowAnswer::Known(ContextWindow { tokens, source: WindowSource::Server(path) })
}
