//! What a run has done goes into the ledger, and what the ledger answers changes the run.

use std::sync::Arc;

use super::Drive;
use crate::run::StepRecord;
use crate::{DropReason, QuotaError};
use selkie_store::{Advance, CommitResult, StoreError};

impl Drive<'_> {
    /// Stores what is not stored yet.
    pub(super) async fn commit(&mut self, durable: bool) -> Result<(), DropReason> {
        self.write(durable, |step| step).await.map(|_| ())
    }

    /// Stores that an approved call is not made, or has failed, and why, for who approved it.
    pub(super) async fn forgo(&mut self, key: &str, why: String) -> Result<(), DropReason> {
        let key = key.to_owned();
        let forgo = |step| Advance::Forgo { key, why, with: Box::new(step) };
        self.write(false, forgo).await.map(|_| ())
    }

    /// Stores that an approved call begins, and uses up the approval for it in the same write; whether there was
    /// any.
    pub(super) async fn consume(&mut self, key: &str, hash: &str) -> Result<bool, DropReason> {
        let key = key.to_owned();
        let hash = hash.to_owned();
        self.write(true, |step| Advance::Consume { key, hash, with: Box::new(step) }).await
    }

    /// Stores a step, with what becomes of approval beside it; whether approval that was to be used up was there.
    async fn write(
        &mut self,
        durable: bool,
        approval: impl FnOnce(Advance) -> Advance,
    ) -> Result<bool, DropReason> {
        let facts = std::mem::take(&mut self.reshaped).then(|| self.facts.clone());
        self.run.spent(self.meter.take());
        let StepRecord { append, header, usage, seen, wrote, kept } = self.run.take_unstored();
        let exhausted = self.task.quota.and_then(|quota| quota.count(usage));
        let mut step = Advance::Step { append, header, facts, usage, durable };
        if !wrote.is_empty() {
            step = Advance::Counted { calls: wrote, with: Box::new(step) };
        }
        if !kept.is_empty() {
            step = Advance::Keep { kept, with: Box::new(step) };
        }
        if !seen.is_empty() {
            step = Advance::Absorb { seen, with: Box::new(step) };
        }
        step = approval(step);
        match self.agent.work.commit(&self.task.claimed.claim, step).await {
            Ok(
                done @ (CommitResult::Continue { stop, mode, .. }
                | CommitResult::NotApproved { stop, mode }),
            ) => {
                if let CommitResult::Continue { family, .. } = done {
                    self.run.family_used(family);
                }
                if stop {
                    self.run.stop();
                }
                if let Some(QuotaError { why, text }) = exhausted {
                    self.run.used_up(why, text);
                }
                if mode != self.facts.mode {
                    // A tool or a person has changed it: the next step has another shape.
                    self.facts.mode = mode;
                    self.registry = (self.task.shape)(&self.facts);
                    self.listed = Arc::clone(self.registry.block());
                    self.reshaped = true;
                }
                Ok(matches!(done, CommitResult::Continue { .. }))
            }
            Ok(CommitResult::Lost | CommitResult::Ended { .. }) => Err(DropReason::Lost),
            Err(StoreError::Broken(why)) => Err(DropReason::Broken(why)),
            Err(other) => Err(DropReason::Broken(other.to_string())),
        }
    }
}
