//! Lets a task wait, in this process, for what becomes of something it said.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::watch;

use selkie_channel_core::locked;
use selkie_domain::ids::OutboundId;
use selkie_store::DeliveryState;

/// Who waits for which outbound. Only what is waited for costs anything.
#[derive(Default)]
pub struct DeliveryWaiters(Mutex<HashMap<OutboundId, WaiterState>>);

/// What is known of an outbound that somebody waits for.
struct WaiterState {
    standing: watch::Sender<DeliveryState>,
    /// Why its last attempt did not succeed.
    trouble: watch::Sender<Option<Trouble>>,
}

/// An attempt that did not succeed and is made again.
#[derive(Clone, Debug)]
pub struct Trouble {
    pub(crate) why: String,
    /// How long until a doubt is looked up, or the next try, where that is soon.
    pub decided_in: Duration,
}

impl WaiterState {
    fn new() -> Self {
        let standing = watch::channel(DeliveryState::Open).0;
        Self { standing, trouble: watch::channel(None).0 }
    }
}

impl DeliveryWaiters {
    /// Watches an outbound from now on: call it before the delivery worker gets the parts.
    pub fn watch(&self, outbound: OutboundId) -> watch::Receiver<DeliveryState> {
        let mut waiting = self.waiting();
        waiting.retain(|_, waited| !waited.standing.is_closed());
        waiting.entry(outbound).or_insert_with(WaiterState::new).standing.subscribe()
    }

    /// Watches why an outbound that is watched is not sent yet.
    pub fn troubles(&self, outbound: OutboundId) -> Option<watch::Receiver<Option<Trouble>>> {
        self.waiting().get(&outbound).map(|waited| waited.trouble.subscribe())
    }

    /// Tells where an outbound stands now.
    pub fn tell(&self, outbound: OutboundId, standing: &DeliveryState) {
        let mut waiting = self.waiting();
        let Some(waited) = waiting.get(&outbound) else { return };
        waited.standing.send_replace(standing.clone());
        if !matches!(standing, DeliveryState::Open | DeliveryState::Unclear) {
            waiting.remove(&outbound);
        }
    }

    /// Tells why an attempt did not succeed that is made again.
    pub fn tell_trouble(&self, outbound: OutboundId, trouble: Trouble) {
        if let Some(waited) = self.waiting().get(&outbound) {
            waited.trouble.send_replace(Some(trouble));
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<OutboundId, WaiterState>> {
        locked(&self.0)
    }
}

/// Waits until an outbound is settled, one way or the other; unclear counts as settled.
pub async fn settled(watch: &mut watch::Receiver<DeliveryState>) -> DeliveryState {
    match watch.wait_for(|standing| *standing != DeliveryState::Open).await {
        Ok(standing) => standing.clone(),
        Err(_) => DeliveryState::Open,
    }
}

/// Returns a standing's name in events and logs.
pub const fn name(standing: &DeliveryState) -> &'static str {
    match standing {
        DeliveryState::Open => "open",
        DeliveryState::Delivered { .. } => "sent",
        DeliveryState::Partly { .. } => "partly",
        DeliveryState::Refused { .. } => "refused",
        DeliveryState::Unclear => "unclear",
        DeliveryState::Cancelled => "cancelled",
        DeliveryState::Expired => "expired",
    }
}
