//! Who works when: permits, the queue of ready lanes, and the dispatcher that claims them.

use std::collections::{HashSet, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::FutureExt as _;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::domain::crash::CrashPoint;
use crate::domain::task::Lane;
use crate::flow::answer::{Answers, MOST_ATTEMPTS};
use crate::flow::desk::{Desk, until};
use crate::flow::remains::Remains;
use crate::store::{Claimed, StoreError};

/// Tasks a worker takes from one lane before other waiting lanes have their turn.
const TURNS: u32 = 8;
/// Lanes read from the ledger at once.
const MANY_LANES: usize = 1000;

/// How long one that may have killed the process runs with nothing beside it.
const ALONE: Duration = Duration::from_secs(60);

/// Rights to run a task.
pub(super) type Permits = Vec<OwnedSemaphorePermit>;

/// All workers of this process.
pub(super) struct Workers {
    desk: Arc<Desk>,
    answers: Answers,
    permits: Arc<Semaphore>,
    queue: Mutex<Queue>,
    bell: Notify,
}

#[derive(Default)]
struct Queue {
    lanes: VecDeque<Lane>,
    /// Lanes whose task may be what killed the process, again and again: each runs with nothing beside it.
    suspects: VecDeque<Lane>,
    queued: HashSet<Lane>,
    wake_at: Option<DateTime<Utc>>,
    /// Ask the ledger for ready lanes.
    look: bool,
}

enum Todo {
    Alone(Lane),
    Claim(Lane),
    Look,
    Rest(Option<DateTime<Utc>>),
}

impl Workers {
    pub(super) fn new(desk: Arc<Desk>, answers: Answers) -> Self {
        let permits = Arc::new(Semaphore::new(desk.settings.worker.max_concurrency.get()));
        let queue = Mutex::new(Queue { look: true, ..Queue::default() });
        Self { desk, answers, permits, queue, bell: Notify::new() }
    }

    /// Takes up to `wanted` free permits, for tasks that are claimed while they are stored.
    pub(super) fn reserve(&self, wanted: usize) -> Permits {
        // Lanes that wait longer go first, and a stopping daemon claims nothing.
        if self.desk.is_draining() || self.has_waiting() {
            return Vec::new();
        }
        (0..wanted).map_while(|_| Arc::clone(&self.permits).try_acquire_owned().ok()).collect()
    }

    /// Begins claimed tasks; permits left over are given back.
    pub(super) fn begin(self: &Arc<Self>, claimed: Vec<Claimed>, mut permits: Permits) {
        for task in claimed {
            let permit = permits.pop();
            self.desk.tracker.spawn(Arc::clone(self).work(task, permit));
        }
    }

    /// Queues lanes that nobody runs, and a moment at which more become ready.
    pub(super) fn ready(&self, mut lanes: Vec<Lane>, wake_at: Option<DateTime<Utc>>) {
        lanes.retain(|lane| self.desk.carries(lane));
        if lanes.is_empty() && wake_at.is_none() {
            return;
        }
        let mut queue = self.queue();
        for lane in lanes {
            queue.push(lane);
        }
        queue.wake_at = match (queue.wake_at, wake_at) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        drop(queue);
        self.bell.notify_one();
    }

    /// Claims ready lanes until the daemon is told to end. Rests without a timer when nothing waits for a time.
    pub(super) async fn dispatch(self: Arc<Self>) {
        while self.unless_draining(self.desk.health.whole()).await.is_some() {
            match self.todo() {
                Todo::Alone(lane) => self.alone(lane).await,
                Todo::Claim(lane) => self.claim(lane).await,
                Todo::Look => self.look().await,
                Todo::Rest(wake_at) => _ = self.unless_draining(self.rest(wake_at)).await,
            }
        }
    }

    /// Waits, but no longer than the daemon may begin something. Only for what may be dropped: a claim is not.
    async fn unless_draining<T>(&self, wait: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.desk.stop.receivers.cancelled() => None,
            waited = wait => Some(waited),
        }
    }

    fn todo(&self) -> Todo {
        let mut queue = self.queue();
        if let Some(lane) = queue.suspects.pop_front() {
            return Todo::Alone(lane);
        }
        if let Some(lane) = queue.lanes.pop_front() {
            queue.queued.remove(&lane);
            return Todo::Claim(lane);
        }
        let now = self.desk.clock.now();
        if queue.look || queue.wake_at.is_some_and(|at| at <= now) {
            (queue.look, queue.wake_at) = (false, None);
            return Todo::Look;
        }
        Todo::Rest(queue.wake_at)
    }

    async fn rest(&self, wake_at: Option<DateTime<Utc>>) {
        let time = async {
            match wake_at {
                Some(at) => tokio::time::sleep(until(at, self.desk.clock.now())).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.bell.notified() => {}
            () = self.desk.woken.notified() => self.queue().look = true,
            () = time => {}
        }
    }

    async fn look(&self) {
        let now = self.desk.clock.now();
        let found = self.desk.ledger.ready(now, MANY_LANES).await;
        let wake = self.desk.ledger.next_wake(now).await;
        match (found, wake) {
            (Ok(lanes), Ok(wake_at)) => {
                // A full page may have a next one, when anything of it is taken off.
                let any = lanes.iter().any(|lane| self.desk.carries(lane));
                self.queue().look = any && lanes.len() == MANY_LANES;
                self.ready(lanes, wake_at);
            }
            (Err(error), _) | (_, Err(error)) => {
                self.queue().look = matches!(error, StoreError::Broken(_));
                self.desk.trouble(&error);
            }
        }
    }

    async fn claim(self: &Arc<Self>, lane: Lane) {
        let permit = self.unless_draining(Arc::clone(&self.permits).acquire_owned()).await;
        // The semaphore is never closed.
        let Some(Ok(permit)) = permit else { return };
        match self.desk.ledger.claim(&lane, &self.desk.boot, self.desk.clock.now()).await {
            Ok(Some(claimed)) => self.begin(vec![claimed], vec![permit]),
            Ok(None) => {}
            Err(error) => {
                if matches!(error, StoreError::Broken(_)) {
                    self.queue().push(lane);
                }
                self.desk.trouble(&error);
            }
        }
    }

    /// Takes up, before anything else is claimed, what was running at the last deaths of the process: whatever
    /// killed it is among them, and the others are not to be given up with it.
    pub(super) async fn suspect(&self) -> Result<(), StoreError> {
        let lanes = self.desk.ledger.suspects(MOST_ATTEMPTS - 1).await?;
        if !lanes.is_empty() {
            tracing::warn!(
                lanes = lanes.len(),
                "the process has died at least twice while these had a task running: they go on one at a time"
            );
        }
        self.queue().suspects = lanes.into();
        Ok(())
    }

    /// Runs a lane's task with no other task beside it, until it has ended or has lived long enough.
    async fn alone(self: &Arc<Self>, lane: Lane) {
        let all = u32::try_from(self.desk.settings.worker.max_concurrency.get());
        let all = Arc::clone(&self.permits).acquire_many_owned(all.unwrap_or(u32::MAX));
        // The semaphore is never closed.
        let Some(Ok(mut all)) = self.unless_draining(all).await else { return };
        let claimed = self.desk.ledger.claim(&lane, &self.desk.boot, self.desk.clock.now()).await;
        let claimed = match claimed {
            Ok(Some(claimed)) => claimed,
            Ok(None) => return,
            Err(error) => {
                if matches!(error, StoreError::Broken(_)) {
                    self.queue().suspects.push_back(lane);
                }
                return self.desk.trouble(&error);
            }
        };
        let claim = claimed.claim.clone();
        let work = Arc::clone(self).work(claimed, all.split(1));
        let work = tokio::time::timeout(ALONE, self.desk.tracker.spawn(work));
        let waited = self.unless_draining(work).await;
        let has_others = !self.queue().suspects.is_empty();
        if has_others && matches!(waited, Some(Err(_))) {
            // It goes on beside the next one: when that kills the process, this one is not to blame.
            if let Err(error) = self.desk.ledger.acquit(&claim).await {
                self.desk.trouble(&error);
            }
        }
    }

    /// Works on a task and on those its lane hands over, in turn with other lanes.
    async fn work(self: Arc<Self>, first: Claimed, permit: Option<OwnedSemaphorePermit>) {
        let mut next = Some(first);
        let mut turns = 0;
        while let Some(claimed) = next.take() {
            if self.desk.is_draining() {
                // Claimed in the moment in which the daemon was told to end: it is not begun.
                self.answers.release(&claimed).await;
                break;
            }
            turns += 1;
            let hand_over = turns < TURNS || !self.has_waiting();
            let lane = Lane::of(&claimed.conversation);
            self.desk.crash.hit(CrashPoint::AfterClaim);
            let remains = Remains::of(&claimed);
            let onward =
                AssertUnwindSafe(self.answers.one(claimed, hand_over)).catch_unwind().await;
            let onward = match onward {
                Ok(onward) => onward,
                Err(_) => {
                    // The panic hook has told where.
                    self.answers.bury(remains).await;
                    self.ready(vec![lane], None);
                    break;
                }
            };
            if onward.wake_at.is_some() {
                self.ready(Vec::new(), onward.wake_at);
            }
            next = onward.next;
            if !hand_over {
                self.ready(vec![lane], None);
            }
        }
        drop(permit);
    }

    fn has_waiting(&self) -> bool {
        let queue = self.queue();
        !queue.lanes.is_empty() || !queue.suspects.is_empty()
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn push(&mut self, lane: Lane) {
        if self.queued.insert(lane.clone()) {
            self.lanes.push_back(lane);
        }
    }
}
