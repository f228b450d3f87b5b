//! Lets a task wait, in this process, for what becomes of something it said.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::domain::ids::OutboundId;
use crate::store::Standing;

/// Who waits for which outbound. Only what is waited for costs anything.
#[derive(Default)]
pub(super) struct Standings(Mutex<HashMap<OutboundId, Waited>>);

/// What is known of an outbound that somebody waits for.
struct Waited {
    standing: watch::Sender<Standing>,
    /// Why its last attempt did not succeed.
    trouble: watch::Sender<Option<Trouble>>,
}

/// An attempt that did not succeed and is made again.
#[derive(Clone, Debug)]
pub(super) struct Trouble {
    pub(super) why: String,
    /// How long until a doubt is looked up; nothing where there is none.
    pub(super) decided_in: Duration,
}

impl Waited {
    fn new() -> Self {
        let standing = watch::channel(Standing::Open).0;
        Self { standing, trouble: watch::channel(None).0 }
    }
}

impl Standings {
    /// Watches an outbound from now on: call it before the courier gets the parts.
    pub(super) fn watch(&self, outbound: OutboundId) -> watch::Receiver<Standing> {
        let mut waiting = self.waiting();
        waiting.retain(|_, waited| !waited.standing.is_closed());
        waiting.entry(outbound).or_insert_with(Waited::new).standing.subscribe()
    }

    /// Watches why an outbound that is watched is not sent yet.
    pub(super) fn troubles(
        &self,
        outbound: OutboundId,
    ) -> Option<watch::Receiver<Option<Trouble>>> {
        self.waiting().get(&outbound).map(|waited| waited.trouble.subscribe())
    }

    /// Tells where an outbound stands now.
    pub(super) fn tell(&self, outbound: OutboundId, standing: &Standing) {
        let mut waiting = self.waiting();
        let Some(waited) = waiting.get(&outbound) else { return };
        waited.standing.send_replace(standing.clone());
        if !matches!(standing, Standing::Open | Standing::Unclear) {
            waiting.remove(&outbound);
        }
    }

    /// Tells why an attempt did not succeed that is made again.
    pub(super) fn tell_trouble(&self, outbound: OutboundId, trouble: Trouble) {
        if let Some(waited) = self.waiting().get(&outbound) {
            waited.trouble.send_replace(Some(trouble));
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<OutboundId, Waited>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
