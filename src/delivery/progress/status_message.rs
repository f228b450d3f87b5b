//! One status message on its platform: sent once, edited at a pace that leaves room for speech, taken away.

use std::sync::Arc;
use std::time::Duration;

use selkie_channel_core::locked;
use selkie_channel_core::{
    Audience, Body, ConversationId, Delivery, MessageRef, Outbound, Pace, Part,
};
use tokio::time::Instant;

use super::messages;
use super::news::Haste;
use crate::delivery::account::Account;
use crate::delivery::attempt;
use crate::delivery::moments::after;
use crate::delivery::outbox::Outbox;
use crate::delivery::outcome::Penalty;
use crate::delivery::rate_limiter::Leave;
use crate::domain::ids::TaskId;
use crate::domain::plan::Plan;
use crate::store::StoreError;

/// Between two edits that the platform did not take.
const LONGEST_GAP: Duration = Duration::from_secs(60);
/// How long the last edit gives way to others' answers.
const PATIENCE: Duration = Duration::from_secs(10);
/// How soon a moment is looked for in which nobody speaks.
const SOON: Duration = Duration::from_millis(250);

/// The status message of one task.
pub(super) struct StatusMessage<'a> {
    outbox: &'a Arc<Outbox>,
    account: &'a Account,
    conversation: &'a ConversationId,
    task: TaskId,
    stand: Stand,
    /// What it says.
    says: String,
    gap: Duration,
    /// Before this moment it is not sent, but for what people have to know now.
    earliest: Instant,
    next: Instant,
}

