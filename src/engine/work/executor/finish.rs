//! A task's end: stored with what is said, and handed to whoever waits for it.

use crate::work::executor::TaskExecutor;
use crate::work::executor::failed_finish::UnfinishedTask;
use crate::work::executor::next_step::{LastWords, NextStep};
use crate::work::heartbeat_alert;
use crate::work::story::Story;
use crate::work::task_waiters::TaskEnd;
use crate::work::unattended;
use selkie_agent::DriveOutcome;
use selkie_domain::crash::CrashPoint;
use selkie_domain::event::Event;
use selkie_domain::facts::Trigger;
use selkie_domain::ids::OutboundId;
use selkie_domain::schedule::PASSED_OVER;
use selkie_store::{Advance, CommitResult, Draft, End, QueuedOutbound, TaskClaim};

impl TaskExecutor {
    /// Stores the end of a task and what it says; returns what its lane goes on with.
    pub(super) async fn finish(
        &self,
        claimed: &TaskClaim,
        ending: DriveOutcome,
        words: LastWords,
        hand_over: bool,
    ) -> NextStep {
        let LastWords { say, aloud } = words;
        let outbox = &self.outbox;
        log_failure(claimed, &ending.end);
        let state = ending.end.state().name();
        let unheard = unattended::has_nothing_to_tell(claimed, &ending);
        let has_failed = matches!(&ending.end, End::Failed { .. });
        let story = Story::of(claimed, &ending);
        let usage = ending.usage;
        let report = self.report(claimed, &ending).await;
        let mut finish = self.advance(ending, say, unheard, hand_over);
        if let Some(request) = report {
            finish = Advance::Report { request, with: Box::new(finish) };
        }
        self.limits.used(claimed, usage);
        self.context.runtime.metrics.task(state);
        self.context.runtime.crash.hit(CrashPoint::BeforeFinish);
        let committed = self
            .context
            .storage
            .insist(|ledger| ledger.commit(&claimed.claim, finish.clone()))
            .await;
        self.context.runtime.crash.hit(CrashPoint::AfterFinish);
        let Some(CommitResult::Ended { queued, next, usage, ready, stopping }) = committed else {
            if committed.is_none() && !self.context.runtime.stop.work.is_cancelled() {
                // No repetition mends it.
                self.end_after_defect(UnfinishedTask::of(claimed)).await;
            }
            tracing::warn!(task = %claimed.claim.task, "the claim was lost at the end: nothing is said");
            return NextStep::default();
        };
        tracing::debug!(task = %claimed.claim.task, state, "its end is stored");
        let story = story.map(|story| story.costs(usage, self.context.runtime.now()));
        self.hand_out(claimed, queued, state, story);
        if let Some(markdown) = aloud {
            self.say_in_kind(claimed, markdown);
        }
        self.context.runtime.events.emit(|| Event::Ended {
            conversation: claimed.conversation.clone(),
            task: claimed.claim.task,
            state: state.to_owned(),
            usage,
        });
        if has_failed && claimed.facts.trigger == Trigger::Heartbeat {
            heartbeat_alert::tell_of_task(&self.context, outbox, claimed).await;
        }
        stopping.into_iter().for_each(|task| self.running.stop(task));
        NextStep { next: next.map(|next| *next), ready, ..NextStep::default() }
    }

    /// Makes the write that ends a task.
    fn advance(
        &self,
        ending: DriveOutcome,
        say: Vec<Draft>,
        unheard: bool,
        hand_over: bool,
    ) -> Advance {
        let outbox = &self.outbox;
        let DriveOutcome { append, header, end, facts, usage, set_aside, seen, cut, wrote, .. } =
            ending;
        let hand_over = hand_over && !self.context.runtime.is_draining();
        let departs = say.first().is_some_and(|draft| outbox.lets_depart(&draft.outbound));
        let mut finish = Advance::Finish {
            append,
            header,
            facts: facts.map(|facts| *facts),
            end,
            say,
            usage,
            set_aside,
            unheard,
            cut,
            departs,
            hand_over,
            now: self.context.runtime.clock.now(),
        };
        if !wrote.is_empty() {
            finish = Advance::Counted { calls: wrote, with: Box::new(finish) };
        }
        if !seen.is_empty() {
            finish = Advance::Absorb { seen, with: Box::new(finish) };
        }
        finish
    }

    fn hand_out(
        &self,
        claimed: &TaskClaim,
        queued: Vec<QueuedOutbound>,
        state: &str,
        story: Option<Story>,
    ) {
        let waiting = self.task_waiters.take(claimed.claim.task);
        if queued.iter().any(|q| q.parts.is_empty()) {
            // It may be the next to expire.
            tracing::debug!(task = %claimed.claim.task, "its words wait: they are held, or refused here");
            self.outbox.look_at_held();
        }
        let rows: Vec<_> = queued.iter().map(|q| q.outbound).collect();
        let waiting = waiting.map(|sender| {
            let watch = |row: &OutboundId| self.outbox.watch(*row);
            (sender, rows.iter().map(watch).collect::<Vec<_>>())
        });
        if let Some(story) = story {
            story.told_when_sent(&self.context, &self.outbox, &rows);
        }
        for queued in queued {
            self.outbox.send(queued);
        }
        if let Some((sender, waiters)) = waiting {
            // Whoever asked may have gone.
            drop(sender.send(TaskEnd { state: state.to_owned(), waiters }));
        }
    }
}

fn log_failure(claimed: &TaskClaim, end: &End) {
    let End::Failed { why } = end else { return };
    let task = claimed.claim.task;
    // Whoever may not be answered decides how often: that is no trouble of ours.
    if why.starts_with("ignored: ") {
        tracing::debug!(%task, why, "a task was not begun");
    } else if why.starts_with(PASSED_OVER) {
        tracing::info!(%task, why, "a time of a schedule was not begun");
    } else {
        tracing::warn!(%task, why, "a task failed");
    }
}
