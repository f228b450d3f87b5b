//! Sleeps until a schedule comes due, and has it carried out.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use futures_util::future::join_all;
use tokio::sync::Notify;

use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::intake::brought_back::brought_back;
use crate::intake::firing::Firings;
use crate::intake::messages::schedules as messages;
use selkie_schedule::jump::{Both, Jumps, Look, have_parted};
use selkie_schedule::turn::{come, plan};
use selkie_store::ScheduleRow;

/// So many are carried out before the clocks are looked at again. They are handed to the store together, in the order of
/// their times: it carries to the disk at once what comes at once.
const AT_ONCE: usize = 256;

/// How long is waited after a row that no repetition mends.
const AFTER_A_DEFECT: Duration = Duration::from_secs(60);

/// What is known of the clocks.
#[derive(Default)]
struct Clocks {
    jumps: Jumps,
    /// Nothing is dated later than the clock shows, as far as the clock was not set since.
    is_checked: bool,
}

/// Carries out schedules that come due.
pub struct Ticker {
    pub(crate) context: Context,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) firings: Arc<Firings>,
    /// Rung when a schedule was made or changed.
    pub bell: Arc<Notify>,
}

impl Ticker {
    /// Carries out what comes due, until the daemon begins nothing more.
    pub async fn run(self) {
        let mut clocks = Clocks::default();
        let stop = self.context.runtime.stop.clone();
        loop {
            tokio::select! {
                biased;
                () = stop.receivers.cancelled() => return,
                () = stop.work.cancelled() => return,
                () = self.turn(&mut clocks) => {}
            }
        }
    }

    async fn turn(&self, clocks: &mut Clocks) {
        let sleeper = &self.context.runtime.sleeper;
        let looked = sleeper.now();
        match clocks.jumps.look(looked) {
            Look::Fine => {}
            Look::Leapt(by) => {
                clocks.is_checked = false;
                return self.leapt(by).await;
            }
            Look::Waits(wait) => return sleeper.until_or_set(looked.wall + wait).await,
        }
        if !clocks.is_checked {
            let brought =
                self.context.storage.insist(|_| brought_back(&self.outbox, &self.firings.book));
            if brought.await.is_none() {
                return tokio::time::sleep(AFTER_A_DEFECT).await;
            }
            clocks.is_checked = true;
        }
        self.firings.follow_removed().await;
        let storage = &self.context.storage;
        let now = sleeper.now().wall;
        let Some(due) = storage.insist(|ledger| ledger.due_schedules(now, AT_ONCE)).await else {
            return tokio::time::sleep(AFTER_A_DEFECT).await;
        };
        if due.is_empty() {
            return self.rest(looked).await;
        }
        let firings = Arc::clone(&self.firings);
        let fire = move |row: ScheduleRow| {
            let firings = Arc::clone(&firings);
            async move {
                match plan(&row.schedule) {
                    Ok(plan) => firings.fire(&row, come(&row, &plan, now)).await,
                    Err(why) => firings.unreadable(&row, why).await,
                }
            }
        };
        // The daemon may end meanwhile: what is claimed is begun all the same.
        let fired = join_all(due.into_iter().map(fire));
        let fired = self.context.runtime.to_the_end(fired).await;
        let defects = fired.iter().filter(|done| done.is_none()).count();
        if defects > 0 {
            // They are tried again, and those behind them were not kept waiting.
            tracing::error!(schedules = defects, "what came due cannot be stored");
            tokio::time::sleep(AFTER_A_DEFECT).await;
        }
    }

    /// Waits for the next time, a change, or the clock.
    async fn rest(&self, looked: Both) {
        let storage = &self.context.storage;
        let changed = self.bell.notified();
        let next = storage.insist(|ledger| ledger.next_due()).await;
        // Set since it was looked at: nobody rings for that any more.
        if have_parted(looked, self.context.runtime.sleeper.now()) {
            return;
        }
        let rings = async {
            match next {
                Some(Some(at)) => self.context.runtime.sleeper.until_or_set(at).await,
                Some(None) => std::future::pending().await,
                None => tokio::time::sleep(AFTER_A_DEFECT).await,
            }
        };
        tokio::select! {
            () = changed => {}
            () = rings => {}
        }
    }

    async fn leapt(&self, by: TimeDelta) {
        tracing::warn!(
            seconds = by.num_seconds(),
            "the clock leapt: schedules wait a minute for it to settle"
        );
        self.outbox.notice("clock", &messages::leapt(by)).await;
    }
}
