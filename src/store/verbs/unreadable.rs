//! A claimed task whose own rows cannot be read: nobody can work on it, so it ends, and its lane goes on.

use super::claimed::RawClaimed;
use super::ending::{EndRecord, end};
use super::requests::RawRequested;
use super::rows::millis;
use super::{claiming, lanes, locks};
use crate::error::{Result, StoreError};
use crate::intake::RequestResult;
use crate::sql::{Plan, SqlLedger};
use crate::value::params;
use crate::work::TaskClaim;
use selkie_domain::ids::Instance;
use selkie_domain::task::Lane;

impl SqlLedger {
    /// Reads what a request came to. Its task is stored whatever becomes of the claim.
    pub(super) async fn requested(&self, raw: RawRequested, instance: &Instance) -> RequestResult {
        let RawRequested { task, is_new, is_full, claimed, ready, stopping, wake_at } = raw;
        let claimed = self.readable(claimed, instance).await.unwrap_or_else(|error| {
            tracing::error!(%error, "a claimed task is left to the next start");
            None
        });
        RequestResult { task, is_new, is_full, claimed, ready, stopping, wake_at }
    }

    /// Reads a claim; one that cannot be read is ended and the lane's next task is claimed in its place.
    ///
    /// # Errors
    /// `Broken` when the store cannot write.
    pub(super) async fn readable(
        &self,
        raw: Option<RawClaimed>,
        instance: &Instance,
    ) -> Result<Option<TaskClaim>> {
        let mut next = raw;
        while let Some(raw) = next {
            let (task, number) = raw.named();
            let error = match raw.read() {
                Ok(claimed) => return Ok(Some(claimed)),
                Err(error) => error,
            };
            let Some(lane) = self.end_unreadable(task, number, &error).await? else { break };
            let instance = instance.clone();
            let now = self.now();
            let plan = Plan::RELAXED.after(&lane.0);
            next = self
                .write(plan, move |tx| {
                    let Some(row) = lanes::find(tx, &lane)? else { return Ok(None) };
                    locks::of_lane(tx, row)?;
                    claiming::take(tx, row, &instance, now)
                })
                .await?;
        }
        Ok(None)
    }

    /// Ends it and returns its lane; `None` when the claim is not held any more.
    async fn end_unreadable(
        &self,
        task: i64,
        number: i64,
        error: &StoreError,
    ) -> Result<Option<Lane>> {
        tracing::error!(task, %error, "a claimed task cannot be read: it ends as failed");
        let at = millis(self.now());
        self.write(Plan::DURABLE.after(&task), move |tx| {
            locks::of_task(tx, task, [])?;
            let found: Option<(i64, String)> = tx.optional(
                "SELECT l.id, l.name FROM task t JOIN lane l ON l.id = t.lane
                 WHERE t.id = ?1 AND t.claim = ?2 AND t.state = 'running'",
                params![task, number],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            let Some((lane, name)) = found else { return Ok(None) };
            let why = Some("its stored rows cannot be read");
            end(tx, task, EndRecord { state: "failed", why, at })?;
            lanes::refresh(tx, lane)?;
            Ok(Some(Lane(name)))
        })
        .await
    }
}
