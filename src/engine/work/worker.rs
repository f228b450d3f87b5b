//! Who works when: permits, the queue of ready lanes, and the dispatcher that claims them. One permit is kept for
//! owners: however many others are being answered, an owner is.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::FutureExt as _;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;

use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::work::executor::failed_finish::UnfinishedTask;
use crate::work::executor::{MAX_ATTEMPTS, TaskExecutor};
use crate::work::settings::WorkerSettings;
use crate::work::worker::queue::{Permit, Queue};
use selkie_channel_core::locked;
use selkie_domain::crash::CrashPoint;
use selkie_domain::task::Lane;
use selkie_store::{StoreError, TaskClaim};

mod queue;

/// Tasks a worker takes from one lane before other waiting lanes have their turn.
const TURNS: u32 = 8;
/// Lanes read from the ledger at once.
const MANY_LANES: usize = 1000;

/// How long one that may have killed the process runs with nothing beside it.
const ALONE: Duration = Duration::from_secs(60);

/// Rights to run a task, whosever it is.
pub type Permits = Vec<OwnedSemaphorePermit>;

/// All workers of this process.
pub struct Workers {
    context: Context,
    outbox: Arc<Outbox>,
    executor: TaskExecutor,
    permits: Arc<Semaphore>,
    /// The permit that is for owners alone; none where there is one worker or no owner.
    kept: Arc<Semaphore>,
    /// How many permits there are for anybody, and for owners alone.
    shared: u32,
    owners: u32,
    queue: Mutex<Queue>,
    bell: Notify,
}

enum Todo {
    Alone(Lane),
    /// Lanes are ready; more may become so at the moment.
    Claim(Option<DateTime<Utc>>),
    Look,
    Rest(Option<DateTime<Utc>>),
}

impl Workers {
    pub(crate) fn new(
        context: Context,
        outbox: Arc<Outbox>,
        executor: TaskExecutor,
        settings: &WorkerSettings,
    ) -> Self {
        let most = settings.max_concurrency.get();
        // Not where there is one worker, or no owner.
        let owners = u32::from(most > 1 && !context.owners.is_empty());
        let shared = u32::try_from(most).unwrap_or(u32::MAX) - owners;
        let permits = Arc::new(Semaphore::new(shared as usize));
        let kept = Arc::new(Semaphore::new(owners as usize));
        let queue = Mutex::new(Queue::new());
        Self {
            context,
            outbox,
            executor,
            permits,
            kept,
            shared,
            owners,
            queue,
            bell: Notify::new(),
        }
    }

    /// Takes up to `wanted` free permits, for tasks that are claimed while they are stored.
    pub fn reserve(&self, wanted: usize) -> Permits {
        // Lanes that wait longer go first, and a stopping daemon claims nothing.
        if self.context.runtime.is_draining() || self.has_waiting() {
            return Vec::new();
        }
        (0..wanted).map_while(|_| Arc::clone(&self.permits).try_acquire_owned().ok()).collect()
    }

    /// Begins claimed tasks; permits left over are given back.
    pub fn begin(self: &Arc<Self>, claimed: Vec<TaskClaim>, mut permits: Permits) {
        for task in claimed {
            let permit = permits.pop().map(Permit::any);
            self.spawn(task, permit);
        }
    }

    fn spawn(self: &Arc<Self>, task: TaskClaim, permit: Option<Permit>) -> JoinHandle<()> {
        // Until the lane rests its account is not let go of.
        let at_work = self.context.accounts.of(&task.conversation).map(|account| account.at_work());
        let work = Arc::clone(self).work(task, permit);
        // Boxed: a spawned future is moved thrice, and this one has 50 KB.
        self.context.runtime.tracker.spawn(Box::pin(async move {
            work.await;
            drop(at_work);
        }))
    }

