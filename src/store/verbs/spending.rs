//! Counters of use: the verb of [`UsageCounters`].

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::rows::{count, millis, small};
use crate::error::Result;
use crate::spending::UsageCounters;
use crate::sql::{Plan, SqlLedger};
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::usage::UsageDelta;

#[async_trait]
impl UsageCounters for SqlLedger {
    async fn spend(&self, spent: Vec<UsageDelta>, forget: DateTime<Utc>) -> Result<Vec<u64>> {
        let forget = millis(forget);
        self.write(Plan::RELAXED, move |tx| {
            tx.execute_later("DELETE FROM spent WHERE since < ?1", params![forget])?;
            spent.iter().map(|spent| add(tx, spent)).collect()
        })
        .await
    }
}

/// Adds to a counter and returns what it has come to.
fn add(tx: &mut dyn Tx, spent: &UsageDelta) -> Result<u64> {
    let UsageDelta { who, what, since, amount } = spent;
    let since = millis(*since);
    let amount = small(*amount);
    if amount == 0 {
        let known = tx.first::<i64>(
            "SELECT amount FROM spent WHERE since = ?1 AND who = ?2 AND what = ?3",
            params![since, who, *what],
        )?;
        return Ok(known.map_or(0, count));
    }
    // More than fits stays the most there is.
    tx.only::<i64>(
        "INSERT INTO spent (since, who, what, amount) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (since, who, what) DO UPDATE SET amount =
             CASE WHEN spent.amount > 9223372036854775807 - excluded.amount THEN 9223372036854775807
             ELSE spent.amount + excluded.amount END
         RETURNING amount",
        params![since, who, *what, amount],
    )
    .map(count)
}
