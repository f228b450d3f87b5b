//! `/api/events`: what happens, as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::StreamExt;
use serde_json::json;
use tokio_stream::wrappers::BroadcastStream;

use super::{CHATS, Control};
use crate::telegram;

/// Streams events of the page's chats; a lagging page reads the chats again by itself.
pub(crate) async fn events(State(control): State<Arc<Control>>) -> impl IntoResponse {
    let stop = control.stop.clone();
    let events = BroadcastStream::new(control.telegram.subscribe())
        .filter_map(async |event| event.ok().and_then(|event| describe(&event)))
        .map(|text| Ok::<_, Infallible>(Event::default().data(text)))
        .take_until(stop.cancelled_owned());
    Sse::new(events).keep_alive(KeepAlive::default())
}

fn describe(event: &telegram::Event) -> Option<String> {
    let room = CHATS.iter().find(|r| (r.spot.chat, r.spot.thread) == (event.chat, event.thread))?;
    let body = json!({
        "kind": event.kind, "chat": room.id, "message": event.message, "text": event.text,
    });
    Some(body.to_string())
}
