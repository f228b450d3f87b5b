//! Claims, steps, ends: the verbs of [`Work`]. Every write of a run is fenced by its claim.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::ConversationId;

use super::advance::AdvanceText;
use super::outbox::{self, DraftText, SaidFor};
use super::run::{self, RawCommitted, RawEnded};
use super::{absorbing, claiming, copied, fence, in_call, lanes, locks, marks, relaying, standing};
use crate::delivery::Draft;
use crate::error::Result;
use crate::inflow::Inflow;
use crate::sql::{Plan, SqlLedger};
use crate::tx::Tx;
use crate::value::params;
use crate::work::{Advance, CommitResult, Relay, SayResult, TaskClaim, Work};
use selkie_domain::ids::{Instance, OutboundId, TaskId};
use selkie_domain::task::{Claim, Lane};

#[async_trait]
impl Work for SqlLedger {
    async fn ready(&self, now: DateTime<Utc>, limit: usize) -> Result<Vec<Lane>> {
        self.write(Plan::RELAXED, move |tx| lanes::ready(tx, now, limit)).await
    }

    async fn next_wake(&self, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
        self.write(Plan::RELAXED, move |tx| lanes::next_wake(tx, now)).await
    }

    async fn claim(
        &self,
        lane: &Lane,
        instance: &Instance,
        now: DateTime<Utc>,
    ) -> Result<Option<TaskClaim>> {
        self.claim_one(lane, instance, now, Whose::Anybodys).await
    }

    async fn claim_owners(
        &self,
        lane: &Lane,
        instance: &Instance,
        now: DateTime<Utc>,
    ) -> Result<Option<TaskClaim>> {
        self.claim_one(lane, instance, now, Whose::Owners).await
    }

    async fn commit(&self, claim: &Claim, advance: Advance) -> Result<CommitResult> {
        let instance = claim.instance.clone();
        let claim = claim.clone();
        let advance = AdvanceText::new(advance, self.now())?;
        let plan = Plan::of(advance.class()).bytes(advance.bytes()).after(&claim.task.0);
        let raw = self.write(plan, move |tx| run::commit(tx, &claim, &advance)).await?;
        Ok(match raw {
            RawCommitted::Continue { stop, mode, family } => {
                CommitResult::Continue { stop, mode, family }
            }
            RawCommitted::NotApproved { stop, mode } => CommitResult::NotApproved { stop, mode },
            RawCommitted::Lost => CommitResult::Lost,
            RawCommitted::Ended(RawEnded { queued, next, usage, ready, stopping }) => {
                // The end is written, whatever becomes of the next.
                let next = self.readable(next.map(|raw| *raw), &instance).await;
                let next = next.unwrap_or_else(|error| {
                    tracing::error!(%error, "the lane's next task is not handed over");
                    None
                });
                let next = next.map(Box::new);
                CommitResult::Ended { queued, next, usage, ready, stopping }
            }
        })
    }

    async fn inflow(&self, claim: &Claim, now: DateTime<Utc>) -> Result<Inflow> {
        let claim = claim.clone();
        let plan = Plan::RELAXED.after(&claim.task.0);
        let raw = self.write(plan, move |tx| absorbing::read(tx, &claim, now)).await?;
        Ok(raw.read())
    }

    async fn say(&self, claim: &Claim, call: &str, draft: Draft) -> Result<SayResult> {
        let claim = claim.clone();
        let call = call.to_owned();
        let now = self.now();
        let draft = DraftText::new(draft)?;
        let plan = Plan::DURABLE.bytes(draft.bytes()).after(&claim.task.0);
        self.write(plan, move |tx| say(tx, &claim, &call, &draft, now)).await
    }

    async fn relay(&self, claim: &Claim, key: &str, relay: Relay) -> Result<SayResult> {
        let claim = claim.clone();
        let key = key.to_owned();
        let now = self.now();
        let relay = relaying::RelayText::new(relay)?;
        let plan = Plan::DURABLE.bytes(relay.bytes()).after(&claim.task.0);
        self.write(plan, move |tx| relaying::relay(tx, &claim, &key, &relay, now)).await
    }

