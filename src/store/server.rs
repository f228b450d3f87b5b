//! A server that connections are encrypted to.

use std::net::IpAddr;

/// A server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The name that its certificate has to hold.
    pub name: String,
    /// Where it is, where that is not for the name to say.
    pub address: Option<IpAddr>,
    /// The port.
    pub port: u16,
}
