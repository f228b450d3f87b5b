//! Starts what stands between channels and agent: events to tasks, tasks to answers,
//! answers to platforms.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use selkie_channel_core::locked;
use selkie_channel_core::{AccountId, PersonId};
use tokio::sync::{mpsc, watch};
use tokio_util::task::TaskTracker;

use crate::flow::lives::Lives;
use crate::flow::people::People;
use crate::delivery::outbox::Outbox;
use crate::delivery::posts::{resume, sweep_files};
use crate::delivery::queue::PartQueue;
use crate::delivery::runtime::Stop;
use crate::delivery::say::{self, Told};
use crate::delivery::worker::DeliveryWorker;
use crate::delivery::{approvals, beside, deferred};
use selkie_domain::ids::ScheduleId;
use selkie_domain::live::Live;
use selkie_domain::owners::Owners;
use selkie_domain::schedule::ScheduleState;
use crate::intake::firing::{ByHand, Firings};
use crate::intake::gate::Gate;
use crate::intake::heartbeat::Heartbeat;
use crate::intake::listen::Listening;
use crate::intake::receive::Intake;
use crate::intake::ticker::Ticker;
use selkie_memory::MemoryBook;
use selkie_people::book::ContactBook;
use selkie_schedule::book::{Book, BookError, Wanted};
use selkie_schedule::fixed::FixedSchedule;
use selkie_store::{Location, ScheduleRow, StoreError};
use crate::terminal::ask::{Ask, AskEvent, Counter, Reply};
use selkie_tools::paths::Lists;
use selkie_tools::ports::{Addressees, Timetable, TodoFile};
use crate::work::acquaintances::Acquaintances;
use crate::work::due::DueItems;
use crate::work::janitor::Janitor;
use crate::work::limits::Limits;
use crate::work::moved_chats::MovedChats;
use crate::work::summaries::Summaries;
use crate::work::timetable::BookTimetable;
use crate::work::worker::Workers;

mod assemble;
mod channels;
mod forgetting;
mod knowledge;
mod lives;
mod memory;
mod pairing;
mod parts;
mod people;
mod posts;
mod proven;
mod reload;
mod remake;
mod requests;
mod restored;
mod rooms;
mod sessions;
#[cfg(test)]
mod stories;
#[cfg(test)]
mod stories_of_clocks;
#[cfg(test)]
mod stories_of_crowds;
#[cfg(test)]
mod stories_of_hanging_up;
#[cfg(test)]
mod stories_of_questions;
#[cfg(test)]
mod stories_of_refusals;
#[cfg(test)]
pub(crate) mod testing;
mod windows;

pub use knowledge::{Knowledge, Looked, Sees, Unreadable};
pub use pairing::OpenCode;
pub use parts::{ByConfig, Parts, Summing};
pub use remake::{Became, ChannelChange};

/// Everything between the channels and the agent.
pub struct Flow {
    outbox: Arc<Outbox>,
    intake: Arc<Intake>,
    workers: Arc<Workers>,
    limits: Arc<Limits>,
    gate: Arc<Gate>,
    listening: Arc<Listening>,
    counter: Arc<Counter>,
    timetable: Arc<BookTimetable>,
    /// Those of the config.
    named_owners: Live<Vec<PersonId>>,
    /// Channels are changed by one at a time.
    changing: tokio::sync::Mutex<()>,
    /// What a reload puts others in the place of.
    live: Lives,
    people: People,
    memory: Arc<MemoryBook>,
    due_items: Option<Arc<DueItems>>,
    moved_chats: Option<Arc<MovedChats>>,
    acquaintances: Arc<Acquaintances>,
    /// Until [`Flow::start`] takes them.
    queues: Mutex<HashMap<AccountId, PartQueue>>,
    janitor: Mutex<Option<Janitor>>,
    cache_dir: PathBuf,
    summaries: Mutex<Option<Summaries>>,
    rests: watch::Receiver<Option<DateTime<Utc>>>,
    firings: Arc<Firings>,
    /// The config's.
    fixed: Live<Vec<FixedSchedule>>,
    heartbeat: Arc<Heartbeat>,
    ticker: Mutex<Option<Ticker>>,
}

impl Flow {
    /// Starts: dead claims are taken back, stored commands carried out, then delivery workers, workers, receivers.
    /// Returns when everything is started; what runs, runs on `tracker` until `stop`.
    ///
    /// # Errors
    /// When the store cannot be read or written: nothing is started.
    pub async fn start(
        self: &Arc<Self>,
        tracker: &TaskTracker,
        stop: Stop,
    ) -> Result<(), StoreError> {
        self.may_begin().await?;
        self.know_paired().await?;
        self.heartbeat.keep().await?;
        self.prepare_schedules().await?;
        self.start_at_terminal(tracker, stop).await?;
        let tracker = &self.outbox.runtime.tracker;
        tracker.spawn(resume(Arc::clone(&self.outbox)));
        if let Some(ticker) = locked(&self.ticker).take() {
            tracker.spawn(ticker.run());
        }
        self.start_memory(tracker);
        if let Some(items) = &self.due_items {
            tracker.spawn(Arc::clone(items).watch(Arc::clone(&self.outbox)));
        }
        if let Some(moved) = &self.moved_chats {
            tracker.spawn(Arc::clone(moved).watch(Arc::clone(&self.outbox)));
        }
        tracker.spawn(Arc::clone(&self.acquaintances).watch(Arc::clone(&self.outbox)));
        Ok(())
    }

