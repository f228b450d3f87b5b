//! The control API's calls; every refusal says what to do instead.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use selkie_channel_core::locked;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Control;
use super::rooms::{self, At, ROOMS, Room};
use crate::faults::Fault;
use crate::model::Turn;
use crate::telegram::{FileDraft, FileKind, Spot};

type Answer<T> = Result<Json<T>, (StatusCode, Json<Value>)>;

/// `GET /api/world`.
pub(crate) async fn world(State(control): State<Arc<Control>>) -> Json<Value> {
    let daemon = locked(&control.daemon_url).clone();
    let model = locked(&control.model_name).clone();
    let chats: Vec<Value> = ROOMS.iter().map(|room| rooms::describe(&control, room)).collect();
    let bot = control.telegram.bot();
    Json(json!({ "daemon": daemon, "model": model, "bot": bot, "chats": chats }))
}

/// `GET /api/chats/{id}/messages`.
pub(crate) async fn messages(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
) -> Answer<Vec<Value>> {
    Ok(Json(rooms::messages(&control, room(&id)?.at)))
}

/// The body of `say`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Say {
    text: String,
    #[serde(default)]
    reply_to: Value,
    #[serde(default)]
    from: Option<String>,
}

/// `POST /api/chats/{id}/say`.
pub(crate) async fn say(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
    Json(say): Json<Say>,
) -> Answer<Value> {
    let at = room(&id)?.at;
    let text = say.text.trim();
    if text.is_empty() || text.encode_utf16().count() > 4096 {
        return Err(refuse(400, "a person's message has 1 to 4096 characters"));
    }
    let said = rooms::say(&control, at, say.from.as_deref(), &say.reply_to, text);
    let id = said.map_err(|words| refuse(404, &words))?;
    Ok(Json(json!({ "message_id": id })))
}

/// The query of `upload`.
#[derive(Deserialize)]
pub(crate) struct UploadQuery {
    name: String,
    #[serde(default)]
    caption: String,
    kind: Option<FileKind>,
    from: Option<String>,
}

/// `POST /api/chats/{id}/upload`, the file as raw body.
pub(crate) async fn upload(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
    Query(query): Query<UploadQuery>,
    body: Bytes,
) -> Answer<Value> {
    let spot = telegram(&id)?;
    let user = person(&control, query.from.as_deref().unwrap_or(At::Telegram(spot).person()))?;
    if body.is_empty() {
        return Err(refuse(400, "the file is empty; send its bytes as the body"));
    }
    let kind = query.kind.unwrap_or(FileKind::Document);
    let file = FileDraft { caption: query.caption, ..FileDraft::new(kind, &query.name, body) };
    Ok(Json(json!({ "message_id": control.telegram.upload(spot, user, file) })))
}

/// The body of `edit`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    message_id: Value,
    text: String,
}

/// `POST /api/chats/{id}/edit`.
pub(crate) async fn edit(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
    Json(edit): Json<Edit>,
) -> Answer<Value> {
    let done = match (room(&id)?.at, edit.message_id.as_i64(), edit.message_id.as_str()) {
        (At::Telegram(spot), Some(id), _) => control.telegram.edit(spot.chat, id, &edit.text),
        (At::Slack(channel), _, Some(ts)) => {
            let there = control.slack.messages(channel);
            let theirs = there.iter().any(|message| message.ts == ts && !message.is_bots());
            if theirs {
                control.slack.edit(channel, ts, &edit.text);
            }
            theirs
        }
        _ => false,
    };
    if done {
        return Ok(Json(json!({ "message_id": edit.message_id })));
    }
    Err(refuse(404, "no message of a person that could be edited has this id in this chat"))
}

/// The body of `press`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Press {
    message_id: Value,
    data: String,
    #[serde(default)]
    from: Option<String>,
}