/// Where it stands.
enum Stand {
    /// Nowhere yet.
    Unsent,
    /// There.
    At(MessageRef),
    /// Nowhere any more, or nobody knows where: this task sends no other.
    Gone,
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
        let probe = Body::Status { markdown: "…".to_owned() };
        let probe = Outbound::new(conversation.clone(), probe);
        if account.channel.sender.render(&probe).is_empty() {
            return None;
        }
        let gap = gap(outbox, account, conversation);
        let (stand, says, next) = (Stand::Unsent, String::new(), Instant::now());
        Some(Self { outbox, account, conversation, task, stand, says, gap, earliest, next })
    }

    /// Takes up the message of an earlier life of the task. `None` when the store cannot tell.
    pub(super) async fn recall(&mut self) -> Option<()> {
        let noted = told(self.outbox, self.outbox.storage.ledger.noted_status(self.task).await)?;
        self.stand = match noted {
            None => Stand::Unsent,
            Some(None) => Stand::Gone,
            Some(Some(message)) => Stand::At(message),
        };
        Some(())
    }

    /// Shows these words when it is time. Returns when to look again; `None` when only news change it.
    pub(super) async fn show(&mut self, words: &str, haste: Haste) -> Option<Instant> {
        if words.is_empty() || words == self.says || matches!(self.stand, Stand::Gone) {
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
        if !self.has_leave(Turn::Behind) {
            return Some(Instant::now() + SOON);
        }
        let delivery = match &self.stand {
            Stand::Unsent => {
                // Noted first: whatever comes between, there is never a second one.
                told(self.outbox, self.outbox.storage.ledger.note_status(self.task, None).await)?;
                self.deliver(Body::Status { markdown: words.to_owned() }).await
            }
            Stand::At(message) => self.deliver(revision(message, words)).await,
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
            Some(words) if *words == self.says => return self.forget().await,
            Some(words) => revision(message, words),
            None => Body::Withdrawal { message: message.clone() },
        };
        let patience = Instant::now() + PATIENCE;
        loop {
            // The answer is on its way to the delivery worker: it goes first.
            loop {
                tokio::select! {
                    () = tokio::time::sleep(SOON) => {}
                    // What is noted is taken away at the next start.
                    () = self.outbox.runtime.stop.work.cancelled() => return,
                }
                let late = Instant::now() >= patience;
                if self.has_leave(if late { Turn::Beside } else { Turn::Behind }) {
                    break;
                }
            }
            match self.deliver(body.clone()).await {
                Some(Delivery::Retry { after, .. }) => {
                    tokio::select! {
                        () = tokio::time::sleep(after.max(self.gap)) => {}
                        () = self.outbox.runtime.stop.work.cancelled() => return,
                    }
                }
                _ => return self.forget().await,
            }
        }
    }

    async fn settle(&mut self, delivery: Option<Delivery>, words: &str) {
        self.next = Instant::now() + self.gap;
        match delivery {
            Some(Delivery::Sent(receipt)) => {
                words.clone_into(&mut self.says);
                self.gap = gap(self.outbox, self.account, self.conversation);
                if matches!(self.stand, Stand::Unsent) {
                    self.note(receipt.message).await;
                }
            }
            Some(Delivery::Retry { after, .. }) => {
                self.gap = (self.gap * 2).clamp(SOON, LONGEST_GAP);
                self.next = Instant::now() + self.gap.max(after);
                if matches!(self.stand, Stand::Unsent) {
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
        told(
            self.outbox,
            self.outbox.storage.ledger.note_status(self.task, Some(message.clone())).await,
        );
        self.stand = Stand::At(message);
    }

    async fn forget(&self) {
        told(self.outbox, self.outbox.storage.ledger.forget_status(self.task).await);
    }

    /// Makes the call. `None` for a body that this channel has no call for.
    async fn deliver(&self, body: Body) -> Option<Delivery> {
        deliver(self.outbox, self.account, self.conversation, body).await
    }

    fn has_leave(&self, turn: Turn) -> bool {
        has_leave(self.outbox, self.account, self.conversation, turn)
    }
}

/// Takes away what ended tasks have left standing, when a crash came before their last edit.
pub(crate) async fn sweep(outbox: Arc<Outbox>) {
    let Some(strays) = told(&outbox, outbox.storage.ledger.stray_statuses().await) else { return };
    for stray in strays {
        let Some(account) = outbox.accounts.of(&stray.conversation) else { continue };
        if let Some(message) = stray.message {
            while !has_leave(&outbox, account, &stray.conversation, Turn::Beside) {
                tokio::select! {
                    () = tokio::time::sleep(SOON) => {}
                    () = outbox.runtime.stop.work.cancelled() => return,
                }
            }
            let body = Body::Withdrawal { message };
            let delivery = deliver(&outbox, account, &stray.conversation, body).await;
            if matches!(delivery, Some(Delivery::Retry { .. })) {
                // The next start tries again.
                continue;
            }
        }
        told(&outbox, outbox.storage.ledger.forget_status(stray.task).await);
    }
}

/// Whether progress waits until nobody of the account has anything to say, or only for its place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Behind,
    Beside,
}

/// Speech goes first: progress takes only what no answer waits for, and never more than speech leaves.
fn has_leave(
    outbox: &Outbox,
    account: &Account,
    conversation: &ConversationId,
    turn: Turn,
) -> bool {
    let now = outbox.runtime.clock.now();
    let address = &account.channel.address;
    let (place, audience) = (address.place(conversation), address.features(conversation).audience);
    let mut limiter = locked(&account.limiter);
    if limiter.leave(place.key(), now) != Leave::Now {
        return false;
    }
    if limiter.is_lifted() {
        return true;
    }
    let waits = account.waiting.load(std::sync::atomic::Ordering::Relaxed) > 0;
    if turn == Turn::Behind && (waits || !limiter.has_room(place.key(), now)) {
        return false;
    }
    limiter.took_beside(place.key(), audience, now);
    true
}

async fn deliver(
    outbox: &Arc<Outbox>,
    account: &Account,
    conversation: &ConversationId,
    body: Body,
) -> Option<Delivery> {
    let outbound = Outbound::new(conversation.clone(), body).numbered(outbox.runtime.nonce());
    let part: Part = account.channel.sender.render(&outbound).into_iter().next()?;
    let delivery = account.channel.sender.deliver(&part).await;
    if let Delivery::Retry { after: wait, account: whole, .. } = &delivery {
        let until = after(outbox.runtime.clock.now(), crate::domain::span::Span(*wait));
        let penalty = Penalty { account: *whole, until };
        // The platform counts one account, whoever calls.
        attempt::punish(outbox, account, conversation, penalty).await;
    }
    tracing::debug!(to = %conversation, ?delivery, "progress");
    Some(delivery)
}

fn revision(message: &MessageRef, words: &str) -> Body {
    Body::Revision { message: message.clone(), markdown: words.to_owned(), question: None }
}

/// Returns the least time between two edits: where few calls a minute are taken, a quarter of them.
fn gap(outbox: &Outbox, account: &Account, conversation: &ConversationId) -> Duration {
    let Pace { per_direct, per_group_minute, .. } = account.channel.pace;
    let pace = match account.channel.address.features(conversation).audience {
        Audience::Direct => per_direct * 2,
        Audience::Group => {
            per_group_minute.map_or(Duration::ZERO, |most| Duration::from_secs(240) / most.get())
        }
    };
    pace.max(outbox.settings.progress.every.0)
}

/// Progress is nothing that a broken store is told for.
fn told<T>(outbox: &Arc<Outbox>, answer: Result<T, StoreError>) -> Option<T> {
    answer.inspect_err(|error| outbox.storage.trouble(error)).ok()
}
