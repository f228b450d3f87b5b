//! Alerts: what is wrong with the daemon is told to its owner in chat, once each time it comes about.

mod judge;
mod kept;
mod messages;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use selkie_channel_core::AccountId;
use tokio_util::sync::CancellationToken;

use self::judge::{DayCost, Observation, Trouble, troubles};
use self::kept::AlertFile;
use crate::app::App;
use crate::certificates::Certificates;
use crate::status::{Status, StatusDesk};
use selkie_schedule::day;

/// How often is looked.
const LOOK: Duration = Duration::from_secs(60);
/// A store that says nothing for so long tells nothing of channels and cost.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The file of what outlives a restart, in the state folder.
const FILE: &str = "run/alerts.json";

/// Looks after the daemon.
pub struct Alerts {
    app: Arc<App>,
    desk: Arc<StatusDesk>,
    since: DateTime<Utc>,
    certificates: Certificates,
}

impl Alerts {
    /// Looks after an app; `None` where the config wants nothing told.
    pub fn of(app: &Arc<App>, desk: Arc<StatusDesk>) -> Option<Self> {
        app.plan.settings.alerts.enabled.then(|| Self {
            app: Arc::clone(app),
            desk,
            since: app.clock.now(),
            certificates: Certificates::of(app),
        })
    }

    /// Looks until `stop`: that is an end in order.
    pub async fn run(self, stop: CancellationToken) {
        // Servers that do not answer keep nothing else waiting.
        tokio::join!(self.certificates.run(stop.clone()), self.watch(stop));
    }

    async fn watch(&self, stop: CancellationToken) {
        let mut kept = AlertFile::begin(self.app.plan.folders.state.join(FILE), self.since);
        let mut before = BTreeSet::new();
        let mut told = BTreeSet::new();
        loop {
            before = self.look(&mut kept, &before, &mut told).await;
            if stop.run_until_cancelled(tokio::time::sleep(LOOK)).await.is_none() {
                kept.end();
                return;
            }
        }
    }

    /// Looks once. A silent channel is told when two looks in a row find it so: after a suspend all are silent for a
    /// moment. Returns what was found.
    async fn look(
        &self,
        kept: &mut AlertFile,
        before: &BTreeSet<String>,
        told: &mut BTreeSet<String>,
    ) -> BTreeSet<String> {
        let seen = self.seen(kept).await;
        let found = troubles(&self.app.plan.settings.alerts, &seen, |key| kept.stands(key));
        let keys: BTreeSet<String> = found.iter().map(|trouble| trouble.key.clone()).collect();
        for over in kept.settle(|key| keys.contains(key) || !seen.tells(key)) {
            tracing::info!(trouble = over, "is over");
        }
        let silent: Vec<AccountId> =
            found.iter().filter_map(|it| it.account.as_deref()).map(AccountId::new).collect();
        for trouble in &found {
            let is_sure = trouble.account.is_none()
                || before.contains(&trouble.key)
                || kept.stands(&trouble.key);
            if is_sure {
                self.tell(kept, trouble, &silent, seen.now, told).await;
            }
        }
        tracing::debug!(troubles = keys.len(), "looked for trouble");
        keys
    }

    /// Tells it, unless this life has. What says so is kept first, and the words are stored under what it says: a death in
    /// between, or a restart, tells it once all the same.
    async fn tell(
        &self,
        kept: &mut AlertFile,
        trouble: &Trouble,
        silent: &[AccountId],
        now: DateTime<Utc>,
        told: &mut BTreeSet<String>,
    ) {
        if !kept.stands(&trouble.key) {
            tracing::warn!(trouble = trouble.key, "{}", trouble.words);
        }
        let since = kept.raise(&trouble.key, now);
        let key = format!("notice:alert:{}:{}", trouble.key, since.timestamp_millis());
        if !told.contains(&key) && self.app.flow.alert(&key, &trouble.words, silent).await {
            told.insert(key);
        }
    }

    async fn seen(&self, kept: &AlertFile) -> Observation {
        let now = self.app.clock.now();
        let plan = &self.app.plan;
        let looked = tokio::time::timeout(TIMEOUT, self.desk.look()).await;
        let status: Option<Status> = looked.ok().and_then(Result::ok);
        let state = plan.folders.state.clone();
        // A disk of the network may stand still.
        let free = tokio::task::spawn_blocking(move || free(&state));
        let free = tokio::time::timeout(TIMEOUT, free).await;
        let day = day::begins(plan.zone, now).format("%Y-%m-%dT%H").to_string();
        Observation {
            now,
            since: self.since,
            free: free.ok().and_then(Result::ok).flatten(),
            folder: plan.folders.state.display().to_string(),
            spent: status
                .as_ref()
                .and_then(|it| it.rows.as_ref())
                .map(|it| DayCost { day, micro_usd: it.today.usage.micro_usd }),
            channels: status.map(|status| status.channels).unwrap_or_default(),
            crashes: kept.crashes(now),
            certificates: self.certificates.seen(),
            zone: plan.zone,
        }
    }
}

/// Free bytes for a folder.
fn free(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}
