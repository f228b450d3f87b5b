//! The address that a server of ours listens on, as people write it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Reads `127.0.0.1:8080`. `localhost` is read as 127.0.0.1, so that no resolver decides who can reach us.
pub fn read_listen_address(text: &str) -> Option<SocketAddr> {
    match text.strip_prefix("localhost:") {
        Some(port) => Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port.parse().ok()?)),
        None => text.parse().ok(),
    }
}
