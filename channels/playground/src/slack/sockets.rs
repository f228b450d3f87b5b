//! Socket Mode: tickets, envelopes to any one socket, acknowledgements, and sending again without one.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE};
use axum::http::{Response, StatusCode};
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use selkie_channel_core::locked;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::Server;
use super::lines::{Envelope, Order};

/// Slack's own limit.
const MAX: usize = 10;
/// How often an event is sent without being acknowledged.
const ATTEMPTS: u32 = 4;

/// Makes the address of one socket; it can be used once.
pub(super) fn ticket(server: &Server) -> String {
    let mut sockets = server.sockets();
    sockets.next += 1;
    let ticket = sockets.next;
    sockets.tickets.insert(ticket);
    format!("{}/ws/{ticket}", server.base.replacen("http", "ws", 1))
}

/// `GET /ws/{ticket}`.
pub(super) async fn upgrade(
    State(server): State<Arc<Server>>,
    Path(ticket): Path<u64>,
    mut request: Request,
) -> Response<Body> {
    let known = {
        let mut sockets = server.sockets();
        sockets.open.len() < MAX && sockets.tickets.remove(&ticket)
    };
    let key = request.headers().get(SEC_WEBSOCKET_KEY).cloned();
    let Some(key) = key.filter(|_| known) else { return answer(StatusCode::NOT_FOUND, None) };
    let upgrade = hyper::upgrade::on(&mut request);
    let tasks = server.tasks.clone();
    tasks.spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            let io = TokioIo::new(upgraded);
            serve(&server, WebSocketStream::from_raw_socket(io, Role::Server, None).await).await;
        }
    });
    answer(StatusCode::SWITCHING_PROTOCOLS, Some(derive_accept_key(key.as_bytes())))
}

fn answer(status: StatusCode, accept: Option<String>) -> Response<Body> {
    let mut response = Response::builder().status(status);
    if let Some(accept) = accept {
        response = response
            .header(CONNECTION, "Upgrade")
            .header(UPGRADE, "websocket")
            .header(SEC_WEBSOCKET_ACCEPT, accept);
    }
    // Three known headers and a number: this cannot fail, and an empty answer is one too.
    response.body(Body::empty()).unwrap_or_default()
}

async fn serve(server: &Arc<Server>, mut stream: WebSocketStream<TokioIo<Upgraded>>) {
    let (out, mut orders) = mpsc::unbounded_channel();
    let (id, count) = {
        let mut sockets = server.sockets();
        sockets.next += 1;
        let id = sockets.next;
        sockets.open.insert(id, out);
        sockets.most = sockets.most.max(sockets.open.len());
        (id, sockets.open.len())
    };
    let hello = json!({ "type": "hello", "num_connections": count });
    if stream.send(Message::text(hello.to_string())).await.is_ok() {
        server.changed();
        catch_up(server);
        loop {
            tokio::select! {
                () = server.stop.cancelled() => break,
                order = orders.recv() => match order {
                    Some(Order::Send(frame)) => {
                        if stream.send(Message::text(frame.to_string())).await.is_err() {
                            break;
                        }
                    }
                    Some(Order::Close) | None => break,
                },
                message = stream.next() => match message {
                    Some(Ok(Message::Text(text))) => acknowledge(server, text.as_str()),
                    Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                    Some(Ok(_)) => {}
                },
            }
        }
    }
    server.sockets().open.remove(&id);
    server.changed();
    drop(stream.close(None).await);
}

fn acknowledge(server: &Server, text: &str) {
    let answer: Value = serde_json::from_str(text).unwrap_or_default();
    let id = answer["envelope_id"].as_str().unwrap_or_default();
    let mut sockets = server.sockets();
    if sockets.waiting.remove(id).is_some() {
        sockets.acknowledged += 1;
    }
    drop(sockets);
    server.changed();
}

/// Sends an event to any one socket, and again while nobody acknowledges it.
pub(super) fn deliver(server: &Arc<Server>, kind: &str, payload: Value) {
    let id = format!("env-{}", server.world().next_number());
    let frame = json!({
        "envelope_id": id, "type": kind, "payload": payload, "accepts_response_payload": false,
        "retry_attempt": 0, "retry_reason": "",
    });
    server.sockets().waiting.insert(id.clone(), Envelope { frame, sent: 0 });
    send(server, &id);
}

/// What waited for a socket, or went into one that was dying, goes out.
fn catch_up(server: &Arc<Server>) {
    let waiting: Vec<String> = server.sockets().waiting.keys().cloned().collect();
    waiting.iter().for_each(|id| send(server, id));
}

fn send(server: &Arc<Server>, id: &str) {
    let mut sockets = server.sockets();
    // Any one of them: they take turns.
    sockets.next += 1;
    let turn = usize::try_from(sockets.next).unwrap_or_default();
    let lines = sockets.open.len().max(1);
    let Some(line) = sockets.open.values().nth(turn % lines).cloned() else { return };
    let Some(envelope) = sockets.waiting.get_mut(id) else { return };
    if envelope.sent >= ATTEMPTS {
        return;
    }
    if envelope.sent > 0 {
        envelope.frame["retry_attempt"] = json!(envelope.sent);
        envelope.frame["retry_reason"] = json!("timeout");
    }
    envelope.sent += 1;
    let frame = envelope.frame.clone();
    drop(sockets);
    line.send(Order::Send(frame)).ok();
    let server = Arc::clone(server);
    let id = id.to_owned();
    let after = *locked(&server.redeliver_after);
    let tasks = server.tasks.clone();
    tasks.spawn(async move {
        tokio::select! {
            () = tokio::time::sleep(after) => send(&server, &id),
            () = server.stop.cancelled() => {}
        }
    });
}
