//! Carries one account's parts to its platform: strictly in order within a conversation, conversations
//! side by side, at the account's pace.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use selkie_channel_core::locked;
use selkie_channel_core::{ConversationId, Part};

use crate::delivery::account::{Account, HeldParts};
use crate::delivery::attempt::{Next, attempt};
use crate::delivery::outbox::Outbox;
use crate::delivery::queue::PartQueue;
use crate::delivery::rate_limiter::Leave;
use selkie_domain::ids::PartId;
use selkie_store::{DuePart, Outcome, QueuedOutbound, StoreError};

/// Calls in flight at once for one account.
const MAX_IN_FLIGHT: usize = 64;

/// So many attempts in a row that were not taken are an outage.
const OUTAGE: u32 = 2;

/// What is asked about again so soon keeps its place in its lane.
const SOON: TimeDelta = TimeDelta::seconds(15);

/// The delivery worker of one account.
pub struct DeliveryWorker {
    outbox: Arc<Outbox>,
    account: Arc<Account>,
    queue: PartQueue,
    /// Never empty; the head stays while it flies.
    lanes: HashMap<ConversationId, VecDeque<DuePart>>,
    ready: VecDeque<ConversationId>,
    /// Ready as well, but for what answers nobody (hints, notices): it goes when no answer waits.
    later: VecDeque<ConversationId>,
    timed: BTreeSet<(DateTime<Utc>, ConversationId)>,
    /// Parts read at the start: what the queue brings of them is known.
    loaded: HashSet<PartId>,
    /// Parts that may have arrived, of which the platform does not say so: others of their lane go before them.
    aside: HashSet<PartId>,
    /// Attempts that were not taken since the platform last answered.
    failed: u32,
}

/// The attempts in flight.
type Attempts = FuturesUnordered<BoxFuture<'static, AttemptResult>>;

/// What one attempt left behind.
struct AttemptResult {
    conversation: ConversationId,
    next: Next,
}

impl DeliveryWorker {
    pub(crate) fn new(outbox: Arc<Outbox>, account: Arc<Account>, queue: PartQueue) -> Self {
        Self {
            outbox,
            account,
            queue,
            lanes: HashMap::new(),
            ready: VecDeque::new(),
            later: VecDeque::new(),
            timed: BTreeSet::new(),
            loaded: HashSet::new(),
            aside: HashSet::new(),
            failed: 0,
        }
    }

    /// Reads what an earlier instance left: unsent parts and penalties.
    pub async fn load(&mut self) -> Result<(), StoreError> {
        let id = self.account.channel.account.clone();
        let now = self.outbox.runtime.clock.now();
        for (scope, until) in self.outbox.storage.ledger.penalties(&id, now).await? {
            let mut limiter = locked(&self.account.limiter);
            limiter.punish(&scope, until, now);
        }
        for part in self.outbox.storage.ledger.due(&id, &self.outbox.runtime.instance).await? {
            self.loaded.insert(part.id);
            self.enqueue(part);
        }
        Ok(())
    }

    /// Returns the account whose parts it carries.
    pub fn account(&self) -> Arc<Account> {
        Arc::clone(&self.account)
    }

