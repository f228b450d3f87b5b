//! The control API's calls; every refusal says what to do instead.

use std::sync::{Arc, PoisonError};

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{CHATS, Control, Room};
use crate::model::Turn;
use crate::telegram::{ADA, Fault, FileDraft, FileKind, MessageView};

type Answer<T> = Result<Json<T>, (StatusCode, Json<Value>)>;

/// `GET /api/world`.
pub(crate) async fn world(State(control): State<Arc<Control>>) -> Json<Value> {
    let daemon = control.daemon_url.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let model = control.model_name.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let chats: Vec<Value> = CHATS.iter().map(|room| describe(&control, room)).collect();
    let bot = control.telegram.bot();
    Json(json!({ "daemon": daemon, "model": model, "bot": bot, "chats": chats }))
}

fn describe(control: &Control, room: &Room) -> Value {
    let (title, members) = control.telegram.describe(room.spot.chat).unwrap_or_default();
    let title = if room.kind == "topic" { format!("{title} · Boats") } else { title };
    let key = match room.spot.thread {
        Some(thread) => format!("tg:{}:{thread}", room.spot.chat),
        None => format!("tg:{}", room.spot.chat),
    };
    json!({
        "id": room.id, "platform": "telegram", "kind": room.kind, "title": title, "key": key,
        "members": members, "me": { "id": ADA, "name": "Ada" },
    })
}

/// `GET /api/chats/{id}/messages`.
pub(crate) async fn messages(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
) -> Answer<Vec<MessageView>> {
    Ok(Json(control.telegram.messages(room(&id)?.spot)))
}

/// The body of `say`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Say {
    text: String,
    #[serde(default)]
    reply_to: Option<i64>,
    #[serde(default)]
    from: Option<String>,
}

/// `POST /api/chats/{id}/say`.
pub(crate) async fn say(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
    Json(say): Json<Say>,
) -> Answer<Value> {
    let spot = room(&id)?.spot;
    let user = person(&control, say.from.as_deref())?;
    let text = say.text.trim();
    if text.is_empty() || text.encode_utf16().count() > 4096 {
        return Err(refuse(400, "a person's message has 1 to 4096 characters"));
    }
    let id = match say.reply_to {
        Some(to) => control.telegram.reply(spot, user, to, text),
        None => control.telegram.say(spot, user, text),
    };
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
    let spot = room(&id)?.spot;
    let user = person(&control, query.from.as_deref())?;
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
    message_id: i64,
    text: String,
}

/// `POST /api/chats/{id}/edit`.
pub(crate) async fn edit(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
    Json(edit): Json<Edit>,
) -> Answer<Value> {
    if control.telegram.edit(room(&id)?.spot.chat, edit.message_id, &edit.text) {
        return Ok(Json(json!({ "message_id": edit.message_id })));
    }
    Err(refuse(404, "no message of a person with this id is in this chat"))
}

/// The body of `press`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Press {
    message_id: i64,
    data: String,
    #[serde(default)]
    from: Option<String>,
}

/// `POST /api/chats/{id}/press`: a person, Ada when none is named, presses a button.
pub(crate) async fn press(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
    Json(press): Json<Press>,
) -> Answer<Value> {
    let chat = room(&id)?.spot.chat;
    let user = person(&control, press.from.as_deref())?;
    let id = control.telegram.press(chat, user, press.message_id, &press.data);
    Ok(Json(json!({ "callback_query_id": id })))
}

/// `POST /api/faults`: a [`Fault`]; `chat` may be one of the page's names.
pub(crate) async fn fault(
    State(control): State<Arc<Control>>,
    Json(mut fault): Json<Value>,
) -> Answer<Value> {
    if let Some(id) = fault["chat"].as_str() {
        fault["chat"] = json!(room(id)?.spot.chat);
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
    CHATS.iter().find(|room| room.id == id).ok_or_else(|| {
        let names: Vec<&str> = CHATS.iter().map(|room| room.id).collect();
        refuse(404, &format!("no chat {id}; there are {}", names.join(", ")))
    })
}

fn person(control: &Control, name: Option<&str>) -> Result<i64, (StatusCode, Json<Value>)> {
    let Some(name) = name else { return Ok(ADA) };
    control.telegram.person(name).ok_or_else(|| {
        refuse(404, &format!("nobody here is called {name}; try Ada, Grace or Linus"))
    })
}

fn refuse(status: u16, words: &str) -> (StatusCode, Json<Value>) {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
    (status, Json(json!({ "error": words })))
}
