//! What receivers hear becomes rows; what the rows ask for is begun.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::DateTime;
use selkie_channel_core::{
    AccountId, ConversationId, Cursor, Inbound, Inbox, InboxBroken, MessageRef, PlaceId, Pulse,
    Quote,
};

use crate::delivery::account::Account;
use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::delivery::{deferred, posts};
use crate::intake::commands::Commands;
use crate::intake::gate::Gate;
use crate::intake::messages;
use crate::intake::own::in_own_words;
use crate::intake::policy::{self, Rules};
use crate::intake::unlisted::{Turn, UnlistedSenders};
use crate::work::redact_inbound::hide;
use crate::work::worker::{Permits, Workers};
use selkie_domain::crash::CrashPoint;
use selkie_domain::event::Event;
use selkie_domain::ids::{InboxId, TaskId};
use selkie_store::{
    AcceptResult, Arrival, Disposition, FiringRecord, FiringResult, Fresh, Fuse, OccurrenceAction,
    RequestResult, StoreError, TaskRequest,
};

/// The inbox of all accounts.
pub struct Intake {
    pub(crate) context: Context,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) workers: Arc<Workers>,
    /// Carries out commands.
    pub commands: Arc<Commands>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) unlisted: UnlistedSenders,
    pub(crate) rules: Arc<Rules>,
}

/// A stored batch: what it asks for is not begun yet.
pub struct StoredBatch {
    accepted: AcceptResult,
    permits: Permits,
}

/// A firing that is stored: what it asks for is not begun yet.
pub struct StoredFiring {
    pub(crate) fired: FiringResult,
    permits: Permits,
}

/// A task that was requested: it is not begun yet.
pub struct PlacedTask {
    pub(crate) task: TaskId,
    pub(crate) is_new: bool,
    /// Too many of its kind wait: there is no task.
    pub(crate) is_full: bool,
    pub(crate) stored: StoredBatch,
}

impl Intake {
    /// Stores a batch and claims what may run at once.
    async fn store(
        &self,
        mut batch: Vec<Arrival>,
        cursor: Option<Cursor>,
    ) -> Result<StoredBatch, StoreError> {
        batch
            .iter_mut()
            .for_each(|arrival| hide(&self.context.runtime.redactor, &mut arrival.inbound));
        let tasks = batch.iter().filter(|arrival| begins_a_task(arrival)).count();
        let accept = |fuse| self.context.storage.ledger.accept(batch, cursor, fuse);
        let (accepted, permits) = self.accept_with(tasks, accept).await?;
        Ok(StoredBatch { accepted, permits })
    }