    /// The same for a process that serves a terminal and ends with it: what comes due, and whoever has to be told what
    /// became of a post, waits for a daemon. Here their channels are not served, and times would be passed over.
    ///
    /// # Errors
    /// When the store cannot be read or written: nothing is started.
    pub async fn start_at_terminal(
        self: &Arc<Self>,
        tracker: &TaskTracker,
        stop: Stop,
    ) -> Result<(), StoreError> {
        self.may_begin().await?;
        self.know_paired().await?;
        let outbox = &self.outbox;
        let back = outbox
            .storage
            .ledger
            .reclaim(&outbox.runtime.instance, outbox.runtime.clock.now())
            .await?;
        if back > 0 {
            tracing::info!(tasks = back, "unfinished tasks of an earlier run continue");
        }
        self.workers.suspect().await?;
        let moved = outbox.storage.ledger.moved_places().await?;
        let open = outbox.storage.ledger.open_commands().await?;
        self.relay(tracker, stop);
        self.ask_windows();
        for (old, new) in moved {
            if let Some(account) = outbox.accounts.get(old.account()) {
                outbox.follow(&account, &old, &new).await;
                self.memory.moved(&old, &new).await;
            }
        }
        self.intake.commands.carry_out(open).await;
        let delivery_workers = self.delivery_workers().await?;
        outbox.files.sweep(delivery_workers.iter().flat_map(DeliveryWorker::parts));
        outbox.runtime.tracker.spawn(sweep_files(Arc::clone(outbox)));
        outbox.runtime.tracker.spawn(beside::sweep(Arc::clone(outbox)));
        outbox.runtime.tracker.spawn(approvals::close_left(Arc::clone(outbox)));
        delivery_workers.into_iter().for_each(|worker| self.start_sending(worker));
        outbox.runtime.tracker.spawn(Arc::clone(&self.workers).dispatch());
        self.gate.resume().await?;
        let tracker = &outbox.runtime.tracker;
        tracker.spawn(deferred::sweep(Arc::clone(outbox)));
        tracker.spawn(deferred::offer_again(Arc::clone(outbox)));
        tracker.spawn(Arc::clone(&self.limits).write_behind());
        tracker.spawn(Arc::clone(&outbox.storage).watch_over());
        if let Some(janitor) = locked(&self.janitor).take() {
            tracker.spawn(janitor.run());
        }
        outbox.accounts.all().for_each(|account| self.start_receiving(account));
        Ok(())
    }

    /// Brings schedules up to the config and the zone data of now.
    async fn prepare_schedules(&self) -> Result<(), StoreError> {
        let prepared = async {
            self.timetable.fix(&self.fixed.now()).await?;
            self.timetable.book.follow_zone_data().await
        };
        match prepared.await {
            Ok(0) => Ok(()),
            Ok(schedules) => {
                tracing::info!(
                    schedules,
                    "come due at different times: the zone data of this version has changed"
                );
                Ok(())
            }
            Err(BookError::Store(error)) => Err(error),
            Err(BookError::Refused(why)) => {
                tracing::error!(why, "a schedule cannot be prepared");
                Ok(())
            }
        }
    }

    /// Returns the schedules as tools see them.
    pub fn timetable(&self) -> Arc<dyn Timetable> {
        Arc::clone(&self.timetable) as _
    }

    /// Returns the list of what people want done, as tools see it.
    pub fn todo_file(&self) -> Arc<dyn TodoFile> {
        Arc::clone(&self.people.todo_file)
    }

    /// Returns whom tools may speak to elsewhere.
    pub fn addressees(&self) -> Arc<dyn Addressees> {
        Arc::clone(&self.people.addressees)
    }

    /// Returns the contacts, up to now as far as the ledger and the disk let them be; says what does not.
    pub async fn contacts(&self) -> (ContactBook, Option<String>) {
        let why = self.acquaintances.bring().await.err();
        (self.acquaintances.book(), why.map(|why| why.to_string()))
    }

    /// Returns the lists of the state folder, for tools that change files.
    pub fn lists(&self) -> Lists {
        self.acquaintances.lists()
    }

    /// Lists the owners.
    pub fn owners(&self) -> &Owners {
        &self.timetable.owners
    }

    /// Finds the conversation that `to` names, or the first owner's latest private one.
    ///
    /// # Errors
    /// In words: no channel reads it, or no owner can be reached.
    pub async fn target(&self, to: Option<&str>) -> Result<Location, String> {
        self.timetable.target(to).await
    }

