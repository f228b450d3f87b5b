//! A task's end: stored with what is said, and handed to whoever waits for it.

use crate::agent::Ending;
use crate::domain::crash::CrashPoint;
use crate::domain::happening::Happening;
use crate::flow::answer::{Answers, Onward};
use crate::flow::endings::Finished;
use crate::flow::limits;
use crate::flow::remains::Remains;
use crate::store::{Advance, Claimed, Committed, Draft, End, Queued};

impl Answers {
    /// Stores the end of a task and what it says; returns what its lane goes on with.
    pub(super) async fn finish(
        &self,
        claimed: &Claimed,
        ending: Ending,
        say: Vec<Draft>,
        hand_over: bool,
    ) -> Onward {
        let desk = &self.desk;
        let state = ending.end.state().name();
        if let End::Failed { why } = &ending.end {
            let task = claimed.claim.task;
            // Whoever may not be answered decides how often: that is no trouble of ours.
            match why.starts_with("ignored: ") {
                true => tracing::debug!(%task, why, "a task was not begun"),
                false => tracing::warn!(%task, why, "a task failed"),
            }
        }
        let Ending { append, header, end, facts, usage, set_aside, seen, .. } = ending;
        let (now, facts) = (desk.clock.now(), facts.map(|facts| *facts));
        let hand_over = hand_over && !desk.is_draining();
        let departs = say.first().is_some_and(|draft| desk.lets_depart(&draft.outbound));
        let mut finish = Advance::Finish {
            append,
            header,
            facts,
            end,
            say,
            usage,
            set_aside,
            departs,
            hand_over,
            now,
        };
        if !seen.is_empty() {
            finish = Advance::Absorb { seen, with: Box::new(finish) };
        }
        limits::used(desk, claimed, usage);
        desk.crash.hit(CrashPoint::BeforeFinish);
        let committed = desk.insist(|| desk.ledger.commit(&claimed.claim, finish.clone())).await;
        desk.crash.hit(CrashPoint::AfterFinish);
        let Some(Committed::Ended { queued, next, usage }) = committed else {
            if committed.is_none() && !desk.stop.work.is_cancelled() {
                // No repetition mends it.
                self.bury(Remains::of(claimed)).await;
            }
            tracing::warn!(task = %claimed.claim.task, "the claim was lost at the end: nothing is said");
            return Onward::default();
        };
        tracing::debug!(task = %claimed.claim.task, state, "its end is stored");
        self.hand_out(claimed, queued, state);
        desk.happenings.tell(|| Happening::Ended {
            conversation: claimed.conversation.clone(),
            task: claimed.claim.task,
            state: state.to_owned(),
            usage,
        });
        Onward { next: next.map(|next| *next), wake_at: None }
    }

    fn hand_out(&self, claimed: &Claimed, queued: Vec<Queued>, state: &str) {
        let rows: Vec<_> = claimed.heard.iter().map(|(row, _)| *row).collect();
        let waiting = self.endings.take(&rows);
        if queued.iter().any(|q| q.parts.is_empty()) {
            // It may be the next to expire.
            tracing::debug!(task = %claimed.claim.task, "its words wait: they are held, or refused here");
            self.desk.held.notify_one();
        }
        let rows: Vec<_> = queued.iter().map(|q| q.outbound).collect();
        let watches: Vec<Vec<_>> = waiting
            .iter()
            .map(|_| rows.iter().map(|row| self.desk.standings.watch(*row)).collect())
            .collect();
        for queued in queued {
            self.desk.send(queued);
        }
        for (sender, standings) in waiting.into_iter().zip(watches) {
            // Whoever asked may have gone.
            drop(sender.send(Finished { state: state.to_owned(), standings }));
        }
    }
}
