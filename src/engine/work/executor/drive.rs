//! The drive of a task: tried again where the store was in the way, and ended where it cannot go on.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;

use crate::delivery::deferred;
use crate::delivery::presence;
use crate::delivery::progress::shows::Shows;
use crate::work::executor::in_call::InCallRequests;
use crate::work::executor::next_step::{NextStep, ParkOutcome};
use crate::work::executor::{MAX_ATTEMPTS, TaskContext, TaskExecutor};
use crate::work::messages;
use crate::work::received;
use crate::work::runner::Job;
use crate::work::running_tasks::TaskMark;
use crate::work::scheduled::Both;
use crate::work::scope::Ports;
use crate::work::unattended;
use selkie_agent::messages::covers;
use selkie_agent::{DriveEnd, DriveOutcome, DropReason, Quota, taken_in};
use selkie_domain::taint::Taint;
use selkie_domain::transcript::{Answer, Item};
use selkie_store::{Advance, End, StoreError, TaskClaim};

impl TaskExecutor {
    /// Drives a task until it ends or waits; `None` when it is not ours any more, or goes on at the next start.
    pub(super) async fn drive_to_end(
        &self,
        claimed: &mut TaskClaim,
        run: &TaskContext<'_>,
    ) -> Option<DriveEnd> {
        let mark = run.mark;
        let ended = |ending| Some(DriveEnd::Ended(Box::new(ending)));
        if claimed.attempts > MAX_ATTEMPTS {
            tracing::error!(task = %claimed.claim.task, "given up: it never survived its worker");
            let why = format!("claimed {} times and never finished", claimed.attempts);
            let text = messages::poison(claimed.attempts);
            return ended(self.close_transcript(claimed, End::Failed { why }, text));
        }
        if let Some(ending) = unattended::fixed(claimed) {
            return ended(ending);
        }
        loop {
            let driven = AssertUnwindSafe(self.drive(claimed, run)).catch_unwind().await;
            match driven {
                Ok(Ok(DriveEnd::Ended(e))) if e.end == End::Stopped && self.is_leaving(mark) => {
                    self.release(claimed).await;
                    return None;
                }
                Ok(Ok(driven)) => return Some(driven),
                Ok(Err(DropReason::Lost)) => {
                    tracing::warn!(task = %claimed.claim.task, "the claim was lost: left to its new owner");
                    return None;
                }
                Ok(Err(DropReason::Stopping)) if self.is_leaving(mark) || !mark.is_asked() => {
                    self.release(claimed).await;
                    return None;
                }
                Ok(Err(DropReason::Stopping)) => {
                    self.refresh(claimed).await?;
                    return ended(self.close_transcript(claimed, End::Stopped, String::new()));
                }
                Ok(Err(DropReason::Broken(why))) => {
                    self.context.storage.trouble(&StoreError::Broken(why));
                    self.refresh(claimed).await?;
                }
                Err(_) => {
                    // The panic hook has told where.
                    tracing::error!(task = %claimed.claim.task, "a task panicked");
                    self.refresh(claimed).await?;
                    let end = End::Failed { why: "a defect: the task panicked".to_owned() };
                    return ended(self.close_transcript(claimed, end, messages::defect()));
                }
            }
        }
    }

    /// Says what comes after a park; a question that cannot be asked ends the task.
    pub(super) async fn settle_park(
        &self,
        claimed: &mut TaskClaim,
        parked: ParkOutcome,
        run: &TaskContext<'_>,
    ) -> NextStep {
        let stopped = match parked {
            ParkOutcome::Parked(next_step) => return *next_step,
            ParkOutcome::Stopped => true,
            ParkOutcome::NobodyToAsk => false,
        };
        if self.refresh(claimed).await.is_none() {
            return NextStep::default();
        }
        let ending = match stopped {
            true => self.close_transcript(claimed, End::Stopped, String::new()),
            false => {
                let why = "a question could not be asked here".to_owned();
                let line = messages::NOBODY_TO_ASK.to_owned();
                self.close_transcript(claimed, End::Failed { why }, line)
            }
        };
        self.end(claimed, ending, run).await
    }

    /// The daemon ends and nobody stopped this task: it goes on at the next start.
    fn is_leaving(&self, mark: &TaskMark) -> bool {
        self.context.runtime.stop.work.is_cancelled() && !mark.is_asked()
    }

