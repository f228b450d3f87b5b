//! The addresses that come with slash commands and taps: a few answers for half an hour, no token.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use chrono::TimeDelta;
use serde_json::{Value, json};

use super::Server;
use super::world::{BOT, Right, Whisper, said};

/// Answers one address takes.
const USES: u32 = 5;
/// How long it takes them.
const LIFE: TimeDelta = TimeDelta::minutes(30);

/// Makes an address for a person in a channel.
pub(super) fn address(server: &Server, channel: &str, user: &str) -> String {
    let mut world = server.world();
    let id = world.next_number();
    let until = (server.now)() + LIFE;
    let right = Right { channel: channel.to_owned(), user: user.to_owned(), left: USES, until };
    world.rights.insert(id, right);
    format!("{}/respond/{id}", server.base)
}

/// `POST /respond/{id}`.
pub(super) async fn respond(
    State(server): State<Arc<Server>>,
    Path(id): Path<u64>,
    Json(body): Json<Value>,
) -> Response {
    let done = take(&server, id, &body);
    server.changed();
    match done {
        Ok(()) => "ok".into_response(),
        Err(word) => {
            let body = Json(json!({ "ok": false, "error": word }));
            (StatusCode::NOT_FOUND, body).into_response()
        }
    }
}

fn take(server: &Server, id: u64, body: &Value) -> Result<(), &'static str> {
    let now = (server.now)();
    let mut world = server.world();
    let right = world.rights.get_mut(&id).ok_or("no_such_url")?;
    if right.until < now {
        return Err("expired_url");
    }
    right.left = right.left.checked_sub(1).ok_or("used_url")?;
    let channel = right.channel.clone();
    let user = right.user.clone();
    let text = body["text"].as_str().filter(|text| !text.trim().is_empty()).ok_or("no_text")?;
    if body["response_type"] == "in_channel" {
        world.post(&channel, said(BOT, text, None), now);
    } else {
        let ts = world.next_ts(now);
        world.whispers.push(Whisper { ts, channel, user, thread: None, text: text.to_owned() });
    }
    Ok(())
}