    /// Queues lanes that nobody runs, and a moment at which more become ready.
    pub fn ready(&self, mut lanes: Vec<Lane>, wake_at: Option<DateTime<Utc>>) {
        lanes.retain(|lane| self.context.accounts.carries(lane));
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
    pub async fn dispatch(self: Arc<Self>) {
        while self.unless_draining(self.context.storage.health.whole()).await.is_some() {
            match self.todo() {
                Todo::Alone(lane) => self.alone(lane).await,
                Todo::Claim(wake_at) => self.claim(wake_at).await,
                Todo::Look => self.look().await,
                Todo::Rest(wake_at) => _ = self.unless_draining(self.rest(wake_at)).await,
            }
        }
    }

    /// Waits, but no longer than the daemon may begin something. Only for what may be dropped: a claim is not.
    async fn unless_draining<T>(&self, wait: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.context.runtime.stop.receivers.cancelled() => None,
            waited = wait => Some(waited),
        }
    }

    fn todo(&self) -> Todo {
        let mut queue = self.queue();
        if let Some(lane) = queue.suspects.pop_front() {
            return Todo::Alone(lane);
        }
        let now = self.context.runtime.clock.now();
        let has_lanes = !queue.lanes.is_empty();
        let is_due = queue.wake_at.is_some_and(|at| at <= now);
        // What is due may be an owner's: it does not wait for those who wait. A full page's next one does.
        if is_due || (queue.look && !has_lanes) {
            (queue.look, queue.wake_at) = (false, None);
            return Todo::Look;
        }
        match has_lanes {
            true => Todo::Claim(queue.wake_at),
            false => Todo::Rest(queue.wake_at),
        }
    }

