//! Parts out, receipts in: the verbs of [`Delivery`].

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{AccountId, MessageRef};

use super::marks::{self, RawPart};
use super::rows::{millis, time};
use super::settle::{self, Change};
use super::{locks, standing};
use crate::delivery::{Delivery, DeliveryState, DuePart, Outcome};
use crate::error::Result;
use crate::sql::{Plan, SqlLedger};
use crate::value::params;
use selkie_domain::ids::{Instance, OutboundId, PartId};

#[async_trait]
impl Delivery for SqlLedger {
    async fn due(&self, account: &AccountId, instance: &Instance) -> Result<Vec<DuePart>> {
        let account = account.clone();
        let instance = instance.clone();
        let now = self.now();
        let rows = self.write(Plan::RELAXED.after(account.as_str()), move |tx| {
            marks::doubt_dead(tx, &instance, now)?;
            marks::due(tx, account.as_str())
        });
        rows.await?.into_iter().map(RawPart::read).collect()
    }

    async fn sending(&self, part: PartId, instance: &Instance) -> Result<bool> {
        let instance = instance.clone();
        let now = self.now();
        let plan = Plan::DURABLE.after(&part.0);
        self.write(plan, move |tx| {
            locks::of_part(tx, part.0)?;
            marks::mark(tx, part, &instance, millis(now))
        })
        .await
    }

    async fn settle(&self, part: PartId, outcome: Outcome) -> Result<DeliveryState> {
        let change = Change::new(outcome)?;
        let now = self.now();
        let plan = Plan::RELAXED.bytes(change.bytes()).after(&part.0);
        self.write(plan, move |tx| settle::settle(tx, part.0, &change, millis(now))).await
    }

    async fn before(&self, part: PartId) -> Result<Option<DeliveryState>> {
        self.read(move |tx| standing::before(tx, part.0)).await
    }

    async fn ends_in(&self, outbound: OutboundId, message: &MessageRef) -> Result<bool> {
        let message = message.clone();
        self.read(move |tx| standing::ends_in(tx, outbound.0, &message)).await
    }

    async fn penalty(&self, account: &AccountId, scope: &str, until: DateTime<Utc>) -> Result<()> {
        let account = account.clone();
        let scope = scope.to_owned();
        self.write(Plan::RELAXED.after(account.as_str()), move |tx| {
            tx.execute_later(
                "INSERT INTO penalty (account, scope, until) VALUES (?1, ?2, ?3)
                 ON CONFLICT (account, scope) DO UPDATE SET until = excluded.until",
                params![account.as_str(), &scope, millis(until)],
            )
        })
        .await
    }

    async fn penalties(
        &self,
        account: &AccountId,
        now: DateTime<Utc>,
    ) -> Result<Vec<(String, DateTime<Utc>)>> {
        let account = account.clone();
        self.write(Plan::RELAXED.after(account.as_str()), move |tx| {
            tx.all(
                "SELECT scope, until FROM penalty WHERE account = ?1 AND until > ?2 ORDER BY scope",
                params![account.as_str(), millis(now)],
                |row| Ok((row.get(0)?, time(row.get(1)?))),
            )
        })
        .await
    }
}
