//! Makes the calls of one answer: side by side where all of them may be, else in their order.

use std::sync::Arc;

use chrono::TimeDelta;
use futures_util::future::join_all;
use tokio::time::Instant;

use super::Drive;
use super::standing::Approval;
use crate::{DropReason, budget, plan};
use selkie_domain::crash::CrashPoint;
use selkie_domain::event::Event;
use selkie_domain::tool::Recovery;
use selkie_domain::transcript::{Answer, Call};
use selkie_tools::ToolError;
use selkie_tools::dispatch::{CallResult, dispatch};
use selkie_tools::scope::{ApprovedBasis, Scope};

/// How much of arguments and answers the watchers see.
const SHOWN: usize = 300;

/// What the calls of one answer came to.
#[derive(Default)]
struct CallResults {
    answers: Vec<Answer>,
    drawn: Vec<String>,
    /// The approval of a call that somebody has approved and that failed.
    failed: Option<String>,
}

impl CallResults {
    fn add(&mut self, done: CallResult) {
        self.answers.push(done.answer);
        self.drawn.extend(done.drawn);
    }
}

impl Drive<'_> {
    /// Makes calls and stores their answers, unless a person has to be asked before, or has stopped the task.
    pub(super) async fn call(&mut self, calls: Vec<Call>, resumed: bool) -> Result<(), DropReason> {
        if self.is_group(&calls) {
            return self.call_agents(&calls).await;
        }
        let side_by_side = calls.len() > 1
            && !resumed
            && calls.iter().all(|call| self.runs_beside_others(&call.name));
        let made = match side_by_side {
            true => self.side_by_side(&calls).await?,
            false => self.in_order(&calls, resumed).await?,
        };
        let Some(CallResults { answers, drawn, failed }) = made else { return Ok(()) };
        let why = answers.last().map(|answer| answer.text.clone()).unwrap_or_default();
        self.run.answered(&calls, answers);
        self.run.shows(drawn);
        self.tell_plan();
        self.rise();
        match failed {
            Some(key) => self.forgo(&key, why).await?,
            None => self.commit(false).await?,
        }
        self.agent.crash.hit(CrashPoint::AfterResults);
        Ok(())
    }

    /// Makes all of the calls at once; `None` when a person stopped the task.
    async fn side_by_side(&mut self, calls: &[Call]) -> Result<Option<CallResults>, DropReason> {
        self.mark_started(calls).await?;
        let judged: Vec<_> = calls.iter().map(|call| self.run.judge(call)).collect();
        let all = calls.iter().zip(judged).map(async |(call, judged)| match judged {
            Some(answer) => Ok(answer.into()),
            None => self.one(call, None).await,
        });
        let mut results = CallResults::default();
        for done in join_all(all).await {
            let Some(done) = self.unless_cancelled(done).await? else { return Ok(None) };
            results.add(done);
        }
        Ok(Some(results))
    }

    /// Makes one call after the other; `None` when a person has to be asked first, or stopped the task.
    async fn in_order(
        &mut self,
        calls: &[Call],
        resumed: bool,
    ) -> Result<Option<CallResults>, DropReason> {
        let mut results = CallResults::default();
        for call in calls {
            let approval = match self.not_again(call, resumed) {
                Some(answer) => Approval::Refused(answer),
                None => self.approval(call, calls.len() == 1).await?,
            };
            let given = matches!(approval, Approval::Given(_));
            let Some(done) = self.carry_out(call, approval).await? else { return Ok(None) };
            if given && done.answer.is_error {
                // It stands alone: whoever approved it is told.
                results.failed = self.run.approval_key(call).map(str::to_owned);
            }
            results.add(done);
        }
        Ok(Some(results))
    }

    /// Does what its approval says with a call; `None` when a person has to be asked first, or stopped the task.
    async fn carry_out(
        &mut self,
        call: &Call,
        approval: Approval,
    ) -> Result<Option<CallResult>, DropReason> {
        let done = match approval {
            Approval::Seek(request) => {
                self.run.seeks(call, *request, self.agent.clock.now());
                return Ok(None);
            }
            Approval::Refused(answer) => Ok(answer.into()),
            Approval::Given(approved) => self.unless_judged(call, Some(approved)).await,
            Approval::Free => {
                self.mark_started(std::slice::from_ref(call)).await?;
                self.unless_judged(call, None).await
            }
        };
        match done {
            // It stands alone: no other call waits for its answer.
            Err(ToolError::Ask(question)) => {
                self.run.asks(call, *question, self.agent.clock.now());
                Ok(None)
            }
            done => self.unless_cancelled(done).await,
        }
    }

    /// Makes a call, unless the run has an answer to it of its own.
    pub(super) async fn unless_judged(
        &mut self,
        call: &Call,
        approved: Option<ApprovedBasis>,
    ) -> Result<CallResult, ToolError> {
        match self.run.judge(call) {
            Some(answer) => Ok(answer.into()),
            None => self.one(call, approved).await,
        }
    }

    /// Stores which calls begin, of those that must not begin twice; durably that one with an effect goes on with the
    /// answer to its question.
    async fn mark_started(&mut self, calls: &[Call]) -> Result<(), DropReason> {
        let goes_on =
            |call: &Call| self.recovery(&call.name) == Recovery::Unknown && self.run.goes_on(call);
        let once = |call: &&Call| self.recovery(&call.name) == Recovery::NotTwice || goes_on(call);
        let starting: Vec<Call> = calls.iter().filter(once).cloned().collect();
        if starting.is_empty() {
            return Ok(());
        }
        let durable = starting.iter().any(goes_on);
        self.run.starts(starting.iter());
        self.commit(durable).await
    }

    /// What a call may touch.
    pub(super) fn scope_of(&self, call: &Call) -> Scope {
        let outward = self.outward();
        Scope { outward, ..(self.task.scope)(&self.facts, &call.id) }
    }

    /// Makes one call.
    async fn one(
        &self,
        call: &Call,
        approved: Option<ApprovedBasis>,
    ) -> Result<CallResult, ToolError> {
        let claimed = self.task.claimed;
        let given = self.run.given(&call.id);
        // With an answer to its question it goes on: it was told when it began.
        if given.is_empty() {
            self.agent.events.emit(|| Event::Called {
                conversation: claimed.conversation.clone(),
                task: claimed.claim.task,
                tool: call.name.clone(),
                arguments: self.shown(&call.arguments.to_string()),
            });
        }
        let mut scope = self.scope_of(call);
        let now = self.agent.clock.now();
        let stood = TimeDelta::from_std(self.halts.total()).unwrap_or_default();
        let left = budget::time_left(&self.settings, self.run.ledger().since + stood, now);
        scope.given = given;
        scope.kept = self.run.kept(&call.id);
        scope.begun.clone_from(&self.begun);
        scope.earlier = Arc::clone(&self.earlier);
        scope.approved = approved;
        scope.spent = Arc::clone(&self.meter);
        scope.permissions.halts = Arc::clone(&self.halts);
        scope.plan = plan::newest(&claimed.history, self.run.items());
        scope.task_deadline = Instant::now() + left;
        scope.deadline = scope.deadline.min(scope.task_deadline);
        // A name that is no tool of this task is the model's own word: it is not shown.
        scope.progress.tool(self.spec(&call.name).map(|spec| spec.words()).as_deref());
        let began = Instant::now();
        let at = now;
        let done = tokio::select! {
            biased;
            () = self.task.cancel.cancelled() => Err(ToolError::Abort("cancelled".to_owned())),
            done = dispatch(&self.registry, call, &scope, &self.agent.redactor) => done,
        }?;
        scope.progress.tool(None);
        self.counted(call, at, began.elapsed(), &done);
        self.agent.crash.hit(CrashPoint::AfterTool);
        self.told_answer(call, &done.answer);
        Ok(done)
    }

    /// Tells those who watch what a call was answered.
    pub(super) fn told_answer(&self, call: &Call, answer: &Answer) {
        let claimed = self.task.claimed;
        self.agent.events.emit(|| Event::Answered {
            conversation: claimed.conversation.clone(),
            task: claimed.claim.task,
            tool: call.name.clone(),
            is_error: answer.is_error,
            text: self.shown(&answer.text),
        });
    }

    /// `None` when a person stopped the task: its open calls read as "not answered" in history.
    pub(super) async fn unless_cancelled(
        &mut self,
        done: Result<CallResult, ToolError>,
    ) -> Result<Option<CallResult>, DropReason> {
        match done {
            Ok(done) => Ok(Some(done)),
            Err(ToolError::Abort(_)) if self.task.cancel.is_cancelled() => {
                self.cancelled().await.map(|()| None)
            }
            Err(error) => Err(DropReason::Broken(error.to_string())),
        }
    }

    /// Cancelled: the store knows whether a person wants it (then the run has ended) or the daemon stops.
    pub(super) async fn cancelled(&mut self) -> Result<(), DropReason> {
        self.run.ended_in_order();
        self.commit(false).await?;
        if self.run.is_stopped() { Ok(()) } else { Err(DropReason::Stopping) }
    }

    fn shown(&self, text: &str) -> String {
        let clean = self.agent.redactor.clean(text);
        let cut = selkie_channel_core::split::fitting(&clean, SHOWN);
        if cut == clean.len() { clean } else { format!("{}…", &clean[..cut]) }
    }
}