    /// Has the ledger take in what may begin so many tasks, with a permit for each that may run at once.
    async fn accept_with<T, F>(
        &self,
        tasks: usize,
        write: impl FnOnce(Fuse) -> F,
    ) -> Result<(T, Permits), StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let Context { runtime, storage, .. } = &self.context;
        runtime.crash.hit(CrashPoint::BeforeAccept);
        let permits = self.workers.reserve(tasks);
        let instance = runtime.instance.clone();
        let now = runtime.clock.now();
        let written = write(Fuse { permits: permits.len(), instance, now }).await;
        let written = written.inspect_err(|error| storage.trouble(error))?;
        runtime.crash.hit(CrashPoint::AfterAccept);
        storage.stored();
        Ok((written, permits))
    }

    /// Makes a task of a cause that is no message, and claims it when it may run at once.
    pub async fn request(&self, mut request: TaskRequest) -> Result<PlacedTask, StoreError> {
        for written in [&mut request.location.title, &mut request.words.text] {
            *written = self.context.runtime.redactor.clean(written);
        }
        let place = |fuse| self.context.storage.ledger.request(request, fuse);
        let (requested, permits) = self.accept_with(1, place).await?;
        let RequestResult { task, is_new, is_full, .. } = requested;
        Ok(PlacedTask {
            task,
            is_new,
            is_full,
            stored: StoredBatch { accepted: accepted(requested), permits },
        })
    }

    /// Carries out one time of a schedule, and claims its task when that may run at once.
    pub async fn fire(&self, mut firing: FiringRecord) -> Result<StoredFiring, StoreError> {
        let makes_task = match firing.turn.as_mut().map(|turn| &mut turn.does) {
            Some(OccurrenceAction::Task(request)) => {
                request.words.text = self.context.runtime.redactor.clean(&request.words.text);
                true
            }
            _ => false,
        };
        let fire = |fuse| self.context.storage.ledger.fire(firing, fuse);
        let (fired, permits) = self.accept_with(usize::from(makes_task), fire).await?;
        Ok(StoredFiring { fired, permits })
    }

    /// Begins what a firing asks for.
    pub fn begin_fired(&self, stored: StoredFiring) {
        let StoredFiring { fired, permits } = stored;
        match fired {
            FiringResult::Task(requested) => {
                self.begin(StoredBatch { accepted: accepted(*requested), permits });
            }
            FiringResult::Said(queued) => {
                posts::follow(&self.outbox, queued.outbound, Duration::ZERO);
                self.outbox.send(queued);
            }
            FiringResult::Stale
            | FiringResult::UnderWay
            | FiringResult::CarriedOut
            | FiringResult::Skipped(_)
            | FiringResult::Missed => {}
        }
    }

    /// Begins what a stored batch asks for.
    pub fn begin(&self, stored: StoredBatch) {
        let AcceptResult {
            claimed,
            ready,
            commands,
            wake_at,
            stopping,
            joining,
            gated,
            unsent,
            ..
        } = stored.accepted;
        if unsent {
            self.commands.memory.forgetting.notify_one();
        }
        for task in stopping {
            self.commands.running.stop(task);
        }
        for joined in joining {
            self.commands.running.join(joined);
        }
        self.workers.begin(claimed, stored.permits);
        self.workers.ready(ready, wake_at);
        self.gate.knock(gated);
        if !commands.is_empty() {
            let executor = Arc::clone(&self.commands);
            self.context.runtime.tracker.spawn(async move { executor.carry_out(commands).await });
        }
    }

    /// Takes a batch in. To be carried to the end: what it claims has to be begun.
    async fn take(
        &self,
        account: &Account,
        batch: Vec<Inbound>,
        cursor: Option<Cursor>,
    ) -> Result<(), StoreError> {
        let batch: Vec<Inbound> = batch.into_iter().map(in_own_words).collect();
        let arrivals = self.rules.of(account, |p| {
            let arrival = |inbound: Inbound| policy::arrival(inbound, p);
            batch.into_iter().map(arrival).collect::<Vec<_>>()
        });
        let heard: Vec<ConversationId> =
            arrivals.iter().map(|a| a.inbound.conversation.clone()).collect();
        let unlisted: Vec<(Inbound, Turn<'_>)> = arrivals
            .iter()
            .filter_map(|a| Some((a.inbound.clone(), self.turn_for_words(a)?)))
            .collect();
        let rights: Vec<(usize, Inbound)> = arrivals
            .iter()
            .enumerate()
            .filter_map(|(index, arrival)| right(index, arrival))
            .collect();
        let moves: Vec<(PlaceId, PlaceId)> = arrivals.iter().filter_map(moved).collect();
        let stored = self.store(arrivals, cursor).await?;
        self.tell_heard(&heard, &stored.accepted);
        self.offer_waiting(rights, &stored.accepted);
        self.begin(stored);
        for (old, new) in moves {
            self.outbox.follow(account, &old, &new).await;
            self.commands.memory.book.moved(&old, &new).await;
            self.commands.later.zones.forget().await;
        }
        for (inbound, turn) in unlisted {
            self.unlisted.hint(&self.context, &self.outbox, account, &inbound, turn).await;
        }
        if self.unlisted.has_begun_to_turn_away() {
            self.outbox.notice("turned-away", &messages::pairing::turned_away()).await;
        }
        Ok(())
    }

    /// Tasks that wait in their lanes keep their right to answer: it is spent on a button in time.
    fn offer_waiting(&self, rights: Vec<(usize, Inbound)>, accepted: &AcceptResult) {
        let claimed: HashSet<InboxId> =
            accepted.claimed.iter().flat_map(|c| c.heard.iter().map(|(row, _)| *row)).collect();
        for (index, inbound) in rights {
            let fresh = accepted.fresh.iter().find(|fresh| fresh.index == index);
            if let Some(Fresh { row, .. }) = fresh.filter(|fresh| !claimed.contains(&fresh.row)) {
                let outbox = Arc::clone(&self.outbox);
                self.context.runtime.tracker.spawn(deferred::offer_waiting(outbox, *row, inbound));
            }
        }
    }

    fn tell_heard(&self, heard: &[ConversationId], accepted: &AcceptResult) {
        for Fresh { index, row } in &accepted.fresh {
            let Some(conversation) = heard.get(*index) else { continue };
            if let Some(account) = self.context.accounts.of(conversation) {
                self.context.runtime.metrics.received(account.channel.name);
            }
            self.context
                .runtime
                .events
                .emit(|| Event::Received { conversation: conversation.clone(), inbox: *row });
        }
    }

    fn turn_for_words(&self, arrival: &Arrival) -> Option<Turn<'_>> {
        let is_unlisted = policy::is_unlisted(&arrival.inbound, &arrival.disposition);
        let now = self.context.runtime.clock.now();
        is_unlisted.then(|| self.unlisted.turn(&arrival.inbound, now)).flatten()
    }
}

