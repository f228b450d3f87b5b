//! Approvals of calls: the verbs of [`Approvals`].

use async_trait::async_trait;
use selkie_channel_core::Inbound;

use super::approvals::{self, RawApproval};
use super::approving::ApprovalText;
use super::{deciding, in_call};
use crate::approval::{
    ApprovalRequest, ApprovalRow, Approvals, Decision, DecisionResult, InCallEnd,
};
use crate::delivery::QueuedOutbound;
use crate::error::Result;
use crate::sql::{Plan, SqlLedger};
use selkie_domain::task::Claim;

#[async_trait]
impl Approvals for SqlLedger {
    async fn approval(&self, key: &str) -> Result<Option<ApprovalRow>> {
        let key = key.to_owned();
        let found = self.write(Plan::RELAXED, move |tx| approvals::by_key(tx, &key));
        found.await?.map(RawApproval::read).transpose()
    }

    async fn approval_meant(&self, inbound: &Inbound) -> Result<Option<ApprovalRow>> {
        let inbound = inbound.clone();
        let found = self.write(Plan::RELAXED, move |tx| approvals::meant(tx, &inbound));
        found.await?.map(RawApproval::read).transpose()
    }

    async fn unshown_approvals(&self) -> Result<Vec<ApprovalRow>> {
        let found = self.write(Plan::RELAXED, approvals::unshown).await?;
        found.into_iter().map(RawApproval::read).collect()
    }

    async fn muted(&self) -> Result<Vec<ApprovalRow>> {
        let now = self.now();
        let found = self.write(Plan::RELAXED, move |tx| approvals::muted(tx, now)).await?;
        found.into_iter().map(RawApproval::read).collect()
    }

    async fn decide(&self, decision: Decision) -> Result<Option<DecisionResult>> {
        let now = self.now();
        let key = decision.key.clone().unwrap_or_default();
        let plan = Plan::DURABLE.after(&key);
        self.write(plan, move |tx| deciding::decide(tx, &decision, now)).await
    }

    async fn seek_in_call(
        &self,
        claim: &Claim,
        sought: ApprovalRequest,
    ) -> Result<Option<Vec<QueuedOutbound>>> {
        let claim = claim.clone();
        let now = self.now();
        let sought = ApprovalText::new(sought)?;
        let plan = Plan::DURABLE.bytes(sought.bytes()).after(&claim.task.0);
        self.write(plan, move |tx| in_call::seek(tx, &claim, &sought, now)).await
    }

    async fn end_in_call(&self, key: &str, end: InCallEnd) -> Result<Option<ApprovalRow>> {
        let key = key.to_owned();
        let now = self.now();
        let plan = Plan::RELAXED.after(&key);
        let ended = self.write(plan, move |tx| in_call::end(tx, &key, end, now)).await?;
        ended.map(RawApproval::read).transpose()
    }
}
