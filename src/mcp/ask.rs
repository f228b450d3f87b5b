//! One request to a server, before it has a number.

use std::sync::Arc;

use reqwest::header::HeaderMap;
use selkie_tools::ports::Progress;
use serde_json::{Map, Value, json};

/// The version of the protocol in which every request speaks for itself.
pub(crate) const MODERN: &str = "2026-07-28";
/// The versions with a handshake, the newest first.
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// How the protocol's own keys begin.
const OWN: &str = "io.modelcontextprotocol";

/// How a server is spoken with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Every request says what it has to; there is no handshake and no session.
    Modern,
    /// After a handshake that came to this version.
    Legacy(&'static str),
}

impl Era {
    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::Modern => MODERN,
            Self::Legacy(version) => version,
        }
    }
}

pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) params: Map<String, Value>,
    /// What stands in headers, too, where there are headers.
    pub(crate) headers: HeaderMap,
    /// Whom to tell how far it is.
    pub(crate) progress: Option<Arc<dyn Progress>>,
}

impl Ask {
    pub(crate) fn new(method: &'static str, params: Value) -> Self {
        let params = match params {
            Value::Object(params) => params,
            _ => Map::new(),
        };
        Self { method, params, headers: HeaderMap::new(), progress: None }
    }

    /// Whether the server is told when nobody waits any more.
    pub(crate) fn can_be_called_off(&self) -> bool {
        !matches!(self.method, "initialize" | "server/discover")
    }

    /// Returns its parameters with what the era wants in them, as the request of this number.
    pub(crate) fn params(&self, era: Era, id: u64) -> Value {
        let mut params = self.params.clone();
        let mut meta = Map::new();
        if self.progress.is_some() {
            meta.insert("progressToken".to_owned(), json!(id));
        }
        if era == Era::Modern {
            meta.insert(format!("{OWN}/protocolVersion"), json!(MODERN));
            meta.insert(format!("{OWN}/clientInfo"), client_info());
            meta.insert(
                format!("{OWN}/clientCapabilities"),
                json!({ "elicitation": { "form": {}, "url": {} } }),
            );
        }
        if !meta.is_empty() {
            params.insert("_meta".to_owned(), Value::Object(meta));
        }
        Value::Object(params)
    }
}

pub(crate) fn client_info() -> Value {
    json!({ "name": "selkie", "version": env!("CARGO_PKG_VERSION") })
}
