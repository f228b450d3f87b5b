//! The open sockets of Socket Mode, and what they carry.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tokio::sync::mpsc;

/// The sockets and what they carry.
#[derive(Default)]
pub(super) struct Sockets {
    pub(super) tickets: BTreeSet<u64>,
    pub(super) open: BTreeMap<u64, mpsc::UnboundedSender<Order>>,
    pub(super) next: u64,
    /// The most that were ever open at once.
    pub(super) most: usize,
    /// Envelopes nobody has acknowledged.
    pub(super) waiting: BTreeMap<String, Envelope>,
    /// Envelopes that were acknowledged.
    pub(super) acknowledged: u64,
}

/// What a socket is told to do.
pub(super) enum Order {
    Send(Value),
    Close,
}

/// An event on its way.
#[derive(Clone)]
pub(super) struct Envelope {
    pub(super) frame: Value,
    pub(super) sent: u32,
}

impl Sockets {
    /// How many are open.
    pub(super) fn count(&self) -> usize {
        self.open.len()
    }

    /// Tells every socket that it will be closed.
    pub(super) fn disconnect(&self, reason: &str) {
        for line in self.open.values() {
            let frame = json!({ "type": "disconnect", "reason": reason, "debug_info": {} });
            line.send(Order::Send(frame)).ok();
        }
    }

    /// Closes every socket without a word.
    pub(super) fn cut(&self) {
        self.open.values().for_each(|line| drop(line.send(Order::Close)));
    }
}
