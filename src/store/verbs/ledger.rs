//! The ledger as a whole, over its engine.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::rows::millis;
use super::{forgetting, janitor, lanes, restored, unsent_files};
use crate::engine::Purge;
use crate::error::Result;
use crate::ledger::Ledger;
use crate::restored::{ReleaseResult, RestoreOrigin, RestorePolicy};
use crate::settings::Since;
use crate::sql::{Plan, SqlLedger};
use crate::unsent::UnsentFiles;

#[async_trait]
impl Ledger for SqlLedger {
    fn syncs(&self) -> u64 {
        self.engine().syncs()
    }

    fn lag(&self) -> Duration {
        self.engine().lag()
    }

    async fn forget_old(&self, since: Since) -> Result<u64> {
        let step = self.write(Plan::RELAXED, move |tx| {
            let was_forgetting = forgetting::is_under_way(tx)?;
            let rows = janitor::step(tx, &since)?;
            Ok(Step { rows, is_last: was_forgetting && !forgetting::is_under_way(tx)? })
        });
        let Step { rows, is_last } = step.await?;
        match (is_last, rows) {
            (true, _) => self.engine().purge(Purge::PagesSoon),
            (false, 0) => {}
            (false, _) => self.engine().purge(Purge::Log),
        }
        Ok(rows)
    }

    async fn is_forgetting(&self) -> Result<bool> {
        self.write(Plan::RELAXED, |tx| {
            Ok(forgetting::is_under_way(tx)? || unsent_files::is_any(tx)?)
        })
        .await
    }

    async fn forgetting(&self) -> Result<Vec<(i64, DateTime<Utc>)>> {
        self.read(forgetting::places).await
    }

    async fn unsent(&self) -> Result<UnsentFiles> {
        self.read(unsent_files::read).await
    }

    async fn unsent_gone(&self, unsent: UnsentFiles) -> Result<()> {
        let now = millis(self.now());
        self.write(Plan::RELAXED, move |tx| unsent_files::gone(tx, &unsent, now)).await
    }

    async fn at_work(&self) -> Result<Vec<(i64, DateTime<Utc>)>> {
        self.read(lanes::at_work).await
    }

    async fn restored(&self) -> Result<Option<RestoreOrigin>> {
        self.read(restored::read).await
    }

    async fn release(&self, waiting: RestorePolicy) -> Result<Option<ReleaseResult>> {
        let now = millis(self.now());
        self.write(Plan::DURABLE, move |tx| restored::release(tx, waiting, now)).await
    }

    async fn close(&self) {
        self.engine().close().await;
    }

    fn in_place(&self) -> Result<()> {
        self.engine().in_place()
    }
}

/// What a step of the janitor came to.
struct Step {
    rows: u64,
    /// Nothing is left of what somebody wants to be forgotten.
    is_last: bool,
}
