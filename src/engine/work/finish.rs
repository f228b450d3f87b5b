//! A task's end: stored with what is said, and handed to whoever waits for it.

use crate::work::answer::Answers;
use crate::work::failed_finish::Remains;
use crate::work::heartbeat_alert;
use crate::work::next_step::Onward;
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

impl Answers {
    /// Stores the end of a task and what it says; returns what its lane goes on with.
    pub async fn finish(
        &self,
        claimed: &TaskClaim,
        ending: DriveOutcome,
        say: Vec<Draft>,
        hand_over: bool,
    ) -> Onward {
        let outbox = &self.outbox;
        let state = ending.end.state().name();
        if let End::Failed { why } = &ending.end {
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
        let unheard = unattended::has_nothing_to_tell(claimed, &ending);
        let has_failed = matches!(&ending.end, End::Failed { .. });
        let story = Story::of(claimed, &ending);
        let DriveOutcome { append, header, end, facts, usage, set_aside, seen, cut, wrote, .. } =
            ending;
        let (now, facts) = (outbox.runtime.clock.now(), facts.map(|facts| *facts));
        let hand_over = hand_over && !outbox.runtime.is_draining();
        let departs = say.first().is_some_and(|draft| outbox.lets_depart(&draft.outbound));
        let mut finish = Advance::Finish {
            append,
            header,
            facts,
            end,
            say,
            usage,
            set_aside,
            unheard,
            cut,
            departs,
            hand_over,
            now,
        };
        if !wrote.is_empty() {
            finish = Advance::Counted { calls: wrote, with: Box::new(finish) };
        }
        if !seen.is_empty() {
            finish = Advance::Absorb { seen, with: Box::new(finish) };
        }
        self.limits.used(claimed, usage);
        outbox.runtime.metrics.task(state);
        outbox.runtime.crash.hit(CrashPoint::BeforeFinish);
        let committed =
            outbox.storage.insist(|ledger| ledger.commit(&claimed.claim, finish.clone())).await;
        outbox.runtime.crash.hit(CrashPoint::AfterFinish);
        let Some(CommitResult::Ended { queued, next, usage }) = committed else {
            if committed.is_none() && !outbox.runtime.stop.work.is_cancelled() {
                // No repetition mends it.
                self.bury(Remains::of(claimed)).await;
            }
            tracing::warn!(task = %claimed.claim.task, "the claim was lost at the end: nothing is said");
            return Onward::default();
        };
        tracing::debug!(task = %claimed.claim.task, state, "its end is stored");
        self.hand_out(
            claimed,
            queued,
            state,
            story.map(|story| story.costs(usage, outbox.runtime.now())),
        );
        outbox.runtime.happenings.tell(|| Event::Ended {
            conversation: claimed.conversation.clone(),
            task: claimed.claim.task,
            state: state.to_owned(),
            usage,
        });
        if has_failed && claimed.facts.trigger == Trigger::Heartbeat {
            heartbeat_alert::tell_of_task(outbox, claimed).await;
        }
        Onward { next: next.map(|next| *next), ..Onward::default() }
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
            self.outbox.late.held.notify_one();
        }
        let rows: Vec<_> = queued.iter().map(|q| q.outbound).collect();
        let waiting = waiting.map(|sender| {
            let watch = |row: &OutboundId| self.outbox.waiters.watch(*row);
            (sender, rows.iter().map(watch).collect::<Vec<_>>())
        });
        if let Some(story) = story {
            story.told_when_sent(&self.outbox, &rows);
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
