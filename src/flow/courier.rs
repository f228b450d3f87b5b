//! Carries one account's parts to its platform: strictly in order within a conversation, conversations
//! side by side, at the account's pace.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use selkie_channel_core::{ConversationId, Part};

use crate::domain::ids::PartId;
use crate::flow::account::Account;
use crate::flow::attempt::{Next, attempt};
use crate::flow::desk::{Desk, until};
use crate::flow::governor::Leave;
use crate::flow::post::Letterbox;
use crate::store::{DuePart, Outcome, Queued, StoreError};

/// Calls in flight at once for one account.
const MOST_IN_FLIGHT: usize = 64;

/// So many attempts in a row that were not taken are an outage.
const OUTAGE: u32 = 2;

/// What is asked about again so soon keeps its place in its lane.
const SOON: TimeDelta = TimeDelta::seconds(15);

/// The courier of one account.
pub(super) struct Courier {
    desk: Arc<Desk>,
    account: Arc<Account>,
    letterbox: Letterbox,
    /// Never empty; the head stays while it flies.
    lanes: HashMap<ConversationId, VecDeque<DuePart>>,
    ready: VecDeque<ConversationId>,
    /// Ready as well, but for what answers nobody (hints, notices): it goes when no answer waits.
    later: VecDeque<ConversationId>,
    timed: BTreeSet<(DateTime<Utc>, ConversationId)>,
    /// Parts read at the start: what the letterbox brings of them is known.
    loaded: HashSet<PartId>,
    /// Parts that may have arrived, of which the platform does not say so: others of their lane go before them.
    aside: HashSet<PartId>,
    /// Attempts that were not taken since the platform last answered.
    failed: u32,
}

/// The attempts in flight.
type Flying = FuturesUnordered<BoxFuture<'static, Landed>>;

/// What one attempt left behind.
struct Landed {
    conversation: ConversationId,
    next: Next,
}

impl Courier {
    pub(super) fn new(desk: Arc<Desk>, account: Arc<Account>, letterbox: Letterbox) -> Self {
        Self {
            desk,
            account,
            letterbox,
            lanes: HashMap::new(),
            ready: VecDeque::new(),
            later: VecDeque::new(),
            timed: BTreeSet::new(),
            loaded: HashSet::new(),
            aside: HashSet::new(),
            failed: 0,
        }
    }

    /// Reads what an earlier boot left: unsent parts and penalties.
    pub(super) async fn load(&mut self) -> Result<(), StoreError> {
        let id = self.account.channel.account.clone();
        let now = self.desk.clock.now();
        for (scope, until) in self.desk.ledger.penalties(&id, now).await? {
            let mut governor = self.account.governor.lock().unwrap_or_else(PoisonError::into_inner);
            governor.punish(&scope, until, now);
        }
        for part in self.desk.ledger.due(&id, &self.desk.boot).await? {
            self.loaded.insert(part.id);
            self.enqueue(part);
        }
        Ok(())
    }

