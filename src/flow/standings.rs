//! Lets a task wait, in this process, for what becomes of something it said.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

use crate::domain::ids::OutboundId;
use crate::store::Standing;

/// Who waits for which outbound. Only what is waited for costs anything.
#[derive(Default)]
pub(super) struct Standings(Mutex<HashMap<OutboundId, watch::Sender<Standing>>>);

impl Standings {
    /// Watches an outbound from now on: call it before the courier gets the parts.
    pub(super) fn watch(&self, outbound: OutboundId) -> watch::Receiver<Standing> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|_, sender| !sender.is_closed());
        waiting.entry(outbound).or_insert_with(|| watch::channel(Standing::Open).0).subscribe()
    }

    /// Tells where an outbound stands now.
    pub(super) fn tell(&self, outbound: OutboundId, standing: &Standing) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sender) = waiting.get(&outbound) else { return };
        sender.send_replace(standing.clone());
        if !matches!(standing, Standing::Open | Standing::Unclear) {
            waiting.remove(&outbound);
        }
    }
}

/// Waits until an outbound is settled, one way or the other; unclear counts as settled.
pub(super) async fn settled(watch: &mut watch::Receiver<Standing>) -> Standing {
    match watch.wait_for(|standing| *standing != Standing::Open).await {
        Ok(standing) => standing.clone(),
        Err(_) => Standing::Open,
    }
}

/// Returns a standing's name in happenings and logs.
pub(super) const fn name(standing: &Standing) -> &'static str {
    match standing {
        Standing::Open => "open",
        Standing::Delivered { .. } => "sent",
        Standing::Partly { .. } => "partly",
        Standing::Refused { .. } => "refused",
        Standing::Unclear => "unclear",
        Standing::Cancelled => "cancelled",
        Standing::Expired => "expired",
    }
}
