//! A run that waits for agents, and the end of an agent that nobody has waited for.

use chrono::{DateTime, Utc};

use crate::work::executor::TaskContext;
use crate::work::executor::TaskExecutor;
use crate::work::executor::next_step::ParkOutcome;
use selkie_agent::{DriveOutcome, NewChildren, PendingChildren, messages};
use selkie_domain::cause::Cause;
use selkie_domain::facts::Facts;
use selkie_domain::parent::Parent;
use selkie_domain::task::ParkedOn;
use selkie_domain::words::Words;
use selkie_store::{Advance, End, Location, NewTask, TaskClaim, TaskRequest};

impl TaskExecutor {
    /// Parks a task on its agents: what they are to do, and the end of the claim, in one.
    pub(super) async fn wait_for_children(
        &self,
        claimed: &TaskClaim,
        pending: PendingChildren,
        run: &TaskContext<'_>,
    ) -> ParkOutcome {
        let PendingChildren { new, append, header, usage } = pending;
        let NewChildren { children, side_by_side, until } = new;
        let hand_over = run.hand_over && !self.context.runtime.is_draining();
        let now = self.context.runtime.clock.now();
        self.limits.used(claimed, usage);
        let park = Advance::Park {
            append,
            header,
            on: ParkedOn::Children,
            ask: None,
            seek: None,
            wake_at: Some(until),
            usage,
            hand_over,
            now,
        };
        let park = Advance::Spawn { children, side_by_side, until, with: Box::new(park) };
        self.commit_park(claimed, park, Some(until)).await
    }

    /// What the parent of an agent is told of its end, where it has not waited for it and is there still.
    pub(super) async fn report(
        &self,
        claimed: &TaskClaim,
        ending: &DriveOutcome,
    ) -> Option<Box<TaskRequest>> {
        let parent = claimed.facts.parent.as_deref().filter(|_| !claimed.is_awaited)?;
        if ending.end == End::Stopped {
            return None;
        }
        let task = parent.task;
        let detail = self.context.storage.insist(|ledger| ledger.task(task)).await.flatten()?;
        let now = self.context.runtime.clock.now();
        Some(Box::new(request(
            claimed,
            parent,
            ending,
            told_as(detail.facts, claimed, ending, now),
        )))
    }
}

/// The facts of the task that tells it: those of the task that has begun the agent, and the level of what that has read.
fn told_as(
    of_parent: Facts,
    claimed: &TaskClaim,
    ending: &DriveOutcome,
    now: DateTime<Utc>,
) -> Facts {
    Facts {
        taint: of_parent.taint.max(claimed.facts.taint).max(ending.level),
        trust: of_parent.trust.min(claimed.facts.trust),
        reports: of_parent.reports.saturating_add(1),
        passed: None,
        at: now,
        ..of_parent
    }
}

fn request(
    claimed: &TaskClaim,
    parent: &Parent,
    ending: &DriveOutcome,
    facts: Facts,
) -> TaskRequest {
    let location = Location {
        conversation: claimed.conversation.clone(),
        place: claimed.place.clone(),
        title: String::new(),
    };
    let why = match &ending.end {
        End::Failed { why } => Some(why.as_str()),
        End::Done | End::Stopped => None,
    };
    let state = ending.end.state();
    let text = messages::agent_report(&parent.name, state, why, &ending.text);
    let person = claimed.words.as_ref().map(|words| words.person.clone());
    let at = facts.at;
    let words = Words {
        agent: Some(parent.name.clone()),
        ..Words::said(person.unwrap_or_else(selkie_domain::command_line::person), at, text)
    };
    let cause = Cause::Report { child: claimed.claim.task };
    let task = NewTask::new(cause, facts);
    TaskRequest { location, order: at.timestamp_micros(), task, words }
}
