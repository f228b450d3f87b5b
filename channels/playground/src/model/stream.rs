//! What both dialects make of a turn: its delays, its stream, its pieces, its tokens.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt as _, stream};
use tokio::sync::Semaphore;

use super::turn::Turn;

/// Waits through the delays in front of a turn.
pub(crate) async fn after_delays(mut turn: Turn) -> Turn {
    while let Turn::Delay { ms, then } = turn {
        tokio::time::sleep(Duration::from_millis(ms)).await;
        turn = *then;
    }
    turn
}

/// A stream of server-sent events that ends as it should.
pub(crate) fn whole_stream(events: String) -> Response {
    ([(CONTENT_TYPE, "text/event-stream")], events).into_response()
}

/// A stream that breaks after these events: the connection closes in the middle.
pub(crate) fn broken_stream(events: String) -> Response {
    let first = stream::once(async { Ok::<_, std::io::Error>(events) });
    let cut = stream::once(async {
        // Lets the events leave before the connection goes.
        tokio::time::sleep(Duration::from_millis(5)).await;
        Err(std::io::Error::other("cut by the script"))
    });
    let body = Body::from_stream(first.chain(cut));
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// A stream whose first events come at once, and each other when the `pace` lets it; without `ends` it breaks.
pub(crate) fn paced_stream(
    events: Vec<String>,
    ends: Option<String>,
    pace: Arc<Semaphore>,
) -> Response {
    let waits = |at: usize, pace: Arc<Semaphore>| async move {
        if at > 0
            && let Ok(permit) = pace.acquire().await
        {
            permit.forget();
        }
    };
    let last = ends.ok_or("cut by the script");
    let all = events.into_iter().map(Ok).chain([last]).enumerate();
    let events = stream::iter(all).then(move |(at, event)| {
        let waits = waits(at, Arc::clone(&pace));
        async move {
            waits.await;
            event.map_err(std::io::Error::other)
        }
    });
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}

/// A stream whose first events come at once, and each other after a pause.
pub(crate) fn dripped_stream(events: Vec<String>, pause: Duration) -> Response {
    let events = stream::iter(events.into_iter().enumerate()).then(move |(at, event)| async move {
        if at > 0 {
            tokio::time::sleep(pause).await;
        }
        Ok::<_, std::io::Error>(event)
    });
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}

/// Splits a text into a few pieces, as models stream them.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    let at = (text.len() / 3..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (first, second) = text.split_at(at);
    [first, second].into_iter().filter(|piece| !piece.is_empty()).collect()
}

/// A rough count of tokens: four bytes each, at least one.
pub(crate) fn tokens(text: &str) -> usize {
    text.len() / 4 + 1
}
