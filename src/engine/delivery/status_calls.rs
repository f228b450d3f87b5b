//! Calls that are no speech: made only with the leave that speech leaves, and never waited for by it.

use std::sync::Arc;
use std::time::Duration;

use selkie_channel_core::locked;
use selkie_channel_core::{
    Audience, Body, ConversationId, Delivery, MessageRef, Outbound, Pace, Part,
};
use tokio::time::Instant;

use crate::delivery::account::Account;
use crate::delivery::attempt;
use crate::delivery::moments::after;
use crate::delivery::outbox::Outbox;
use crate::delivery::outcome::Penalty;
use crate::delivery::rate_limiter::Leave;
use crate::delivery::rendered::rendered;
use selkie_domain::ids::TaskId;
use selkie_domain::span::Span;
use selkie_store::{StatusChange, StatusNote, StoreError};

/// How soon a moment is looked for in which nobody speaks.
pub(super) const SOON: Duration = Duration::from_millis(250);
/// Between two changes that the platform did not take.
pub(super) const MAX_GAP: Duration = Duration::from_secs(60);
/// How long a last change gives way to others' answers.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Whether such a call waits until nobody of the account has anything to say that could leave now, nor its conversation
/// anything at all, or only for its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    AfterAll,
    AfterPlace,
}

/// Where such calls go.
#[derive(Clone, Copy)]
pub(super) struct StatusCalls<'a> {
    pub(super) outbox: &'a Arc<Outbox>,
    pub(super) account: &'a Account,
    pub(super) conversation: &'a ConversationId,
}

