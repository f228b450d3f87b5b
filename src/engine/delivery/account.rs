//! One channel's account while the daemon runs: the channel, whom it listens to now, how it stands.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use chrono::{DateTime, Utc};
use selkie_channel_core::locked;
use selkie_channel_core::{
    AccountId, AllowList, Channel, ConversationId, PersonId, PlaceId, UnpromptedCost,
};
use serde::Serialize;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::delivery::paused::PausedAccounts;
use crate::delivery::rate_limiter::RateLimiter;

/// So long a platform is asked what speaking costs: schedules of other platforms wait meanwhile.
const TOLD_WITHIN: Duration = Duration::from_secs(5);

/// One account.
pub struct Account {
    /// The channel that it is an account of.
    pub channel: Channel,
    pub(crate) limiter: Arc<Mutex<RateLimiter>>,
    /// Parts that wait to be sent: presence gives way to them.
    pub waiting: AtomicUsize,
    /// Those of them that wait for a time of their conversation's.
    pub paused: Mutex<PausedAccounts>,
    /// What none of its calls can change for a while, as its delivery worker saw it last while the daemon ends.
    held: Mutex<Option<HeldParts>>,
    allow: RwLock<AllowList>,
    hearing: Mutex<ListenState>,
    heard_ms: AtomicI64,
    /// When the receiver's loop has to have turned again.
    due: Mutex<Option<Instant>>,
    /// The platform refuses: the next that is heard is news.
    refused: AtomicBool,
    /// Refused for sure, without ever having worked.
    hopeless: AtomicBool,
    again: Notify,
    /// The platform has answered or refused since this was made.
    answered: watch::Sender<bool>,
    /// The config names it no more: nothing is begun for it.
    leaving: AtomicBool,
    /// How many workers are at a task of it, whoever stood in its place before.
    at_work: watch::Sender<usize>,
    /// What receives.
    pub receiving: Loop,
    /// What sends.
    pub sending: Loop,
}

/// What runs for an account, and how it is ended alone.
#[derive(Default)]
pub struct Loop {
    pub(crate) end: CancellationToken,
    pub(crate) tracker: TaskTracker,
}

impl Loop {
    /// Ends it, and waits until it has ended.
    pub async fn ended(&self) {
        self.end.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }
}

/// Parts that wait, with no call in flight.
#[derive(Clone, Copy, Debug)]
pub struct HeldParts {
    /// How many; those in doubt are none of them.
    pub parts: usize,
    /// Before this moment none of them can leave.
    pub until: DateTime<Utc>,
}

/// A worker is at a task of an account, until this is dropped.
pub struct AtWork(watch::Sender<usize>);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.send_modify(|workers| *workers -= 1);
    }
}

/// Whether a channel hears.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "hearing", rename_all = "snake_case")]
pub enum ListenState {
    /// It listens.
    Listening,
    /// The platform refuses its credential; it is asked again from time to time.
    Refused {
        /// In words.
        reason: String,
    },
    /// It does not listen: it only speaks, is not started yet, or has ended.
    Off,
}

/// How a channel stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChannelState {
    /// The channel's name: `telegram`.
    pub name: &'static str,
    /// Which bot.
    pub account: AccountId,
    /// Whether it hears.
    pub hearing: ListenState,
    /// How long ago the platform last answered.
    pub heard_ago: Option<Duration>,
}

impl Account {
    pub(crate) fn new(channel: Channel) -> Self {
        Self {
            limiter: Arc::new(Mutex::new(RateLimiter::new(channel.pace))),
            waiting: AtomicUsize::new(0),
            paused: Mutex::default(),
            held: Mutex::default(),
            allow: RwLock::new(channel.allow.clone()),
            hearing: Mutex::new(ListenState::Off),
            heard_ms: AtomicI64::new(i64::MIN),
            due: Mutex::new(None),
            refused: AtomicBool::new(false),
            hopeless: AtomicBool::new(false),
            again: Notify::new(),
            answered: watch::Sender::new(false),
            leaving: AtomicBool::new(false),
            at_work: watch::Sender::new(0),
            receiving: Loop::default(),
            sending: Loop::default(),
            channel,
        }
    }

    /// The same bot by another config: it goes on at the pace of before, and has worked when that has.
    pub fn in_place_of(before: &Self, channel: Channel) -> Self {
        let goes_on = before.channel.pace == channel.pace;
        let mut after = Self { at_work: before.at_work.clone(), ..Self::new(channel) };
        if goes_on {
            after.limiter = Arc::clone(&before.limiter);
        }
        after.heard_ms.store(before.heard_ms.load(Ordering::Relaxed), Ordering::Relaxed);
        after
    }

    /// Whether speech goes before what is none, in this conversation.
    pub fn speech_goes_before(&self, conversation: &ConversationId) -> bool {
        locked(&self.paused).goes_before(conversation, self.waiting.load(Ordering::SeqCst))
    }

    /// Notes what waits; `None` while a call is made.
    pub fn hold(&self, held: Option<HeldParts>) {
        *locked(&self.held) = held;
    }

    /// Counts the parts of which none can leave before this moment.
    pub fn held_until(&self, at: DateTime<Utc>) -> usize {
        locked(&self.held).filter(|held| held.until > at).map_or(0, |held| held.parts)
    }

    /// Begins nothing more: the config names it no more.
    pub fn leave(&self) {
        self.leaving.store(true, Ordering::SeqCst);
    }

