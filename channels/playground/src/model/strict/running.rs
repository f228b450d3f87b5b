//! What a local server says of the models that it has loaded, as Ollama does (<https://docs.ollama.com/api/ps>).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use crate::model::Model;

/// `GET /api/ps`: the model with its window; nothing is here of servers that others run.
pub(crate) async fn running(State(model): State<Model>) -> Response {
    let known = model.family().and_then(|family| Some((family.model(), family.window()?)));
    let Some((name, window)) = known else { return StatusCode::NOT_FOUND.into_response() };
    let running = json!({ "name": name, "model": name, "context_length": window });
    Json(json!({ "models": [running] })).into_response()
}