    /// Returns the parts that wait.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.lanes.values().flatten().map(|due| &due.part)
    }

    /// Waits out no pause of our own making: what a platform did not take from the account before it may take now.
    pub fn anew(&mut self) {
        locked(&self.account.limiter).forgive();
        for part in self.lanes.values_mut().flatten().filter(|part| !part.unclear) {
            if part.attempts > 0 {
                part.not_before = None;
            }
        }
    }

    /// Carries until the daemon stops, or its account is another's; calls in flight are waited for.
    pub async fn run(mut self) {
        let mut flying = Attempts::new();
        let stop = self.outbox.runtime.stop.work.clone();
        let outbox = Arc::clone(&self.outbox);
        let end = self.account.sending.end.clone();
        let draining = outbox.runtime.stop.receivers.clone();
        let mut drains = false;
        while !stop.is_cancelled() && !end.is_cancelled() {
            let whole = outbox.storage.health.is_whole();
            let wake_at = if whole { self.launch(&mut flying) } else { None };
            if drains {
                self.account.hold(self.held(&flying, wake_at).filter(|_| whole));
            }
            tokio::select! {
                Some(landed) = flying.next() => self.land(landed),
                Some(queued) = self.queue.recv() => self.take(queued),
                () = outbox.runtime.until(wake_at.unwrap_or_default()), if wake_at.is_some() => {}
                () = outbox.storage.health.whole(), if !whole => {}
                () = draining.cancelled(), if !drains => drains = true,
                () = stop.cancelled() => {}
                () = end.cancelled() => {}
            }
        }
        self.account.hold(None);
        while let Some(landed) = flying.next().await {
            self.land(landed);
        }
        self.stay().await;
    }

    /// What was to leave at once and has not is not in doubt.
    async fn stay(&mut self) {
        while let Some(queued) = self.queue.next_part() {
            self.admit(queued);
        }
        let outbox = &self.outbox;
        for part in self.lanes.values().flatten().filter(|part| part.departs) {
            let why = "selkie ended before it was sent".to_owned();
            let stays = Outcome::Retry { at: outbox.runtime.clock.now(), why };
            if let Err(error) = outbox.storage.ledger.settle(part.id, stays).await {
                outbox.storage.trouble(&error);
            }
        }
    }

    fn take(&mut self, queued: QueuedOutbound) {
        self.admit(queued);
        // What is there already is taken in one go, before anything is started.
        while let Some(queued) = self.queue.next_part() {
            self.admit(queued);
        }
    }

    fn admit(&mut self, queued: QueuedOutbound) {
        for part in queued.parts {
            if self.loaded.is_empty() || !self.loaded.remove(&part.id) {
                self.enqueue(part);
            }
        }
    }

    fn enqueue(&mut self, part: DuePart) {
        self.account.waiting.fetch_add(1, Ordering::SeqCst);
        let conversation = part.part.conversation.clone();
        let lane = self.lanes.entry(conversation.clone()).or_default();
        lane.push_back(part);
        if lane.len() == 1 {
            self.line_up(conversation);
            return;
        }
        locked(&self.account.paused).join(&conversation);
        let waits = |(_, waiting): &(DateTime<Utc>, ConversationId)| *waiting == conversation;
        if lane.front().is_none_or(|head| !self.aside.contains(&head.id)) {
            return;
        }
        let timed = self.timed.iter().find(|timed| waits(timed)).cloned();
        let flies = timed.is_none()
            && !self.ready.contains(&conversation)
            && !self.later.contains(&conversation);
        if flies {
            // It steps aside when it lands.
            return;
        }
        self.step_aside(&conversation);
        if let Some(timed) = timed {
            self.timed.remove(&timed);
            self.line_up(conversation);
        }
    }

    /// Puts a conversation at the end of its line, by what it is to be told next.
    fn line_up(&mut self, conversation: ConversationId) {
        locked(&self.account.paused).resume(&conversation);
        let head = self.lanes.get(&conversation).and_then(|lane| lane.front());
        match head.is_some_and(|due| due.answer) {
            true => self.ready.push_back(conversation),
            false => self.later.push_back(conversation),
        }
    }

    /// Lets the others of a lane go before a part of which nobody will know soon whether it arrived: a gap is better
    /// than silence.
    fn step_aside(&mut self, conversation: &ConversationId) {
        let Some(lane) = self.lanes.get_mut(conversation) else { return };
        if let Some(next) = lane.iter().position(|part| !self.aside.contains(&part.id)) {
            lane.rotate_left(next);
        }
    }

    /// Starts all that may start now and returns when more may.
    fn launch(&mut self, flying: &mut Attempts) -> Option<DateTime<Utc>> {
        let now = self.outbox.runtime.clock.now();
        while let Some((at, _)) = self.timed.first()
            && *at <= now
            && let Some((_, conversation)) = self.timed.pop_first()
        {
            self.line_up(conversation);
        }
        let mut account_at = None;
        while flying.len() < MAX_IN_FLIGHT
            && let Some(conversation) = self.ready.pop_front().or_else(|| self.later.pop_front())
        {
            let Some(due) = self.lanes.get(&conversation).and_then(|l| l.front()) else {
                continue;
            };
            match self.leave(due, now) {
                Leave::Now => {
                    flying.push(self.fly(conversation, due.clone()));
                }
                Leave::PlaceAt(at) => self.pause(at, conversation),
                Leave::AccountAt(at) => {
                    let line = if due.answer { &mut self.ready } else { &mut self.later };
                    line.push_front(conversation);
                    account_at = Some(at);
                    break;
                }
            }
        }
        let timed = self.timed.first().map(|(at, _)| *at);
        // With every slot in flight the next landing wakes.
        [timed, account_at].into_iter().flatten().min()
    }

    /// Lets a conversation wait until then: what is no speech goes on in the others meanwhile.
    fn pause(&mut self, at: DateTime<Utc>, conversation: ConversationId) {
        let parts = self.lanes.get(&conversation).map_or(0, VecDeque::len);
        locked(&self.account.paused).pause(&conversation, parts);
        self.timed.insert((at, conversation));
    }

    /// What waits when nothing is in flight, and until when at least.
    fn held(&self, flying: &Attempts, wake_at: Option<DateTime<Utc>>) -> Option<HeldParts> {
        let parts = || self.lanes.values().flatten().filter(|part| !part.unclear).count();
        let until = wake_at.unwrap_or(DateTime::<Utc>::MAX_UTC);
        flying.is_empty().then(|| HeldParts { parts: parts(), until })
    }

    /// When a part may be tried; what calls nobody (a decision, an expiry) needs no leave.
    fn leave(&self, due: &DuePart, now: DateTime<Utc>) -> Leave {
        let expired = due.expires_at.is_some_and(|at| at <= now) && !due.unclear;
        if expired {
            return Leave::Now;
        }
        if let Some(at) = due.not_before.filter(|at| *at > now) {
            return Leave::PlaceAt(at);
        }
        if due.unclear {
            return Leave::Now;
        }
        // It waits as for the pace: nothing was tried.
        let rest = self.account.channel.sender.held(&due.part);
        if let Some(rest) = rest.and_then(|rest| TimeDelta::from_std(rest).ok()) {
            return Leave::PlaceAt(due.expires_at.map_or(now + rest, |at| at.min(now + rest)));
        }
        let address = &self.account.channel.address;
        let place = address.place(&due.part.conversation);
        let mut limiter = locked(&self.account.limiter);
        let leave = limiter.leave(place.key(), now);
        match leave {
            Leave::Now => {
                if !limiter.is_lifted() {
                    let audience = address.features(&due.part.conversation).audience;
                    limiter.took(place.key(), audience, now);
                }
            }
            // Nobody is held longer than its part lives.
            Leave::PlaceAt(at) => {
                return Leave::PlaceAt(due.expires_at.map_or(at, |expires| at.min(expires)));
            }
            Leave::AccountAt(_) => {}
        }
        leave
    }

    fn fly(&self, conversation: ConversationId, due: DuePart) -> BoxFuture<'static, AttemptResult> {
        let (outbox, account) = (Arc::clone(&self.outbox), Arc::clone(&self.account));
        Box::pin(async move {
            AttemptResult { next: attempt(&outbox, &account, due).await, conversation }
        })
    }

    /// The platform answers. After an outage nobody waits out a pause of our own making; what the platform
    /// itself has asked for is the limiter's.
    fn answered(&mut self) {
        // One part that is never taken is no outage.
        if std::mem::take(&mut self.failed) < OUTAGE {
            return;
        }
        for (_, conversation) in std::mem::take(&mut self.timed) {
            let head = self.lanes.get_mut(&conversation).and_then(|lane| lane.front_mut());
            if let Some(head) = head.filter(|head| !head.unclear && head.attempts > 0) {
                head.not_before = None;
            }
            self.line_up(conversation);
        }
    }

    fn land(&mut self, landed: AttemptResult) {
        let AttemptResult { conversation, next } = landed;
        match &next {
            Next::Answered => self.answered(),
            Next::Again(_) | Next::Open(_) => self.failed = self.failed.saturating_add(1),
            Next::Settled => {}
        }
        let Some(lane) = self.lanes.get_mut(&conversation) else { return };
        match next {
            // When the conversation was closed, the ledger has refused the rest of the lane: it answers
            // "no" to their marks.
            Next::Settled | Next::Answered => {
                lane.pop_front().inspect(|part| _ = self.aside.remove(&part.id));
                self.account.waiting.fetch_sub(1, Ordering::Relaxed);
            }
            Next::Again(part) => {
                self.aside.remove(&part.id);
                if let Some(head) = lane.front_mut() {
                    *head = *part;
                }
            }
            Next::Open(part) => {
                let soon = self.outbox.runtime.clock.now() + SOON;
                if part.not_before.is_some_and(|at| at > soon) {
                    self.aside.insert(part.id);
                }
                if let Some(head) = lane.front_mut() {
                    *head = *part;
                }
            }
        }
        if lane.is_empty() {
            self.lanes.remove(&conversation);
        } else {
            self.step_aside(&conversation);
            self.line_up(conversation);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use selkie_channel_core::Pace;

    use super::*;
    use crate::delivery::queue::PartQueues;
    use crate::flow::testing::{self, account};
    use crate::intake::settings::Settings;

    #[tokio::test]
    async fn an_answer_goes_before_what_answers_nobody() {
        let pace = Pace { per_account_second: NonZeroU32::new(2), ..Pace::LIFTED };
        let outbox = testing::desk_with(Settings::default(), pace).outbox;
        let (_post, mut boxes) = PartQueues::for_accounts([account()].into_iter());
        let queue = boxes.remove(&account()).unwrap();
        let here = outbox.accounts.get(&account()).unwrap();
        let mut delivery_worker = DeliveryWorker::new(Arc::clone(&outbox), here, queue);
        for number in 1..=100 {
            let mut due = testing::due(number);
            due.part.conversation = ConversationId::new(account(), format!("tg:{number}"));
            due.answer = number == 100;
            delivery_worker.enqueue(due);
        }
        let mut flying = Attempts::new();
        assert!(delivery_worker.launch(&mut flying).is_some(), "the pace holds the rest back");
        assert_eq!(flying.len(), 2);
        assert!(delivery_worker.ready.is_empty(), "the answer was first");
    }

    #[tokio::test]
    async fn after_an_outage_nobody_waits_out_a_pause_of_our_own() {
        let outbox = testing::desk().outbox;
        let (_post, mut boxes) = PartQueues::for_accounts([account()].into_iter());
        let queue = boxes.remove(&account()).unwrap();
        let here = outbox.accounts.get(&account()).unwrap();
        let mut delivery_worker = DeliveryWorker::new(Arc::clone(&outbox), here, queue);
        for number in 1..=3 {
            let mut due = testing::due(number);
            due.part.conversation = ConversationId::new(account(), format!("tg:{number}"));
            due.not_before = Some(outbox.runtime.clock.now() + TimeDelta::minutes(5));
            (due.attempts, due.unclear) = (9, number == 3);
            delivery_worker.enqueue(due);
        }
        let mut flying = Attempts::new();
        delivery_worker.failed = OUTAGE - 1;
        delivery_worker.answered();
        assert!(delivery_worker.launch(&mut flying).is_some());
        assert!(flying.is_empty(), "one that failed alone is no outage");
        delivery_worker.failed = OUTAGE;
        delivery_worker.answered();
        assert!(delivery_worker.launch(&mut flying).is_some(), "a doubt keeps its time");
        assert_eq!(flying.len(), 2);
    }

    #[tokio::test]
    async fn what_waits_for_its_time_keeps_no_other_conversation_from_showing_what_is_written() {
        let outbox = testing::desk().outbox;
        let (_post, mut boxes) = PartQueues::for_accounts([account()].into_iter());
        let queue = boxes.remove(&account()).unwrap();
        let here = outbox.accounts.get(&account()).unwrap();
        let mut delivery_worker =
            DeliveryWorker::new(Arc::clone(&outbox), Arc::clone(&here), queue);
        let limited = testing::due(1).part.conversation;
        let other = ConversationId::new(account(), "tg:other".to_owned());
        let not_before = Some(outbox.runtime.clock.now() + TimeDelta::minutes(10));
        delivery_worker.enqueue(DuePart { not_before, attempts: 1, ..testing::due(1) });
        assert!(here.speech_goes_before(&other), "it may leave yet");
        let mut flying = Attempts::new();
        assert_eq!(delivery_worker.launch(&mut flying), not_before);
        assert!(!here.speech_goes_before(&other));
        assert!(here.speech_goes_before(&limited), "the order holds there");
        delivery_worker.enqueue(testing::due(2));
        assert!(!here.speech_goes_before(&other), "it waits behind the first");
        delivery_worker.failed = OUTAGE;
        delivery_worker.answered();
        assert!(here.speech_goes_before(&other), "its turn has come");
    }

    #[tokio::test]
    async fn what_its_own_brake_holds_back_uses_up_no_try_and_holds_nobody_else() {
        let outbox = testing::desk().outbox;
        let (_post, mut boxes) = PartQueues::for_accounts([account()].into_iter());
        let queue = boxes.remove(&account()).unwrap();
        let here = outbox.accounts.get(&account()).unwrap();
        let mut delivery_worker = DeliveryWorker::new(Arc::clone(&outbox), here, queue);
        let mut held = testing::due(1);
        held.part.shown = "held back".to_owned();
        delivery_worker.enqueue(held);
        let mut other = testing::due(2);
        other.part.conversation = ConversationId::new(account(), "tg:other");
        delivery_worker.enqueue(other);
        let (mut flying, before) = (Attempts::new(), outbox.runtime.clock.now());
        let at = delivery_worker.launch(&mut flying).unwrap();
        assert!(at >= before + TimeDelta::seconds(5), "{at}");
        assert_eq!(flying.len(), 1);
        let held = delivery_worker.lanes[&testing::due(1).part.conversation].front().unwrap();
        assert_eq!((held.attempts, held.not_before), (0, None));
    }

    #[tokio::test]
    async fn a_doubt_that_lasts_lets_the_others_go_before_it() {
        let outbox = testing::desk().outbox;
        let (_post, mut boxes) = PartQueues::for_accounts([account()].into_iter());
        let queue = boxes.remove(&account()).unwrap();
        let here = outbox.accounts.get(&account()).unwrap();
        let mut delivery_worker = DeliveryWorker::new(Arc::clone(&outbox), here, queue);
        let conversation = testing::due(1).part.conversation;
        let head = |delivery_worker: &DeliveryWorker| {
            delivery_worker.lanes[&conversation].front().map(|due| due.id.0)
        };
        let land = |delivery_worker: &mut DeliveryWorker, next| {
            delivery_worker.ready.clear();
            delivery_worker.land(AttemptResult { conversation: conversation.clone(), next });
        };
        let open = |seconds| {
            let not_before = Some(outbox.runtime.clock.now() + TimeDelta::seconds(seconds));
            Next::Open(Box::new(DuePart { not_before, unclear: true, ..testing::due(1) }))
        };
        delivery_worker.enqueue(testing::due(1));
        delivery_worker.enqueue(testing::due(2));
        land(&mut delivery_worker, open(2));
        assert_eq!(head(&delivery_worker), Some(1), "a short doubt keeps the order");
        land(&mut delivery_worker, open(60));
        assert_eq!(head(&delivery_worker), Some(2));
        land(&mut delivery_worker, Next::Answered);
        assert_eq!(head(&delivery_worker), Some(1), "it is asked about again");
        let mut flying = Attempts::new();
        assert!(delivery_worker.launch(&mut flying).is_some() && flying.is_empty(), "in its time");
        delivery_worker.enqueue(testing::due(3));
        assert_eq!(head(&delivery_worker), Some(3), "who comes later does not wait for it");
        delivery_worker.launch(&mut flying);
        assert_eq!(flying.len(), 1);
        land(&mut delivery_worker, Next::Answered);
        land(&mut delivery_worker, Next::Settled);
        assert!(delivery_worker.lanes.is_empty() && delivery_worker.aside.is_empty());
    }
}
