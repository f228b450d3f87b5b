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

use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::delivery::post_files::PostFiles;
use crate::delivery::posts::{resume, sweep_files};
use crate::delivery::queue::PartQueue;
use crate::delivery::runtime::Stop;
use crate::delivery::worker::DeliveryWorker;
use crate::delivery::{approvals, deferred, status_calls};
use crate::flow::lives::Lives;
use crate::flow::people::People;
use crate::intake::firing::Firings;
use crate::intake::gate::Gate;
use crate::intake::heartbeat::Heartbeat;
use crate::intake::listen::Receivers;
use crate::intake::receive::Intake;
use crate::intake::ticker::Ticker;
use crate::terminal::ask::{Ask, AskEvent, Counter, Reply};
use crate::work::acquaintances::Acquaintances;
use crate::work::due::DueItems;
use crate::work::janitor::Janitor;
use crate::work::limits::Limits;
use crate::work::moved_chats::MovedChats;
use crate::work::summaries::Summaries;
use crate::work::timetable::BookTimetable;
use crate::work::worker::Workers;
use selkie_domain::facts::Trust;
use selkie_domain::live::Live;
use selkie_memory::MemoryBook;
use selkie_schedule::book::BookError;
use selkie_schedule::fixed::FixedSchedule;
use selkie_schedule::post_view::PostUrl;
use selkie_schedule::words::moment;
use selkie_skills::SkillBook;
use selkie_store::{PairedPerson, StoreError};

mod assemble;
mod build;
mod calendar;
mod channels;
mod hearing;
mod knowledge;
mod lives;
mod memory;
mod operating;
mod parts;
mod people;
mod proven;
mod reload;
mod remake;
mod rooms;
mod state_files;
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
mod stories_of_webhooks;
mod tasks;
#[cfg(test)]
pub mod testing;
mod webhooks;
mod windows;

pub use knowledge::{ChatItem, Knowledge, KnowledgeResult, KnowledgeView, Unreadable};
pub use parts::{
    ByConfig, FlowParts, ImagesConfig, SpeechConfig, Standing, StudioConfig, SummaryConfig,
    VoiceConfig,
};
pub use remake::{ChannelChange, ChannelOutcome};

/// Everything between the channels and the agent.
pub struct Flow {
    context: Context,
    outbox: Arc<Outbox>,
    post_files: Arc<PostFiles>,
    intake: Arc<Intake>,
    workers: Arc<Workers>,
    /// What people may use.
    pub limits: Arc<Limits>,
    gate: Arc<Gate>,
    listening: Arc<Receivers>,
    counter: Arc<Counter>,
    /// The schedules.
    pub timetable: Arc<BookTimetable>,
    /// Those of the config.
    pub named_owners: Live<Vec<PersonId>>,
    /// Channels are changed by one at a time.
    changing: tokio::sync::Mutex<()>,
    /// What a reload puts others in the place of.
    live: Lives,
    /// Contacts and todo lists, as tools reach them.
    pub people: People,
    /// What is remembered.
    pub memory: Arc<MemoryBook>,
    /// How kinds of work are done.
    pub skills: Arc<SkillBook>,
    due_items: Option<Arc<DueItems>>,
    moved_chats: Option<Arc<MovedChats>>,
    /// Who was met.
    pub acquaintances: Arc<Acquaintances>,
    /// Until [`Flow::start`] takes them.
    queues: Mutex<HashMap<AccountId, PartQueue>>,
    janitor: Mutex<Option<Janitor>>,
    /// The cache folder.
    cache_dir: PathBuf,
    summaries: Mutex<Option<Summaries>>,
    /// When the next conversation that rests is summed up.
    pub rests: watch::Receiver<Option<DateTime<Utc>>>,
    /// Carries out what comes due.
    pub firings: Arc<Firings>,
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
        let tracker = &self.context.runtime.tracker;
        tracker.spawn(resume(Arc::clone(&self.outbox)));
        if let Some(ticker) = locked(&self.ticker).take() {
            tracker.spawn(ticker.run());
        }
        self.start_memory(tracker);
        if let Some(items) = &self.due_items {
            tracker.spawn(Arc::clone(items).watch(self.context.clone(), Arc::clone(&self.outbox)));
        }
        if let Some(moved) = &self.moved_chats {
            tracker.spawn(Arc::clone(moved).watch(self.context.clone()));
        }
        tracker.spawn(
            Arc::clone(&self.acquaintances).watch(self.context.clone(), Arc::clone(&self.outbox)),
        );
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
        let back = self
            .context
            .storage
            .ledger
            .reclaim(&self.context.runtime.instance, self.context.runtime.clock.now())
            .await?;
        if back > 0 {
            tracing::info!(tasks = back, "unfinished tasks of an earlier run continue");
        }
        self.workers.suspect().await?;
        let moved = self.context.storage.ledger.moved_places().await?;
        let open = self.context.storage.ledger.open_commands().await?;
        self.relay(tracker, stop);
        self.ask_windows();
        for (old, new) in moved {
            if let Some(account) = self.context.accounts.get(old.account()) {
                outbox.follow(&account, &old, &new).await;
                self.memory.moved(&old, &new).await;
            }
        }
        self.intake.commands.carry_out(open).await;
        let delivery_workers = self.delivery_workers().await?;
        outbox.files().sweep(delivery_workers.iter().flat_map(DeliveryWorker::parts));
        self.context.runtime.tracker.spawn(sweep_files(Arc::clone(outbox)));
        self.context.runtime.tracker.spawn(status_calls::sweep(Arc::clone(outbox)));
        self.context.runtime.tracker.spawn(approvals::close_left(Arc::clone(outbox)));
        delivery_workers.into_iter().for_each(|worker| self.start_sending(worker));
        self.context.runtime.tracker.spawn(Arc::clone(&self.workers).dispatch());
        self.gate.resume().await?;
        let tracker = &self.context.runtime.tracker;
        tracker.spawn(deferred::sweep(Arc::clone(outbox)));
        tracker.spawn(deferred::offer_again(Arc::clone(outbox)));
        tracker.spawn(Arc::clone(&self.limits).write_behind());
        tracker.spawn(Arc::clone(&self.context.storage).watch_over());
        if let Some(janitor) = locked(&self.janitor).take() {
            tracker.spawn(janitor.run());
        }
        self.context.accounts.all().for_each(|account| self.start_receiving(account));
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

