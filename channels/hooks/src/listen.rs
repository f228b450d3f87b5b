//! The listener: opened where the config says, served until the end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use selkie_channel_core::server::{Caps, Door as Served};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::receive::Door;

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
    // A service is anybody to a listener: no rule on who asks, the signature is the rule.
    let door = Served { routes: door.routes(), caps: Caps::PUBLIC };
    Ok(door.serve_webhooks(socket, stop))
}