    /// Gives the claim back: a restart that was asked for is no attempt. Nothing ends by it.
    pub async fn release(&self, claimed: &TaskClaim) {
        let released = self.context.storage.ledger.commit(&claimed.claim, Advance::Release).await;
        if let Err(error) = released {
            // It dies with this instance then, and counts.
            tracing::warn!(task = %claimed.claim.task, %error, "a claim could not be given back");
        }
    }

    async fn drive(
        &self,
        claimed: &TaskClaim,
        run: &TaskContext<'_>,
    ) -> Result<DriveEnd, DropReason> {
        let TaskContext { mark, reply, progress, answer, steering, bounds, zone, .. } = run;
        let mut requests = InCallRequests::none();
        let asker = requests.asker();
        let work = async {
            // With a transcript the messages are in it already.
            let heard = match claimed.transcript.is_empty() {
                true => received::lines(&self.attachments, claimed, mark.cancel(), *zone).await,
                false => Vec::new(),
            };
            if mark.cancel().is_cancelled() {
                // Before its lines are stored: the next claim fetches the files again.
                return Err(DropReason::Stopping);
            }
            let ports = Ports {
                reply: Arc::clone(reply) as _,
                progress: Arc::new(Shows {
                    progress: Arc::clone(progress),
                    answer: Arc::clone(answer),
                }),
                asker,
                cancel: mark.cancel().clone(),
            };
            let shares = self.limits.shares(claimed);
            let first = shares.as_ref().map(|shares| shares as &dyn Quota);
            let second = bounds.budget.as_ref().map(|budget| budget as &dyn Quota);
            let both = Both { first, second };
            let quota = (first.is_some() || second.is_some()).then_some(&both as &dyn Quota);
            let job = Job { claimed, heard, inflow: steering, quota, ports };
            self.runner.answer(job).await
        };
        let typing = async {
            if let Some(account) = self.context.accounts.of(&claimed.conversation)
                && !unattended::is_unattended(&claimed.facts)
            {
                presence::show(&self.outbox, &account, &claimed.conversation).await;
            }
            std::future::pending::<Infallible>().await
        };
        let beside = async {
            tokio::select! {
                never = deferred::offer(&self.outbox, claimed) => never,
                never = typing => never,
            }
        };
        let driven = tokio::select! {
            driven = work => driven,
            never = beside => match never {},
            never = self.ask_for_calls(claimed, &mut requests, run) => match never {},
        };
        self.take_back_open(requests).await;
        driven
    }

    /// Waits for the store and reads what the run has come to.
    async fn refresh(&self, claimed: &mut TaskClaim) -> Option<()> {
        let task = claimed.claim.task;
        let detail = self
            .context
            .storage
            .insist(|ledger| async move {
                ledger.healthy().await?;
                ledger.task(task).await
            })
            .await??;
        self.context.storage.stored();
        claimed.header = detail.header.map(|h| h.to_string());
        claimed.transcript = detail.transcript;
        Some(())
    }

    /// Ends a task without its agent: every call is answered, the question stays in the history, and what it
    /// had taken in from others' tasks is named, for nobody else answers it.
    pub(super) fn close_transcript(
        &self,
        claimed: &TaskClaim,
        end: End,
        mut text: String,
    ) -> DriveOutcome {
        let covers = covers(&taken_in(&claimed.transcript));
        if text.is_empty() && !covers.is_empty() {
            text = messages::task_stopped();
        }
        text.push_str(&covers);
        let mut append = Vec::new();
        match claimed.transcript.last() {
            None => append.extend(
                received::without_files(claimed, self.zones.usual())
                    .into_iter()
                    .map(Item::Received),
            ),
            Some(Item::Asked { calls, .. }) => {
                let interrupted = "interrupted, outcome unknown";
                let answers = calls.iter().map(|c| Answer::error(&c.id, interrupted));
                append.push(Item::Answered { answers: answers.collect() });
            }
            Some(_) => {}
        }
        if !text.is_empty() {
            append.push(Item::said(text.clone(), Taint::Clean));
        }
        let header = claimed.header.clone().unwrap_or_else(|| "{}".to_owned());
        DriveOutcome { append, header, end, text, ..DriveOutcome::default() }
    }
}