    /// Carries out a schedule now, one that waits or is over, too; its own times stay.
    ///
    /// # Errors
    /// In words: there is none, it is under way, or it was passed over.
    pub async fn run_schedule(&self, id: ScheduleId) -> Result<ScheduleRow, BookError> {
        let book = &self.timetable.book;
        let refused = |why: String| Err(BookError::Refused(why));
        loop {
            let row = book.get(id, None).await?;
            let (firings, now) = (Arc::clone(&self.firings), self.outbox.runtime.now());
            let is_active = row.state == ScheduleState::Active;
            let fires = async move { firings.by_hand(&row, now).await };
            match self.outbox.runtime.to_the_end(fires).await {
                // Looked at again: it may be under way by now.
                Some(ByHand::Changed) => {}
                Some(ByHand::UnderWay) => {
                    return refused(format!("schedule {id} is due already: it is under way"));
                }
                Some(ByHand::PassedOver(why)) if !is_active => {
                    return refused(format!("schedule {id} was skipped: {why}"));
                }
                // It may have been passed over, and say why.
                Some(ByHand::Begun | ByHand::PassedOver(_)) => return book.get(id, None).await,
                None => return refused("the store cannot write now: try again".to_owned()),
            }
        }
    }

    /// Whether a schedule could be kept.
    ///
    /// # Errors
    /// In words: it cannot be.
    pub async fn may_schedule(&self, wanted: &Wanted) -> Result<(), BookError> {
        self.timetable.may_keep(wanted).await
    }

    /// Keeps a schedule, where it may speak.
    ///
    /// # Errors
    /// In words: it cannot be.
    pub async fn schedule(&self, wanted: Wanted) -> Result<ScheduleRow, BookError> {
        self.timetable.keep(wanted).await
    }

    /// Says what a schedule will come to in a month.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn forecast(&self, row: &ScheduleRow) -> Result<String, BookError> {
        self.timetable.forecast(row).await
    }

    /// Returns the time.
    pub fn now(&self) -> DateTime<Utc> {
        self.outbox.runtime.now()
    }

    /// Returns the book of schedules.
    pub fn book(&self) -> Arc<Book> {
        Arc::clone(&self.timetable.book)
    }

    /// Runs one task in the terminal and streams what happens, to the end of its delivery. Whoever drops the
    /// stream has hung up: the task is stopped.
    ///
    /// # Errors
    /// When the task could not be stored.
    pub async fn ask(&self, ask: Ask) -> Result<mpsc::Receiver<AskEvent>, StoreError> {
        let counter = Arc::clone(&self.counter);
        let begun = async move { counter.begin(ask).await };
        self.outbox.runtime.to_the_end(begun).await
    }

    /// Answers the question with this key for whoever sits at the terminal.
    ///
    /// # Errors
    /// When the answer could not be stored.
    pub async fn answer(&self, question: &str, reply: Ask) -> Result<Reply, StoreError> {
        let (counter, question) = (Arc::clone(&self.counter), question.to_owned());
        let answered = async move { counter.answer(&question, reply).await };
        self.outbox.runtime.to_the_end(answered).await
    }

    /// Starts the delivery workers alone: nothing is heard, no task is run.
    ///
    /// # Errors
    /// When the store cannot be read: nothing is started.
    pub async fn start_delivery(
        &self,
        tracker: &TaskTracker,
        stop: Stop,
    ) -> Result<(), StoreError> {
        self.may_begin().await?;
        self.relay(tracker, stop);
        self.delivery_workers().await?.into_iter().for_each(|worker| self.start_sending(worker));
        Ok(())
    }

    /// Says the owner's own words in the conversation that `to` names, and waits for what becomes of them.
    ///
    /// # Errors
    /// When they could not be stored: nothing was said.
    pub async fn say(&self, to: &str, markdown: &str) -> Result<Told, StoreError> {
        say::say(&self.outbox, to, markdown).await
    }

    /// Hands the daemon's stop on, and keeps its tracker busy until all of flow has ended.
    fn relay(&self, tracker: &TaskTracker, stop: Stop) {
        let limits = Arc::clone(&self.limits);
        let runtime = &self.outbox.runtime;
        let (inner, own) = (runtime.stop.clone(), runtime.tracker.clone());
        tracker.spawn(async move {
            tokio::select! {
                () = stop.receivers.cancelled() => {}
                () = stop.work.cancelled() => {}
            }
            inner.receivers.cancel();
            stop.work.cancelled().await;
            inner.work.cancel();
            own.close();
            own.wait().await;
            // What the last tasks have used.
            limits.write().await;
        });
    }

    async fn delivery_workers(&self) -> Result<Vec<DeliveryWorker>, StoreError> {
        let queues = std::mem::take(&mut *locked(&self.queues));
        let mut delivery_workers = Vec::new();
        for (id, queue) in queues {
            let Some(account) = self.outbox.accounts.get(&id) else { continue };
            let mut delivery_worker = DeliveryWorker::new(Arc::clone(&self.outbox), account, queue);
            delivery_worker.load().await?;
            delivery_workers.push(delivery_worker);
        }
        Ok(delivery_workers)
    }
}