/// `POST /api/chats/{id}/press`: a person, whoever is usually there when none is named, presses a button.
pub(crate) async fn press(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
    Json(press): Json<Press>,
) -> Answer<Value> {
    let at = room(&id)?.at;
    let from = press.from.as_deref();
    if let (At::Telegram(spot), Some(message)) = (at, press.message_id.as_i64()) {
        let user = person(&control, from.unwrap_or(at.person()))?;
        let id = control.telegram.press(spot.chat, user, message, &press.data);
        return Ok(Json(json!({ "callback_query_id": id })));
    }
    let message = press.message_id.as_str().unwrap_or_default();
    rooms::press(&control, at, from, message, &press.data).map_err(|words| refuse(404, &words))?;
    Ok(Json(json!({ "ok": true })))
}

/// The body of `react`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct React {
    message_id: Value,
    emoji: String,
    #[serde(default)]
    from: Option<String>,
}

/// `POST /api/chats/{id}/react`: a person puts an emoji on a message, or takes theirs away again.
pub(crate) async fn react(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
    Json(react): Json<React>,
) -> Answer<Value> {
    let at = room(&id)?.at;
    let from = react.from.as_deref();
    let done = rooms::react(&control, at, from, &react.message_id, &react.emoji);
    done.map_err(|words| refuse(404, &words))?;
    Ok(Json(json!({ "ok": true })))
}

/// `POST /api/faults`: a [`Fault`]; `chat` may be one of the page's names.
pub(crate) async fn fault(
    State(control): State<Arc<Control>>,
    Json(mut fault): Json<Value>,
) -> Answer<Value> {
    if let Some(id) = fault["chat"].as_str() {
        fault["chat"] = json!(telegram(id)?.chat);
    }
    let fault: Fault = serde_json::from_value(fault)
        .map_err(|error| refuse(400, &format!("this is no fault: {error}")))?;
    control.telegram.fault(fault);
    Ok(Json(json!({ "ok": true })))
}

/// `DELETE /api/faults`.
pub(crate) async fn clear_faults(State(control): State<Arc<Control>>) -> Json<Value> {
    control.telegram.clear_faults();
    Json(json!({ "ok": true }))
}

/// `POST /api/model/script`: more turns for the model.
pub(crate) async fn script(
    State(control): State<Arc<Control>>,
    Json(turns): Json<Vec<Turn>>,
) -> Json<Value> {
    let count = turns.len();
    control.model.script(turns);
    Json(json!({ "turns": count }))
}

/// `GET /api/files/{id}`.
pub(crate) async fn file(State(control): State<Arc<Control>>, Path(id): Path<String>) -> Response {
    let Some((name, bytes)) = control.telegram.file(&id) else {
        return refuse(404, "no such file").into_response();
    };
    let kind = crate::telegram::mime(&name);
    // Only pictures and sound are shown in place: nothing a person uploaded may run in the page.
    if kind.starts_with("image/") || kind.starts_with("audio/") {
        return ([(CONTENT_TYPE, kind)], bytes).into_response();
    }
    let headers = [(CONTENT_TYPE, "application/octet-stream"), (CONTENT_DISPOSITION, "attachment")];
    (headers, bytes).into_response()
}

fn room(id: &str) -> Result<&'static Room, (StatusCode, Json<Value>)> {
    ROOMS.iter().find(|room| room.id == id).ok_or_else(|| {
        let names: Vec<&str> = ROOMS.iter().map(|room| room.id).collect();
        refuse(404, &format!("no chat {id}; there are {}", names.join(", ")))
    })
}

/// A chat of the one platform on which this can be done here.
fn telegram(id: &str) -> Result<Spot, (StatusCode, Json<Value>)> {
    match room(id)?.at {
        At::Telegram(spot) => Ok(spot),
        _ => Err(refuse(400, &format!("this is for Telegram's chats; {id} is none"))),
    }
}

fn person(control: &Control, name: &str) -> Result<i64, (StatusCode, Json<Value>)> {
    control.telegram.person(name).ok_or_else(|| {
        refuse(404, &format!("nobody here is called {name}; try Ada, Grace or Linus"))
    })
}

fn refuse(status: u16, words: &str) -> (StatusCode, Json<Value>) {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
    (status, Json(json!({ "error": words })))
}