    /// Returns what finds the address of a post.
    pub fn post_urls(&self) -> PostUrl {
        let accounts = Arc::clone(&self.context.accounts);
        Arc::new(move |to, message| Some((accounts.of(to)?.channel.posting?.data.url)(message)))
    }

    /// Returns the time.
    pub fn now(&self) -> DateTime<Utc> {
        self.context.runtime.now()
    }

    /// Runs one task in the terminal and streams what happens, to the end of its delivery. Whoever drops the
    /// stream has hung up: the task is stopped.
    ///
    /// # Errors
    /// When the task could not be stored.
    pub async fn ask(&self, ask: Ask) -> Result<mpsc::Receiver<AskEvent>, StoreError> {
        let counter = Arc::clone(&self.counter);
        let begun = async move { counter.begin(ask).await };
        self.context.runtime.to_the_end(begun).await
    }

    /// Answers the question with this key for whoever sits at the terminal.
    ///
    /// # Errors
    /// When the answer could not be stored.
    pub async fn answer(&self, question: &str, reply: Ask) -> Result<Reply, StoreError> {
        let (counter, question) = (Arc::clone(&self.counter), question.to_owned());
        let answered = async move { counter.answer(&question, reply).await };
        self.context.runtime.to_the_end(answered).await
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

    /// Takes those who were paired for what they are, behind those of the config.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn know_paired(&self) -> Result<(), StoreError> {
        for PairedPerson { person, trust } in self.context.storage.ledger.paired().await? {
            match trust {
                Trust::Owner => {
                    self.timetable.owners.add(&person);
                }
                _ => self.context.accounts.let_in(&person),
            }
        }
        Ok(())
    }

    /// Refuses to begin anything of a restored life.
    async fn may_begin(&self) -> Result<(), StoreError> {
        match self.context.storage.ledger.restored().await? {
            None => Ok(()),
            Some(restored) => Err(StoreError::Held(
                restored.says(&moment(restored.made_at, self.timetable.book.zone())),
            )),
        }
    }

    /// Hands the daemon's stop on, and keeps its tracker busy until all of flow has ended.
    fn relay(&self, tracker: &TaskTracker, stop: Stop) {
        let limits = Arc::clone(&self.limits);
        let runtime = &self.context.runtime;
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
            let Some(account) = self.context.accounts.get(&id) else { continue };
            let mut delivery_worker = DeliveryWorker::new(Arc::clone(&self.outbox), account, queue);
            delivery_worker.load().await?;
            delivery_workers.push(delivery_worker);
        }
        Ok(delivery_workers)
    }
}
