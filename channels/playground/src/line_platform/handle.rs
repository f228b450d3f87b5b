//! The handle of the emulated LINE: settings, faults, and single webhooks by hand.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use super::port::ReservedPort;
use super::{Server, knock, sender};
use crate::faults::Fault;

/// Plays the people of the emulated LINE and looks at what the bot does.
#[derive(Clone)]
pub struct LinePlatform {
    pub(super) server: Arc<Server>,
}

impl LinePlatform {
    pub(crate) fn new(server: Arc<Server>) -> Self {
        Self { server }
    }

    /// Says where events are sent, `http://127.0.0.1:<port>/<path>`. Without one they are lost.
    pub fn set_webhook(&self, url: &str) {
        self.server.world().webhook = Some(url.to_owned());
    }

    /// Sends events to a port that is kept for the daemon's webhook as long as the platform lives; returns where.
    ///
    /// # Errors
    /// When no port is free.
    pub fn keep_webhook(&self) -> io::Result<SocketAddr> {
        let kept = ReservedPort::new()?;
        let address = kept.address;
        let mut world = self.server.world();
        world.webhook = Some(format!("http://{address}/line/webhook"));
        world.kept = Some(kept);
        Ok(address)
    }

    /// Whether events that were not taken are sent again (on at first; LINE's own default is off).
    pub fn set_redelivery(&self, on: bool) {
        self.server.world().redelivers = on;
    }

    /// Sets the month's limit and what is used of it.
    pub fn set_quota(&self, limit: Option<u64>, used: u64) {
        let mut world = self.server.world();
        (world.limit, world.used) = (limit, used);
    }

    /// What the pushes have cost.
    pub fn used(&self) -> u64 {
        self.server.world().used
    }

    /// Makes every reply token too old.
    pub fn expire_tokens(&self) {
        let now = self.server.now();
        self.server.world().tokens.values_mut().for_each(|token| token.until = now);
    }

    /// Lets events arrive so long after they happened; what is left of their tokens' minute is shorter by
    /// it.
    pub fn set_lateness(&self, late: Duration) {
        let late = chrono::TimeDelta::from_std(late).unwrap_or_default();
        self.server.world().lateness = late;
    }

    /// Plans a fault; methods are named as in [`super::LineCall`].
    pub fn fault(&self, fault: Fault) {
        self.server.faults.add(fault);
    }

    /// Forgets every planned fault.
    pub fn clear_faults(&self) {
        self.server.faults.clear();
    }

    /// How many events the webhook has not taken.
    pub fn pending_events(&self) -> usize {
        self.server.pending.load(Ordering::Relaxed)
    }

    /// Sends a webhook with these events at once; gives the status.
    ///
    /// # Errors
    /// When nobody listens.
    pub async fn knock(&self, events: &[Value]) -> io::Result<u16> {
        let body = sender::body(events);
        self.knock_raw("POST", &body, Some(&knock::sign(&body))).await
    }

    /// The same, waiting until somebody listens.
    pub async fn knock_when_open(&self, events: &[Value]) -> u16 {
        loop {
            match self.knock(events).await {
                Ok(status) => return status,
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    }

    /// The event of a message, as it was sent first.
    pub fn event_of(&self, message: &str) -> Value {
        self.server.world().events.get(message).cloned().unwrap_or_default()
    }

    /// Sends any request to the webhook; gives the status.
    ///
    /// # Errors
    /// When nobody listens.
    pub async fn knock_raw(
        &self,
        method: &str,
        body: &[u8],
        signature: Option<&str>,
    ) -> io::Result<u16> {
        let webhook = self.server.world().webhook.clone().unwrap_or_default();
        knock::request(method, &webhook, body, signature).await
    }

    /// Signs a body as LINE does.
    pub fn sign(&self, body: &[u8]) -> String {
        knock::sign(body)
    }

    /// Sends a message's event once more, marked as a redelivery; gives the status.
    ///
    /// # Errors
    /// When nobody listens.
    pub async fn redeliver(&self, message: &str) -> io::Result<u16> {
        let mut event = self.event_of(message);
        event["deliveryContext"] = json!({ "isRedelivery": true });
        self.knock(&[event]).await
    }
}