/// What a task that came from no message asks for.
fn accepted(requested: RequestResult) -> AcceptResult {
    let RequestResult { claimed, ready, stopping, wake_at, .. } = requested;
    let (claimed, ready) = (claimed.into_iter().collect(), ready.into_iter().collect());
    AcceptResult { claimed, ready, stopping, wake_at, ..AcceptResult::default() }
}

fn begins_a_task(arrival: &Arrival) -> bool {
    matches!(arrival.disposition, Disposition::Task(_) | Disposition::MeantNow(_))
}

fn moved(arrival: &Arrival) -> Option<(PlaceId, PlaceId)> {
    match &arrival.disposition {
        Disposition::Moved(to) => Some((arrival.inbound.place.clone(), to.clone())),
        _ => None,
    }
}

/// The inbox as one account's receiver sees it.
pub struct AccountInbox {
    pub(crate) intake: Arc<Intake>,
    pub(crate) account: Arc<Account>,
}

#[async_trait]
impl Inbox for AccountInbox {
    async fn accept(
        &self,
        mut batch: Vec<Inbound>,
        cursor: Option<Cursor>,
    ) -> Result<(), InboxBroken> {
        let now = self.intake.context.runtime.clock.now();
        self.account.heard(now);
        // Some events have no time of their own.
        let timeless = batch.iter_mut().filter(|inbound| inbound.at == DateTime::UNIX_EPOCH);
        timeless.for_each(|inbound| inbound.at = now);
        let (intake, account) = (Arc::clone(&self.intake), Arc::clone(&self.account));
        // What it claims has begun before its account is let go of.
        let at_work = account.at_work();
        let taken = async move {
            let taken = intake.take(&account, batch, cursor).await;
            drop(at_work);
            taken
        };
        self.intake.context.runtime.to_the_end(taken).await.map_err(broken)
    }

    async fn cursor(&self, account: &AccountId) -> Result<Option<(Cursor, Duration)>, InboxBroken> {
        let known = self.intake.context.storage.ledger.cursor(account).await.map_err(broken)?;
        let now = self.intake.context.runtime.clock.now();
        Ok(known.map(|(cursor, at)| (cursor, (now - at).to_std().unwrap_or_default())))
    }

    async fn quoted(
        &self,
        conversation: &ConversationId,
        message: &MessageRef,
    ) -> Result<Option<Quote>, InboxBroken> {
        self.intake.context.storage.ledger.quoted(conversation, message).await.map_err(broken)
    }

    async fn notice(&self, account: &AccountId, key: &str, text: &str) {
        self.intake.outbox.notice(&format!("{account}:{key}"), text).await;
    }

    fn pulse(&self, _account: &AccountId, pulse: Pulse) {
        match pulse {
            Pulse::Heard => self.account.heard(self.intake.context.runtime.clock.now()),
            Pulse::Turns(within) => self.account.turns(within),
        }
    }
}

fn broken(error: StoreError) -> InboxBroken {
    InboxBroken(error.to_string())
}

/// A message that begins a task and brings a right to answer that runs out.
fn right(index: usize, arrival: &Arrival) -> Option<(usize, Inbound)> {
    let window = arrival.inbound.reply_window.as_ref();
    let ends = window.is_some_and(|window| window.hold_at.is_some());
    (begins_a_task(arrival) && ends).then(|| (index, arrival.inbound.clone()))
}
