//! One status message on its platform: sent once, edited at a pace that leaves room for speech, taken away.

use std::sync::Arc;
use std::time::Duration;

use selkie_channel_core::{Body, ConversationId, Delivery, MessageRef};
use tokio::time::Instant;

use super::messages;
use super::news::Haste;
use crate::delivery::account::Account;
use crate::delivery::outbox::Outbox;
use crate::delivery::status_calls::{MAX_GAP, SOON, Stand, StatusCalls, Turn};
use selkie_domain::ids::TaskId;
use selkie_domain::plan::Plan;
use selkie_store::{StatusChange, StatusNote};

/// The status message of one task.
pub(super) struct StatusMessage<'a> {
    calls: StatusCalls<'a>,
    task: TaskId,
    stand: Stand,
    /// What it says.
    message: String,
    gap: Duration,
    /// Before this moment it is not sent, but for what people have to know now.
    earliest: Instant,
    next: Instant,
}

impl<'a> StatusMessage<'a> {
    /// Begins a message that is sent from `earliest` on. `None` where messages cannot be changed.
    pub(super) fn of(
        outbox: &'a Arc<Outbox>,
        account: &'a Account,
        conversation: &'a ConversationId,
        task: TaskId,
        earliest: Instant,
    ) -> Option<Self> {
        let calls = StatusCalls { outbox, account, conversation };
        let gap = calls.gap();
        let (stand, message, next) = (Stand::Unsent, String::new(), Instant::now());
        calls.changes().then_some(Self { calls, task, stand, message, gap, earliest, next })
    }

    /// Takes up the message of an earlier life of the task. `None` when the store cannot tell.
    pub(super) async fn recall(&mut self) -> Option<()> {
        self.stand = Stand::of(self.calls.noted(StatusChange::Status, self.task).await?.as_ref());
        Some(())
    }

    /// Shows these words when it is time. Returns when to look again; `None` when only news change it.
    pub(super) async fn show(&mut self, words: &str, haste: Haste) -> Option<Instant> {
        if words.is_empty() || words == self.message || self.stand == Stand::Gone {
            return None;
        }
        let due = match (&self.stand, haste) {
            (Stand::At(_), _) | (_, Haste::Now) => self.next,
            (_, Haste::InTime) => self.next.max(self.earliest),
            (_, Haste::InPlace) => return None,
        };
        if due > Instant::now() {
            return Some(due);
        }
        if !self.calls.has_leave(Turn::AfterAll) {
            return Some(Instant::now() + SOON);
        }
        let delivery = match &self.stand {
            Stand::Unsent => {
                // Noted first: whatever comes between, there is never a second one.
                self.calls.note(StatusChange::Status, self.task, StatusNote::default()).await?;
                self.calls.say(Body::Status { markdown: words.to_owned() }).await
            }
            Stand::At(message) => self.calls.say(revision(message, words)).await,
            Stand::Gone => return None,
        };
        self.settle(delivery, words).await;
        Some(self.next)
    }

    /// Ends it: a plan stays as it stands now, anything else is withdrawn.
    pub(super) async fn close(self, plan: Option<&Plan>) {
        let message = match &self.stand {
            Stand::At(message) => message,
            Stand::Unsent => return,
            Stand::Gone => return self.forget().await,
        };
        let left = plan.map(messages::left).filter(|words| !words.is_empty());
        let body = match &left {
            Some(words) if *words == self.message => return self.forget().await,
            Some(words) => revision(message, words),
            None => Body::Withdrawal { message: message.clone() },
        };
        // What is noted is taken away at the next start.
        if self.calls.settle(&body).await.is_some() {
            self.forget().await;
        }
    }

    async fn settle(&mut self, delivery: Option<Delivery>, words: &str) {
        self.next = Instant::now() + self.gap;
        match delivery {
            Some(Delivery::Sent(receipt)) => {
                words.clone_into(&mut self.message);
                self.gap = self.calls.gap();
                if self.stand == Stand::Unsent {
                    self.note(receipt.message).await;
                }
            }
            Some(Delivery::Retry { after, .. }) => {
                self.gap = (self.gap * 2).clamp(SOON, MAX_GAP);
                self.next = Instant::now() + self.gap.max(after);
                if self.stand == Stand::Unsent {
                    // It is proven that nothing was sent.
                    self.forget().await;
                }
            }
            // The person has deleted it, or the bot may not speak here: the answer will tell.
            Some(Delivery::Refused { .. } | Delivery::Moved { .. } | Delivery::Instead { .. })
            | None => {
                self.stand = Stand::Gone;
                self.forget().await;
            }
            // It stays noted: it may be there.
            Some(Delivery::Unclear { .. }) => self.stand = Stand::Gone,
        }
    }

    async fn note(&mut self, message: Option<MessageRef>) {
        let Some(message) = message else {
            self.stand = Stand::Gone;
            return;
        };
        self.calls.note(StatusChange::Status, self.task, StatusNote::at(message.clone())).await;
        self.stand = Stand::At(message);
    }

    async fn forget(&self) {
        self.calls.forget(StatusChange::Status, self.task).await;
    }
}

fn revision(message: &MessageRef, words: &str) -> Body {
    Body::Revision { message: message.clone(), markdown: words.to_owned(), question: None }
}
