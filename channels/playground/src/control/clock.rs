//! `/api/clock`: what the clock shows, and a step of it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use chrono::SecondsFormat;
use selkie_channel_core::locked;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Control;
use crate::clock::ClockMove;

/// `GET /api/clock`: the zone is null where the clock cannot be moved.
pub(crate) async fn shows(State(control): State<Arc<Control>>) -> Json<Value> {
    let now = (control.now)().to_rfc3339_opts(SecondsFormat::Millis, true);
    let zone = locked(&control.mover).as_ref().map(|mover| mover.zone.clone());
    Json(json!({ "now": now, "zone": zone }))
}

/// The body of a step.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    to: String,
}

/// `POST /api/clock`: goes to the next thing that is due on the way to `to`, and waits until what came of it is done.
pub(crate) async fn step(
    State(control): State<Arc<Control>>,
    Json(step): Json<Step>,
) -> Result<Json<ClockMove>, (StatusCode, Json<Value>)> {
    let refused = |why: String| (StatusCode::BAD_REQUEST, Json(json!({ "error": why })));
    let mover = locked(&control.mover).clone();
    let mover = mover.ok_or_else(|| {
        refused(
            "this clock is the machine's: only the clock of `selkie demo` can be moved".to_owned(),
        )
    })?;
    (mover.step)(step.to).await.map(Json).map_err(refused)
}