impl StatusCalls<'_> {
    /// Whether messages can be changed there.
    pub(super) fn changes(&self) -> bool {
        let probe = Body::Status { markdown: "…".to_owned() };
        let probe = Outbound::new(self.conversation.clone(), probe);
        !self.rendered(&probe).is_empty()
    }

    /// Speech goes first: this takes only what no answer waits for, and never more than speech leaves.
    pub(super) fn has_leave(&self, turn: Turn) -> bool {
        let now = self.outbox.runtime.clock.now();
        let address = &self.account.channel.address;
        let place = address.place(self.conversation);
        let audience = address.features(self.conversation).audience;
        let mut limiter = locked(&self.account.limiter);
        if limiter.leave(place.key(), now) != Leave::Now {
            return false;
        }
        if limiter.is_lifted() {
            return true;
        }
        let waits = self.account.speech_goes_before(self.conversation);
        if turn == Turn::AfterAll && (waits || !limiter.has_room(place.key(), now)) {
            return false;
        }
        limiter.took_beside(place.key(), audience, now);
        true
    }

    /// Makes the call of a body. `None` for one that this channel has no call for.
    pub(super) async fn say(&self, body: Body) -> Option<Delivery> {
        let part = self.part(Outbound::new(self.conversation.clone(), body))?;
        Some(self.deliver(&part).await)
    }

    /// Renders the first call of something. `None` for what this channel has no call for.
    pub(super) fn part(&self, outbound: Outbound) -> Option<Part> {
        let outbound = outbound.numbered(self.outbox.runtime.nonce());
        self.rendered(&outbound).into_iter().next()
    }

    fn rendered(&self, outbound: &Outbound) -> Vec<Part> {
        rendered(&self.account.channel, outbound, &self.outbox.runtime.redactor)
    }

    /// Makes a call.
    pub(super) async fn deliver(&self, part: &Part) -> Delivery {
        let Self { outbox, account, conversation } = self;
        let delivery = account.channel.sender.deliver(part).await;
        if let Delivery::Retry { after: wait, account: whole, .. } = &delivery {
            let until = after(outbox.runtime.clock.now(), Span(*wait));
            let penalty = Penalty { account: *whole, until };
            // The platform counts one account, whoever calls.
            attempt::punish(outbox, account, conversation, penalty).await;
        }
        tracing::debug!(to = %conversation, ?delivery, "beside speech");
        delivery
    }

    /// Makes a last change once speech leaves room for it, and again until the platform has answered. `None` when the
    /// daemon ends before.
    pub(super) async fn settle(&self, body: &Body) -> Option<()> {
        let patience = Instant::now() + TIMEOUT;
        loop {
            // The answer is on its way to the delivery worker: it goes first.
            loop {
                self.wait(SOON).await?;
                let late = Instant::now() >= patience;
                if self.has_leave(if late { Turn::AfterPlace } else { Turn::AfterAll }) {
                    break;
                }
            }
            match self.say(body.clone()).await {
                Some(Delivery::Retry { after, .. }) => self.wait(after.max(self.gap())).await?,
                _ => return Some(()),
            }
        }
    }

    /// Waits; `None` when the daemon ends before.
    pub(super) async fn wait(&self, span: Duration) -> Option<()> {
        tokio::select! {
            () = tokio::time::sleep(span) => Some(()),
            () = self.outbox.runtime.stop.work.cancelled() => None,
        }
    }

    /// Returns the least time between two changes: where few calls a minute are taken, a quarter of them.
    pub(super) fn gap(&self) -> Duration {
        self.gap_of(4)
    }

    /// The same for an answer that grows, which people wait for: half of what a group may hear.
    pub(super) fn growth_gap(&self) -> Duration {
        self.gap_of(2)
    }

    /// Takes one call of so many in a group.
    fn gap_of(&self, share: u64) -> Duration {
        let Pace { per_direct, per_group_minute, .. } = self.account.channel.pace;
        let pace = match self.account.channel.address.features(self.conversation).audience {
            Audience::Direct => per_direct * 2,
            Audience::Group => per_group_minute
                .map_or(Duration::ZERO, |most| Duration::from_secs(60 * share) / most.get()),
        };
        pace.max(self.outbox.settings.now().progress.every.0)
    }

    /// Notes where a message of a task stands that changes, or that one is about to be sent.
    pub(super) async fn note(
        &self,
        of: StatusChange,
        task: TaskId,
        noted: StatusNote,
    ) -> Option<()> {
        self.told(self.outbox.storage.ledger.note_status(of, task, noted).await)
    }

    /// Nothing of it stands any more, or it may stay.
    pub(super) async fn forget(&self, of: StatusChange, task: TaskId) {
        self.told(self.outbox.storage.ledger.forget_status(of, task).await);
    }

    /// What an earlier life of a task has left standing. `None` when the store cannot tell.
    pub(super) async fn noted(&self, of: StatusChange, task: TaskId) -> Option<Option<StatusNote>> {
        self.told(self.outbox.storage.ledger.noted_status(of, task).await)
    }

    /// This is nothing that a broken store is told for.
    fn told<T>(&self, answer: Result<T, StoreError>) -> Option<T> {
        answer.inspect_err(|error| self.outbox.storage.trouble(error)).ok()
    }
}

/// Where a message stands that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    /// Nowhere yet.
    Unsent,
    /// There.
    At(MessageRef),
    /// Nowhere any more, or nobody knows where: this task sends no other.
    Gone,
}

impl Stand {
    /// As an earlier life has noted it.
    pub(super) fn of(noted: Option<&StatusNote>) -> Self {
        match noted.map(|noted| &noted.message) {
            None => Self::Unsent,
            Some(None) => Self::Gone,
            Some(Some(message)) => Self::At(message.clone()),
        }
    }
}

/// Takes away what ended tasks have left standing, when a crash came before their last change.
pub async fn sweep(outbox: Arc<Outbox>) {
    for of in StatusChange::ALL {
        let strays = outbox.storage.ledger.stray_statuses(of).await;
        let strays = strays.inspect_err(|error| outbox.storage.trouble(error)).unwrap_or_default();
        for stray in strays {
            let conversation = &stray.conversation;
            let Some(account) = outbox.accounts.of(conversation) else { continue };
            let calls = StatusCalls { outbox: &outbox, account: &account, conversation };
            if let Some(message) = stray.message {
                while !calls.has_leave(Turn::AfterPlace) {
                    if calls.wait(SOON).await.is_none() {
                        return;
                    }
                }
                let delivery = calls.say(Body::Withdrawal { message }).await;
                if matches!(delivery, Some(Delivery::Retry { .. })) {
                    // The next start tries again.
                    continue;
                }
            }
            calls.forget(of, stray.task).await;
        }
    }
}
