//! Serves routes to the clients of one listener, within its caps.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::Extensions;
use axum::serve::{Listener, ListenerExt as _};
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Caps;
use super::patient::Patient;
use super::seats::{Busy, Client, Seat, Seats};
use super::timed::{InTime, SeatedBody};

/// Headers of one request.
const MAX_HEADERS: usize = 100;

/// What a handler is told of the connection that its request came by.
pub trait ConnectionInfo {
    /// Puts it into the request's extensions.
    fn enter(&self, extensions: &mut Extensions);
}

impl ConnectionInfo for () {
    fn enter(&self, _: &mut Extensions) {}
}

/// How long webhooks in flight may take when the daemon stops.
const GRACE: Duration = Duration::from_secs(5);

/// A listener's door: its routes and its caps.
pub struct Door {
    /// What is served.
    pub routes: Router,
    /// What clients may take.
    pub caps: Caps,
}

impl Door {
    /// Serves until `stop`, and then what was asked before it to its end.
    pub async fn serve<L>(self, listener: L, stop: CancellationToken)
    where
        L: Listener,
        L::Addr: Client,
    {
        self.serve_with(listener, |_| (), stop).await;
    }

    /// Serves webhooks until `stop`, and then for a few seconds those that are in flight.
    pub async fn serve_webhooks(self, socket: TcpListener, stop: CancellationToken) {
        let socket = socket.tap_io(|stream| {
            // Small answers must not wait for more; without it they are merely slower.
            stream.set_nodelay(true).ok();
        });
        let grace = async {
            stop.cancelled().await;
            sleep(GRACE).await;
        };
        tokio::select! {
            () = self.serve(socket, stop.clone()) => {}
            () = grace => tracing::warn!("webhooks in flight were left behind"),
        }
    }

    /// Serves as [`Door::serve`], telling handlers what `of` says of their connection.
    pub async fn serve_with<L, E>(
        self,
        mut listener: L,
        of: impl Fn(&L::Io) -> E,
        stop: CancellationToken,
    ) where
        L: Listener,
        L::Addr: Client,
        E: ConnectionInfo + Send + Sync + 'static,
    {
        let seats = Seats::new(self.caps.connections, self.caps.share);
        let open = TaskTracker::new();
        while let Some((io, from)) = stop.run_until_cancelled(listener.accept()).await {
            let seat = stop.run_until_cancelled(seats.take(from.counted())).await;
            let Some(seat) = seat else { break };
            // Whoever has its share is hung up on.
            let Some(seat) = seat else { continue };
            let entering = of(&io);
            let guest =
                Guest { seat: Arc::new(seat), entering: Arc::new(entering), caps: self.caps };
            open.spawn(guest.served(io, self.routes.clone(), stop.clone()));
        }
        drop(listener);
        open.close();
        open.wait().await;
    }
}

/// One connection.
struct Guest<E> {
    seat: Arc<Seat>,
    entering: Arc<E>,
    caps: Caps,
}

impl<E: ConnectionInfo + Send + Sync + 'static> Guest<E> {
    async fn served<I>(self, io: I, routes: Router, stop: CancellationToken)
    where
        I: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    {
        let Self { seat, entering, caps } = self;
        let leave = seat.leave.clone();
        let routes = TowerToHyperService::new(routes.into_service::<Body>());
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let busy = Arc::new(seat.busy());
            let in_time = |body| Body::new(InTime::new(body, caps.body, &busy));
            let mut request: Request = request.map(in_time);
            entering.enter(request.extensions_mut());
            let answer = routes.call(request);
            async move { Ok::<_, std::convert::Infallible>(seated(answer.await, busy)) }
        });
        let mut builder = Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(caps.head)
            .max_headers(MAX_HEADERS)
            .max_buf_size(caps.head_bytes.max(8192));
        let io = TokioIo::new(Patient::new(io, caps.unread));
        let mut connection = pin!(builder.serve_connection(io, service).with_upgrades());
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            // Its seat is for another: nothing is being answered on it.
            () = leave.cancelled() => return,
            () = stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended");
        }
    }
}

fn seated(
    answer: Result<axum::response::Response, std::convert::Infallible>,
    busy: Arc<Busy>,
) -> axum::response::Response {
    let Ok(answer) = answer;
    // It is answered, whatever is left of its body.
    busy.whole();
    answer.map(|body| Body::new(SeatedBody::new(body, busy)))
}
