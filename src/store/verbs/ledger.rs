//! The ledger as a whole, over its engine.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::rows::millis;
use super::{forgetting, janitor, lanes, restored};
use crate::store::error::Result;
use crate::store::ledger::Ledger;
use crate::store::restored::{Released, Restored, Waiting};
use crate::store::settings::Since;
use crate::store::sql::{Plan, SqlLedger};

#[async_trait]
impl Ledger for SqlLedger {
    fn syncs(&self) -> u64 {
        self.engine().syncs()
    }

    fn lag(&self) -> Duration {
        self.engine().lag()
    }

    async fn forget_old(&self, since: Since) -> Result<u64> {
        let rows = self.write(Plan::RELAXED, move |tx| janitor::step(tx, &since)).await?;
        if rows > 0 {
            self.engine().purge();
        }
        Ok(rows)
    }

    async fn is_forgetting(&self) -> Result<bool> {
        self.write(Plan::RELAXED, |tx| forgetting::is_under_way(tx)).await
    }

    async fn at_work(&self) -> Result<Vec<(i64, DateTime<Utc>)>> {
        self.read(lanes::at_work).await
    }

    async fn restored(&self) -> Result<Option<Restored>> {
        self.read(restored::read).await
    }

    async fn release(&self, waiting: Waiting) -> Result<Option<Released>> {
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