    async fn takes_from(&self, task: TaskId, other: &ConversationId) -> Result<()> {
        let other = other.clone();
        self.write(Plan::RELAXED.after(&task.0), move |tx| copied::note(tx, task.0, &other)).await
    }

    async fn suspects(&self, attempts: u32) -> Result<Vec<Lane>> {
        self.write(Plan::RELAXED, move |tx| lanes::suspects(tx, attempts)).await
    }

    async fn acquit(&self, claim: &Claim) -> Result<()> {
        let claim = claim.clone();
        self.write(Plan::RELAXED.after(&claim.task.0), move |tx| {
            tx.execute_later(
                "UPDATE task SET attempts = attempts - 1
                 WHERE id = ?1 AND state = 'running' AND claim = ?2 AND instance = ?3",
                params![claim.task.0, claim.number, &claim.instance.0],
            )
        })
        .await
    }

    async fn reclaim(&self, instance: &Instance, now: DateTime<Utc>) -> Result<u64> {
        let instance = instance.clone();
        self.write(Plan::RELAXED, move |tx| {
            marks::doubt_dead(tx, &instance, now)?;
            in_call::interrupt_dead(tx, &instance.0, now)?;
            reclaim(tx, &instance)
        })
        .await
    }
}

/// Whose task is claimed.
#[derive(Clone, Copy)]
enum Whose {
    Anybodys,
    Owners,
}

impl SqlLedger {
    /// Claims the oldest task of a lane, if it is one of these.
    async fn claim_one(
        &self,
        lane: &Lane,
        instance: &Instance,
        now: DateTime<Utc>,
        whose: Whose,
    ) -> Result<Option<TaskClaim>> {
        let lane = lane.clone();
        let claimer = instance.clone();
        let plan = Plan::RELAXED.after(&lane.0);
        let claim = move |tx: &mut dyn Tx| {
            let Some(row) = lanes::find(tx, &lane)? else { return Ok(None) };
            locks::of_lane(tx, row)?;
            match whose {
                Whose::Owners if !claiming::is_owners(tx, row, now)? => Ok(None),
                _ => claiming::take(tx, row, &claimer, now),
            }
        };
        let raw = self.write(plan, claim).await?;
        self.readable(raw, instance).await
    }
}

fn say(
    tx: &mut dyn Tx,
    claim: &Claim,
    call: &str,
    draft: &DraftText,
    now: DateTime<Utc>,
) -> Result<SayResult> {
    locks::of_task(tx, claim.task.0, [draft.conversation()])?;
    if fence::held(tx, claim)?.is_none() {
        return Ok(SayResult::Lost);
    }
    let before: Option<i64> = tx.first(
        "SELECT id FROM outbound WHERE task = ?1 AND call = ?2",
        params![claim.task.0, call],
    )?;
    if let Some(outbound) = before {
        return Ok(SayResult::Known(OutboundId(outbound), standing::standing(tx, outbound)?));
    }
    let queued = outbox::say(tx, draft, SaidFor::Call(claim.task.0, call), now)?;
    if queued.parts.is_empty() {
        // Nothing to send: no receipt will ever come (the conversation is closed).
        let standing = standing::standing(tx, queued.outbound.0)?;
        return Ok(SayResult::Known(queued.outbound, standing));
    }
    Ok(SayResult::New(queued))
}

/// Every running task of another instance waits again, with its stop, its claims and its transcript.
fn reclaim(tx: &mut dyn Tx, instance: &Instance) -> Result<u64> {
    let lanes: Vec<i64> = tx.column(
        "UPDATE task SET state = 'waiting', instance = NULL, start_at = 0
         WHERE state = 'running' AND instance <> ?1 RETURNING lane",
        params![&instance.0],
    )?;
    for lane in &lanes {
        lanes::refresh(tx, *lane)?;
    }
    Ok(lanes.len() as u64)
}