    /// Whether nothing more is begun for it.
    pub fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::SeqCst)
    }

    /// Notes that a worker is at a task of it.
    pub fn at_work(&self) -> AtWork {
        self.at_work.send_modify(|workers| *workers += 1);
        AtWork(self.at_work.clone())
    }

    /// Counts the workers that are at a task of it.
    pub fn workers(&self) -> usize {
        *self.at_work.borrow()
    }

    /// Waits until no worker is at a task of it.
    pub async fn rests(&self) {
        // The sender lives as long as `self`.
        self.at_work.subscribe().wait_for(|workers| *workers == 0).await.ok();
    }

    /// Listens to somebody from now on, beside those of the config.
    pub fn let_in(&self, person: &PersonId) {
        self.allow.write().unwrap_or_else(PoisonError::into_inner).let_in(person.as_str());
    }

    /// Listens to somebody no more, unless the config says so.
    pub fn shut_out(&self, person: &PersonId) {
        if !self.channel.allow.names(person.as_str()) {
            self.allow.write().unwrap_or_else(PoisonError::into_inner).shut_out(person.as_str());
        }
    }

    /// Reads the allow list as it is now.
    pub fn with_allowed<T>(&self, read: impl FnOnce(&AllowList) -> T) -> T {
        read(&self.allow.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets a moved place keep its rights. Returns whether it would lose them without: the list names
    /// its old id and not the new one.
    pub fn alias(&self, old: &PlaceId, new: &PlaceId) -> bool {
        let mut allow = self.allow.write().unwrap_or_else(PoisonError::into_inner);
        let needed = allow.names(old.key()) && !allow.names(new.key());
        allow.alias(old.key(), new.key());
        needed
    }

    /// Names the tool by which alone something is made public there; `None` where people are talked with.
    pub fn posts_by(&self) -> Option<&'static str> {
        self.channel.posting.as_ref().map(|postable| postable.data.later.name)
    }

    /// Tells what it comes to that the bot speaks where nobody has just spoken; a platform that takes its time is not waited
    /// for: delivery finds out.
    pub async fn unasked(&self, conversation: &ConversationId) -> UnpromptedCost {
        let told = self.channel.sender.unasked(conversation);
        tokio::time::timeout(TOLD_WITHIN, told).await.unwrap_or(UnpromptedCost::Free)
    }

    pub(crate) fn set_hearing(&self, hearing: ListenState) {
        let is_refused = matches!(hearing, ListenState::Refused { .. });
        self.refused.store(is_refused, Ordering::Relaxed);
        *locked(&self.hearing) = hearing;
        if is_refused {
            self.has_answer();
        }
    }

    /// Notes a round trip with the platform.
    pub fn heard(&self, now: DateTime<Utc>) {
        self.heard_ms.store(now.timestamp_millis(), Ordering::Relaxed);
        self.has_answer();
        if self.refused.load(Ordering::Relaxed) {
            self.set_hearing(ListenState::Listening);
            self.again.notify_one();
        }
    }

    fn has_answer(&self) {
        self.answered.send_if_modified(|answered| !std::mem::replace(answered, true));
    }

    /// Waits until the platform has answered what receives, or refused it: then why.
    pub async fn first_answer(&self) -> Option<String> {
        // The sender lives as long as `self`.
        self.answered.subscribe().wait_for(|answered| *answered).await.ok();
        match &*locked(&self.hearing) {
            ListenState::Refused { reason } => Some(reason.clone()),
            _ => None,
        }
    }

    /// Notes that the receiver's loop turns, and turns again within this time.
    pub fn turns(&self, within: Duration) {
        *locked(&self.due) = Instant::now().checked_add(within);
    }

    /// Whether the receiver's loop should have turned so long ago. One that waits because the platform refuses it, or
    /// that has none, is never late.
    pub fn is_late(&self, by: Duration) -> bool {
        let listens = *locked(&self.hearing) == ListenState::Listening;
        listens && locked(&self.due).is_some_and(|due| due.elapsed() > by)
    }

    /// Waits until a platform that refused answers again.
    pub async fn heard_again(&self) {
        self.again.notified().await;
    }

    /// Whether the platform has ever answered since the start.
    pub fn has_worked(&self) -> bool {
        self.heard_ms.load(Ordering::Relaxed) != i64::MIN
    }

    /// Whether the platform refuses, as far as is known.
    pub fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    /// Notes that it is refused for sure and has never worked.
    pub fn lose_hope(&self) {
        self.hopeless.store(true, Ordering::Relaxed);
    }

    /// Why it will not work; `None` while it may.
    pub fn hopeless(&self) -> Option<String> {
        let lost = self.hopeless.load(Ordering::Relaxed) && !self.has_worked();
        let hearing = locked(&self.hearing);
        match &*hearing {
            ListenState::Refused { reason } if lost => Some(reason.clone()),
            _ => None,
        }
    }

    pub(crate) fn state(&self, now: DateTime<Utc>) -> ChannelState {
        let at = DateTime::from_timestamp_millis(self.heard_ms.load(Ordering::Relaxed));
        ChannelState {
            name: self.channel.name,
            account: self.channel.account.clone(),
            hearing: locked(&self.hearing).clone(),
            heard_ago: at.map(|at| (now - at).to_std().unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing;

    #[tokio::test(start_paused = true)]
    async fn a_receiver_that_stands_still_is_late_and_one_that_is_refused_is_not() {
        let account = Account::new(testing::other().0);
        let by = Duration::from_secs(300);
        account.set_hearing(ListenState::Listening);
        assert!(!account.is_late(by), "it has not said yet when it turns");
        account.turns(Duration::from_secs(60));
        tokio::time::advance(Duration::from_secs(360)).await;
        assert!(!account.is_late(by));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(account.is_late(by));
        account.set_hearing(ListenState::Refused { reason: "401".to_owned() });
        assert!(!account.is_late(by));
        account.set_hearing(ListenState::Listening);
        account.turns(Duration::from_secs(60));
        assert!(!account.is_late(by));
    }
}