    /// Returns the parts that wait.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.lanes.values().flatten().map(|due| &due.part)
    }

    /// Carries until the daemon stops; calls in flight are waited for.
    pub(super) async fn run(mut self) {
        let mut flying = Flying::new();
        let stop = self.desk.stop.work.clone();
        let desk = Arc::clone(&self.desk);
        while !stop.is_cancelled() {
            let whole = desk.health.is_whole();
            let wake_at = if whole { self.launch(&mut flying) } else { None };
            let wait = wake_at.map(|at| until(at, self.desk.clock.now()));
            tokio::select! {
                Some(landed) = flying.next() => self.land(landed),
                Some(queued) = self.letterbox.recv() => self.take(queued),
                () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => {}
                () = desk.health.whole(), if !whole => {}
                () = stop.cancelled() => {}
            }
        }
        while let Some(landed) = flying.next().await {
            self.land(landed);
        }
        self.stay().await;
    }

    /// What was to leave at once and has not is not in doubt.
    async fn stay(&mut self) {
        while let Ok(queued) = self.letterbox.try_recv() {
            self.admit(queued);
        }
        let desk = &self.desk;
        for part in self.lanes.values().flatten().filter(|part| part.departs) {
            let why = "selkie ended before it was sent".to_owned();
            let stays = Outcome::Retry { at: desk.clock.now(), why };
            if let Err(error) = desk.ledger.settle(part.id, stays).await {
                desk.trouble(&error);
            }
        }
    }

    fn take(&mut self, queued: Queued) {
        self.admit(queued);
        // What is there already is taken in one go, before anything is started.
        while let Ok(queued) = self.letterbox.try_recv() {
            self.admit(queued);
        }
    }

    fn admit(&mut self, queued: Queued) {
        for part in queued.parts {
            if self.loaded.is_empty() || !self.loaded.remove(&part.id) {
                self.enqueue(part);
            }
        }
    }

    fn enqueue(&mut self, part: DuePart) {
        self.account.waiting.fetch_add(1, Ordering::Relaxed);
        let conversation = part.part.conversation.clone();
        let lane = self.lanes.entry(conversation.clone()).or_default();
        lane.push_back(part);
        if lane.len() == 1 {
            self.line_up(conversation);
            return;
        }
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
    fn launch(&mut self, flying: &mut Flying) -> Option<DateTime<Utc>> {
        let now = self.desk.clock.now();
        while let Some((at, _)) = self.timed.first()
            && *at <= now
            && let Some((_, conversation)) = self.timed.pop_first()
        {
            self.line_up(conversation);
        }
        let mut account_at = None;
        while flying.len() < MOST_IN_FLIGHT
            && let Some(conversation) = self.ready.pop_front().or_else(|| self.later.pop_front())
        {
            let Some(due) = self.lanes.get(&conversation).and_then(|l| l.front()) else {
                continue;
            };
            match self.leave(due, now) {
                Leave::Now => {
                    flying.push(self.fly(conversation, due.clone()));
                }
                Leave::PlaceAt(at) => _ = self.timed.insert((at, conversation)),
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
        let address = &self.account.channel.address;
        let place = address.place(&due.part.conversation);
        let mut governor = self.account.governor.lock().unwrap_or_else(PoisonError::into_inner);
        let leave = governor.leave(place.key(), now);
        match leave {
            Leave::Now => {
                if !governor.is_lifted() {
                    let audience = address.features(&due.part.conversation).audience;
                    governor.took(place.key(), audience, now);
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

    fn fly(&self, conversation: ConversationId, due: DuePart) -> BoxFuture<'static, Landed> {
        let (desk, account) = (Arc::clone(&self.desk), Arc::clone(&self.account));
        Box::pin(async move { Landed { next: attempt(&desk, &account, due).await, conversation } })
    }

    /// The platform answers. After an outage nobody waits out a pause of our own making; what the platform
    /// itself has asked for is the governor's.
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

    fn land(&mut self, landed: Landed) {
        let Landed { conversation, next } = landed;
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
                let soon = self.desk.clock.now() + SOON;
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
    use crate::flow::Settings;
    use crate::flow::post::Post;
    use crate::flow::testing::{self, account};

    #[tokio::test]
    async fn an_answer_goes_before_what_answers_nobody() {
        let pace = Pace { per_account_second: NonZeroU32::new(2), ..Pace::LIFTED };
        let desk = testing::desk_with(Settings::default(), pace).desk;
        let (_post, mut boxes) = Post::for_accounts([account()].into_iter());
        let letterbox = boxes.remove(&account()).unwrap();
        let here = Arc::clone(&desk.accounts[&account()]);
        let mut courier = Courier::new(Arc::clone(&desk), here, letterbox);
        for number in 1..=100 {
            let mut due = testing::due(number);
            due.part.conversation = ConversationId::new(account(), format!("tg:{number}"));
            due.answer = number == 100;
            courier.enqueue(due);
        }
        let mut flying = Flying::new();
        assert!(courier.launch(&mut flying).is_some(), "the pace holds the rest back");
        assert_eq!(flying.len(), 2);
        assert!(courier.ready.is_empty(), "the answer was first");
    }

    #[tokio::test]
    async fn after_an_outage_nobody_waits_out_a_pause_of_our_own() {
        let desk = testing::desk().desk;
        let (_post, mut boxes) = Post::for_accounts([account()].into_iter());
        let letterbox = boxes.remove(&account()).unwrap();
        let here = Arc::clone(&desk.accounts[&account()]);
        let mut courier = Courier::new(Arc::clone(&desk), here, letterbox);
        for number in 1..=3 {
            let mut due = testing::due(number);
            due.part.conversation = ConversationId::new(account(), format!("tg:{number}"));
            due.not_before = Some(desk.clock.now() + TimeDelta::minutes(5));
            (due.attempts, due.unclear) = (9, number == 3);
            courier.enqueue(due);
        }
        let mut flying = Flying::new();
        courier.failed = OUTAGE - 1;
        courier.answered();
        assert!(courier.launch(&mut flying).is_some());
        assert!(flying.is_empty(), "one that failed alone is no outage");
        courier.failed = OUTAGE;
        courier.answered();
        assert!(courier.launch(&mut flying).is_some(), "a doubt keeps its time");
        assert_eq!(flying.len(), 2);
    }

    #[tokio::test]
    async fn a_doubt_that_lasts_lets_the_others_go_before_it() {
        let desk = testing::desk().desk;
        let (_post, mut boxes) = Post::for_accounts([account()].into_iter());
        let letterbox = boxes.remove(&account()).unwrap();
        let here = Arc::clone(&desk.accounts[&account()]);
        let mut courier = Courier::new(Arc::clone(&desk), here, letterbox);
        let conversation = testing::due(1).part.conversation;
        let head = |courier: &Courier| courier.lanes[&conversation].front().map(|due| due.id.0);
        let land = |courier: &mut Courier, next| {
            courier.ready.clear();
            courier.land(Landed { conversation: conversation.clone(), next });
        };
        let open = |seconds| {
            let not_before = Some(desk.clock.now() + TimeDelta::seconds(seconds));
            Next::Open(Box::new(DuePart { not_before, unclear: true, ..testing::due(1) }))
        };
        courier.enqueue(testing::due(1));
        courier.enqueue(testing::due(2));
        land(&mut courier, open(2));
        assert_eq!(head(&courier), Some(1), "a short doubt keeps the order");
        land(&mut courier, open(60));
        assert_eq!(head(&courier), Some(2));
        land(&mut courier, Next::Answered);
        assert_eq!(head(&courier), Some(1), "it is asked about again");
        let mut flying = Flying::new();
        assert!(courier.launch(&mut flying).is_some() && flying.is_empty(), "in its time");
        courier.enqueue(testing::due(3));
        assert_eq!(head(&courier), Some(3), "who comes later does not wait for it");
        courier.launch(&mut flying);
        assert_eq!(flying.len(), 1);
        land(&mut courier, Next::Answered);
        land(&mut courier, Next::Settled);
        assert!(courier.lanes.is_empty() && courier.aside.is_empty());
    }
}
