//! The door of every listener of ours: who may come in ([`Wall`]), and what a client may take ([`Caps`]).
//!
//! A listener on loopback is reached by every page that a browser on this machine shows, and one on the
//! internet by everybody: neither may hold the daemon's connections, nor be obeyed without being meant.

mod listen_address;
mod origin_check;
mod patient;
mod seats;
mod serve;
mod timed;
mod whole_body;

#[cfg(test)]
mod tests;

use std::time::Duration;

pub use listen_address::read_listen_address;
pub use origin_check::{Refusal, Wall, guard};
pub use seats::Client;
pub use serve::{ConnectionInfo, Door};
pub use whole_body::{MAX_WEBHOOK, whole_body};

/// What the clients of one listener may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Open connections. At the most, the oldest that owes a whole request makes room for the next.
    pub connections: usize,
    /// Open connections of one address of another machine. On this one a proxy may speak for everybody.
    pub share: usize,
    /// How long a connection may be open without a whole request head: idle, or with one that trickles.
    pub head: Duration,
    /// How long a request's body may take from its head to its end.
    pub body: Duration,
    /// How long a client may leave what is written to it unread.
    pub unread: Duration,
    /// Bytes of a request's head.
    pub head_bytes: usize,
}

impl Caps {
    /// For a listener that everybody can reach.
    pub const PUBLIC: Self = Self {
        connections: 128,
        share: 32,
        head: Duration::from_secs(60),
        body: Duration::from_secs(20),
        unread: Duration::from_secs(20),
        head_bytes: 16 * 1024,
    };
    /// For a listener of this machine.
    pub const LOCAL: Self = Self {
        connections: 64,
        share: 32,
        head: Duration::from_secs(30),
        body: Duration::from_secs(60),
        unread: Duration::from_secs(60),
        head_bytes: 16 * 1024,
    };
}
