//! `/api/events`: what happens, as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio_stream::wrappers::{BroadcastStream, WatchStream};

use super::Control;
use super::rooms::{At, ROOMS};
use crate::telegram::{self, Spot};

/// Streams events of the page's chats; a lagging page reads the chats again by itself.
pub(crate) async fn events(State(control): State<Arc<Control>>) -> impl IntoResponse {
    let stop = control.stop.clone();
    let telegram = BroadcastStream::new(control.telegram.subscribe())
        .filter_map(async |event| event.ok().and_then(|event| describe(&event)));
    let changes = [
        (control.slack.changes(), "slack"),
        (control.line.changes(), "line"),
        (control.x.changes(), "x"),
    ];
    let others = changes.map(|(changes, platform)| {
        let every = WatchStream::from_changes(changes);
        every.flat_map(move |_| stream::iter(something_in(platform))).boxed()
    });
    let events = stream::select(telegram, stream::select_all(others))
        .map(|text| Ok::<_, Infallible>(Event::default().data(text)))
        .take_until(stop.cancelled_owned());
    Sse::new(events).keep_alive(KeepAlive::default())
}

/// Where the platform tells only that something changed, the page reads all its chats of it.
fn something_in(platform: &str) -> Vec<String> {
    let of = |id: &str| id.split(':').next() == Some(platform);
    let rooms = ROOMS.iter().filter(|room| of(room.id));
    rooms.map(|r| json!({ "kind": "message", "chat": r.id, "message": null }).to_string()).collect()
}

fn describe(event: &telegram::Event) -> Option<String> {
    let spot = Spot { chat: event.chat, thread: event.thread };
    let room = ROOMS.iter().find(|room| room.at == At::Telegram(spot))?;
    let body = json!({
        "kind": event.kind, "chat": room.id, "message": event.message, "text": event.text,
    });
    Some(body.to_string())
}
