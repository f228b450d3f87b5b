//! What happens, as server-sent events: one event per happening, in order.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event as SseEvent, KeepAlive};
use axum::response::{IntoResponse as _, Sse};
use axum::routing::get;
use futures_util::{Stream, StreamExt};
use selkie_channel_core::ConversationId;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::wrappers::errors::BroadcastStreamRecvError;
use tokio_util::sync::CancellationToken;

use super::Console;
use super::answer::Fault;
use selkie_domain::event::Event;

/// Listeners at once: half of the connections, so that questions are always answered.
const LISTENERS: usize = 32;

/// Returns the route that does not end before its listener or `stop` does.
pub(super) fn routes(stop: CancellationToken) -> Router<Arc<Console>> {
    let seats = Arc::new(Semaphore::new(LISTENERS));
    let listen = async move |console| match seats.try_acquire_owned() {
        Ok(seat) => events(console, stop, seat).await.into_response(),
        Err(_) => {
            let why = format!("{LISTENERS} listen to events already: end one of them first");
            Fault::new(StatusCode::SERVICE_UNAVAILABLE, why).into_response()
        }
    };
    Router::new().route("/v1/events", get(listen))
}

/// What a listener hears: a happening beside its conversation's key, or that some were missed.
#[derive(Serialize)]
#[serde(untagged)]
enum LiveMessage {
    Happened {
        #[serde(skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        #[serde(flatten)]
        happening: Event,
    },
    Missed {
        happening: &'static str,
        count: u64,
    },
}

async fn events(
    State(console): State<Arc<Console>>,
    stop: CancellationToken,
    seat: OwnedSemaphorePermit,
) -> Sse<impl Stream<Item = Result<SseEvent, Infallible>>> {
    let stream = BroadcastStream::new(console.events.listen()).map(told);
    // A server that stops waits for its connections: an endless one must end by itself.
    let events = stream.take_until(stop.cancelled_owned()).map(move |told| {
        let _seat = &seat;
        Ok(event(&told))
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}

fn told(heard: Result<Event, BroadcastStreamRecvError>) -> LiveMessage {
    match heard {
        Ok(happening) => {
            let key = conversation(&happening).map(|c| c.key().to_owned());
            LiveMessage::Happened { key, happening }
        }
        Err(BroadcastStreamRecvError::Lagged(count)) => {
            LiveMessage::Missed { happening: "missed", count }
        }
    }
}

fn event(told: &LiveMessage) -> SseEvent {
    // Plain data always becomes JSON; should it not, the listener is told to look for itself.
    SseEvent::default()
        .json_data(told)
        .unwrap_or_else(|_| SseEvent::default().data(r#"{"happening":"missed","count":1}"#))
}

fn conversation(happening: &Event) -> Option<&ConversationId> {
    match happening {
        Event::Received { conversation, .. }
        | Event::Started { conversation, .. }
        | Event::Asked { conversation, .. }
        | Event::Called { conversation, .. }
        | Event::Answered { conversation, .. }
        | Event::Planned { conversation, .. }
        | Event::Doing { conversation, .. }
        | Event::Ended { conversation, .. }
        | Event::Delivered { conversation, .. } => Some(conversation),
        Event::Wrote { .. } | Event::Again { .. } => None,
    }
}
