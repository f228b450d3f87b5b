//! The listener: opened where the config says, served until the end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::ListenerExt as _;
use selkie_channel_core::server::{Caps, Door as Served};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::receive::Door;

/// How long calls in flight may take when the daemon stops.
const GRACE: Duration = Duration::from_secs(5);

/// Opens an address; what is returned serves until `stop`.
///
/// # Errors
/// When the system refuses the address.
pub async fn listen(
    address: SocketAddr,
    door: &Arc<Door>,
    stop: CancellationToken,
) -> io::Result<impl Future<Output = ()> + Send + use<>> {
    let socket = TcpListener::bind(address).await?;
    let at = socket.local_addr().unwrap_or(address);
    tracing::info!(listen = %at, "webhooks are taken");
    let socket = socket.tap_io(|stream| {
        // Small answers must not wait for more; without it they are merely slower.
        stream.set_nodelay(true).ok();
    });
    // A service is anybody to a listener: no rule on who asks, the signature is the rule.
    let served = Served { routes: door.routes(), caps: Caps::PUBLIC }.serve(socket, stop.clone());
    Ok(async move {
        let grace = async {
            stop.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            () = served => {}
            () = grace => tracing::warn!("webhooks in flight were left behind"),
        }
    })
}
