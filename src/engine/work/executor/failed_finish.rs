//! The end of a task whose own end went wrong: a panic outside its run, or an end that no row can hold.

use std::panic::{AssertUnwindSafe, catch_unwind};

use selkie_channel_core::ConversationId;

use crate::work::executor::TaskExecutor;
use crate::work::messages;
use crate::work::task_waiters::TaskEnd;
use selkie_domain::task::Claim;
use selkie_domain::usage::Usage;
use selkie_store::{Advance, CommitResult, End, QueuedOutbound, TaskClaim};

/// What is needed of a claimed task to end it.
pub struct UnfinishedTask {
    claim: Claim,
    conversation: ConversationId,
    header: Option<String>,
    /// It is an agent's: it says nothing by itself.
    is_agent: bool,
}

impl UnfinishedTask {
    pub(crate) fn of(claimed: &TaskClaim) -> Self {
        Self {
            claim: claimed.claim.clone(),
            conversation: claimed.conversation.clone(),
            header: claimed.header.clone(),
            is_agent: claimed.facts.parent.is_some(),
        }
    }
}

impl TaskExecutor {
    /// Ends a task as failed, when it still runs: without this it would stand as running until the next start,
    /// and whoever asked would wait.
    pub async fn end_after_defect(&self, unfinished: UnfinishedTask) {
        let UnfinishedTask { claim, conversation, header, is_agent } = unfinished;
        let outbox = &self.outbox;
        self.running.end(claim.task);
        tracing::error!(task = %claim.task, "a defect ended a task");
        // It may be the rendering that is broken.
        let draft = || outbox.draft(&conversation, &messages::defect(), None, None);
        let say = catch_unwind(AssertUnwindSafe(draft)).ok().flatten().filter(|_| !is_agent);
        let finish = Advance::Finish {
            append: Vec::new(),
            header: header.unwrap_or_else(|| "{}".to_owned()),
            facts: None,
            end: End::Failed { why: "a defect: its end went wrong".to_owned() },
            say: say.into_iter().collect(),
            usage: Usage::default(),
            set_aside: false,
            unheard: false,
            cut: None,
            departs: false,
            hand_over: false,
            now: self.context.runtime.clock.now(),
        };
        let committed =
            self.context.storage.insist(|ledger| ledger.commit(&claim, finish.clone())).await;
        let waiting = self.task_waiters.take(claim.task);
        let Some(CommitResult::Ended { queued, stopping, .. }) = committed else { return };
        stopping.into_iter().for_each(|task| self.running.stop(task));
        // Whoever has waited for it goes on.
        outbox.wake();
        let watch = |queued: &QueuedOutbound| outbox.watch(queued.outbound);
        let waiting = waiting.map(|sender| (sender, queued.iter().map(watch).collect::<Vec<_>>()));
        queued.into_iter().for_each(|queued| outbox.send(queued));
        if let Some((sender, waiters)) = waiting {
            // Whoever asked may have gone.
            drop(sender.send(TaskEnd { state: "failed".to_owned(), waiters }));
        }
    }
}