    async fn rest(&self, wake_at: Option<DateTime<Utc>>) {
        let time = async {
            match wake_at {
                Some(at) => self.context.runtime.until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.bell.notified() => {}
            () = self.outbox.woken() => self.queue().wake_at = Some(self.context.runtime.clock.now()),
            () = time => {}
        }
    }

    async fn look(&self) {
        let now = self.context.runtime.clock.now();
        let found = self.context.storage.ledger.ready(now, MANY_LANES).await;
        let wake = self.context.storage.ledger.next_wake(now).await;
        match (found, wake) {
            (Ok(lanes), Ok(wake_at)) => {
                // A full page may have a next one, when anything of it is taken off.
                let any = lanes.iter().any(|lane| self.context.accounts.carries(lane));
                self.queue().look = any && lanes.len() == MANY_LANES;
                self.ready(lanes, wake_at);
            }
            (Err(error), _) | (_, Err(error)) => {
                if matches!(error, StoreError::Broken(_)) {
                    self.queue().wake_at = Some(now);
                }
                self.context.storage.trouble(&error);
            }
        }
    }

    /// Claims for the first lane when anybody may be answered, else looks for an owner's task in the lane that
    /// nobody has looked into for longest. Returns without either when there is something new to know.
    async fn claim(self: &Arc<Self>, wake_at: Option<DateTime<Utc>>) {
        let Some(Some(permit)) = self.unless_draining(self.permit(wake_at)).await else { return };
        let Some(lane) = self.queue().next(&permit) else { return };
        let account = self.context.accounts.of_lane(&lane);
        let _at_work = account.as_ref().map(|account| account.at_work());
        // Held before this is asked: who lets the account go asks in the other order.
        if !self.context.accounts.carries(&lane) {
            return;
        }
        let ledger = &self.context.storage.ledger;
        let instance = &self.context.runtime.instance;
        let now = self.context.runtime.clock.now();
        let claimed = match permit.is_kept {
            true => ledger.claim_owners(&lane, instance, now).await,
            false => ledger.claim(&lane, instance, now).await,
        };
        match claimed {
            Ok(Some(claimed)) => {
                if permit.is_kept {
                    self.queue().leave(&lane);
                }
                self.spawn(claimed, Some(permit));
            }
            Ok(None) => {}
            Err(error) => {
                if matches!(error, StoreError::Broken(_)) {
                    self.queue().push(lane);
                }
                self.context.storage.trouble(&error);
            }
        }
    }

    /// Waits for a right to claim; `None` when lanes or the time have something new to say first.
    async fn permit(&self, wake_at: Option<DateTime<Utc>>) -> Option<Permit> {
        let unknown = self.queue().has_unseen();
        let kept = async {
            match unknown {
                true => Arc::clone(&self.kept).acquire_owned().await,
                false => std::future::pending().await,
            }
        };
        // The semaphores are never closed.
        tokio::select! {
            biased;
            permit = Arc::clone(&self.permits).acquire_owned() => permit.ok().map(Permit::any),
            permit = kept => permit.ok().map(Permit::kept),
            () = self.rest(wake_at) => None,
        }
    }

    /// Takes up, before anything else is claimed, what was running at the last deaths of the process: whatever
    /// killed it is among them, and the others are not to be given up with it.
    pub async fn suspect(&self) -> Result<(), StoreError> {
        let lanes = self.context.storage.ledger.suspects(MAX_ATTEMPTS - 1).await?;
        if !lanes.is_empty() {
            tracing::warn!(
                lanes = lanes.len(),
                "the process has died at least twice while these had a task running: they continue one at a time"
            );
        }
        self.queue().suspects = lanes.into();
        Ok(())
    }

    /// Runs a lane's task with no other task beside it, until it has ended or has lived long enough.
    async fn alone(self: &Arc<Self>, lane: Lane) {
        let all = Arc::clone(&self.permits).acquire_many_owned(self.shared);
        let kept = Arc::clone(&self.kept).acquire_many_owned(self.owners);
        // The semaphores are never closed.
        let Some((Ok(mut all), Ok(_kept))) =
            self.unless_draining(async { (all.await, kept.await) }).await
        else {
            return;
        };
        let claimed = self
            .context
            .storage
            .ledger
            .claim(&lane, &self.context.runtime.instance, self.context.runtime.clock.now())
            .await;
        let claimed = match claimed {
            Ok(Some(claimed)) => claimed,
            Ok(None) => return,
            Err(error) => {
                if matches!(error, StoreError::Broken(_)) {
                    self.queue().suspects.push_back(lane);
                }
                return self.context.storage.trouble(&error);
            }
        };
        let claim = claimed.claim.clone();
        let work = self.spawn(claimed, all.split(1).map(Permit::any));
        let work = tokio::time::timeout(ALONE, work);
        let waited = self.unless_draining(work).await;
        let has_others = !self.queue().suspects.is_empty();
        if has_others && matches!(waited, Some(Err(_))) {
            // It goes on beside the next one: when that kills the process, this one is not to blame.
            if let Err(error) = self.context.storage.ledger.acquit(&claim).await {
                self.context.storage.trouble(&error);
            }
        }
    }

    /// Works on a task and on those its lane hands over, in turn with other lanes.
    async fn work(self: Arc<Self>, first: TaskClaim, permit: Option<Permit>) {
        let mut next = Some(first);
        let mut turns = 0;
        while let Some(claimed) = next.take() {
            if self.context.runtime.is_draining() {
                // Claimed in the moment in which the daemon was told to end: it is not begun.
                self.executor.release(&claimed).await;
                break;
            }
            turns += 1;
            // The lane's next task may be anybody's.
            let is_kept = permit.as_ref().is_some_and(|permit| permit.is_kept);
            let lane = claimed.lane.clone();
            let goes_on = !is_kept && self.context.accounts.carries(&lane);
            let hand_over = goes_on && (turns < TURNS || !self.has_waiting());
            self.context.runtime.crash.hit(CrashPoint::AfterClaim);
            let unfinished = UnfinishedTask::of(&claimed);
            let next_step =
                AssertUnwindSafe(self.executor.run(claimed, hand_over)).catch_unwind().await;
            let next_step = match next_step {
                Ok(next_step) => next_step,
                Err(_) => {
                    // The panic hook has told where.
                    self.executor.end_after_defect(unfinished).await;
                    self.ready(vec![lane], None);
                    break;
                }
            };
            self.ready(next_step.ready, next_step.wake_at);
            next = next_step.next;
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
        locked(&self.queue)
    }
}
