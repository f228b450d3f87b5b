//! The webhook sender: one event after the other, and again while it is not taken.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::demo::BOT;
use super::{Server, knock};

const FIRST_PAUSE: Duration = Duration::from_millis(20);
const MAX_PAUSE: Duration = Duration::from_millis(500);

/// Sends what comes, until the stop.
pub(crate) async fn run(
    server: Arc<Server>,
    mut events: mpsc::UnboundedReceiver<Value>,
    stop: CancellationToken,
) {
    let send = async {
        while let Some(event) = events.recv().await {
            send(&server, event).await;
            server.pending.fetch_sub(1, Ordering::Relaxed);
        }
    };
    tokio::select! {
        () = send => {}
        () = stop.cancelled() => {}
    }
}

async fn send(server: &Server, mut event: Value) {
    let mut pause = FIRST_PAUSE;
    loop {
        let (webhook, redelivers) = {
            let world = server.world();
            (world.webhook.clone(), world.redelivers)
        };
        let Some(webhook) = webhook else { return };
        let body = body(&[event.clone()]);
        let signature = knock::sign(&body);
        match knock::request("POST", &webhook, &body, Some(&signature)).await {
            Ok(200) => return,
            Ok(status) => tracing::debug!(status, "the webhook did not take an event"),
            Err(error) => tracing::debug!(%error, "the webhook cannot be reached"),
        }
        if !redelivers {
            return;
        }
        event["deliveryContext"]["isRedelivery"] = json!(true);
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

/// The body of a webhook.
pub(super) fn body(events: &[Value]) -> Vec<u8> {
    json!({ "destination": BOT, "events": events }).to_string().into_bytes()
}
