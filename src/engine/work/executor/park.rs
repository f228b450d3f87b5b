//! A run that waits for a person: its question is stored with the park, and seen off when nobody answered.

use chrono::{DateTime, Utc};
use selkie_channel_core::{Body, Outbound};

use crate::delivery::deferred;
use crate::delivery::moments::after;
use crate::delivery::questions;
use crate::work::executor::TaskExecutor;
use crate::work::executor::addressee::{person, quote};
use crate::work::executor::failed_finish::UnfinishedTask;
use crate::work::executor::next_step::{NextStep, ParkOutcome};
use selkie_agent::PendingQuestion;
use selkie_domain::crash::CrashPoint;
use selkie_domain::event::Event;
use selkie_domain::question::QuestionResult;
use selkie_domain::task::ParkedOn;
use selkie_store::{Advance, CommitResult, Draft, NewQuestion, TaskClaim};

impl TaskExecutor {
    /// Parks a task on its question: question, message and end of the claim in one.
    pub(super) async fn park(
        &self,
        claimed: &TaskClaim,
        asks: PendingQuestion,
        hand_over: bool,
    ) -> ParkOutcome {
        let Some((person, draft)) = person(claimed).zip(self.draft_question(claimed, &asks)) else {
            return ParkOutcome::NobodyToAsk;
        };
        let PendingQuestion { key, ask, append, header, usage } = asks;
        let now = self.context.runtime.clock.now();
        let hand_over = hand_over && !self.context.runtime.is_draining();
        let expires_at = after(now, ask.within);
        let on = ParkedOn::Question { key: key.clone() };
        let wake_at = Some(expires_at);
        let ask = Some(Box::new(NewQuestion { key, person, ask, expires_at, draft }));
        self.limits.used(claimed, usage);
        let park =
            Advance::Park { append, header, on, ask, seek: None, wake_at, usage, hand_over, now };
        self.commit_park(claimed, park, wake_at).await
    }

    /// Stores a park.
    pub(super) async fn commit_park(
        &self,
        claimed: &TaskClaim,
        park: Advance,
        wake_at: Option<DateTime<Utc>>,
    ) -> ParkOutcome {
        let outbox = &self.outbox;
        let asks = !matches!(park, Advance::Spawn { .. });
        let committed =
            self.context.storage.insist(|ledger| ledger.commit(&claimed.claim, park.clone())).await;
        let point = if asks { CrashPoint::AfterPark } else { CrashPoint::AfterSpawn };
        self.context.runtime.crash.hit(point);
        match committed {
            Some(CommitResult::Ended { queued, next, usage, ready, .. }) => {
                // What asks nobody wakes its task at once.
                let has_asked = !queued.is_empty();
                let is_woken = asks && !has_asked;
                let wake_at = if is_woken { Some(self.context.runtime.now()) } else { wake_at };
                queued.into_iter().for_each(|queued| outbox.send(queued));
                self.context.runtime.events.emit(|| Event::Ended {
                    conversation: claimed.conversation.clone(),
                    task: claimed.claim.task,
                    state: "parked".to_owned(),
                    usage,
                });
                let next = next.map(|next| *next);
                ParkOutcome::Parked(Box::new(NextStep {
                    next,
                    wake_at,
                    ready,
                    has_asked,
                    is_announced: false,
                }))
            }
            Some(CommitResult::Continue { .. } | CommitResult::NotApproved { .. }) => {
                ParkOutcome::Stopped
            }
            None if !self.context.runtime.stop.work.is_cancelled() => {
                // No repetition mends it.
                self.end_after_defect(UnfinishedTask::of(claimed)).await;
                ParkOutcome::Parked(Box::default())
            }
            Some(CommitResult::Lost) | None => ParkOutcome::Parked(Box::default()),
        }
    }

    /// Takes the buttons off a question that nobody has answered in time.
    pub(super) async fn close_expired_question(&self, claimed: &TaskClaim) {
        let Some(settled) = &claimed.settled else { return };
        let question = &settled.question;
        if question.given != Some(QuestionResult::Expired) {
            return;
        }
        let line = questions::outcome(&question.ask, question.given.as_ref());
        questions::close(&self.outbox, question.clone(), &line, None).await;
    }

    fn draft_question(&self, claimed: &TaskClaim, asks: &PendingQuestion) -> Option<Draft> {
        let conversation = &claimed.conversation;
        let question = questions::asked(&self.outbox, conversation, &asks.key, &asks.ask);
        let outbound = Outbound::new(conversation.clone(), Body::Question(question));
        let window = deferred::right(&self.outbox, claimed);
        self.outbox.rendered(outbound.quoting(quote(claimed)).within(window))
    }
}
