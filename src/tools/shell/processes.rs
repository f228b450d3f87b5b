//! Every process that runs for a conversation: started, listed, found again, ended with the daemon.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::{ConversationId, locked};
use selkie_sandbox::{Launcher, Machine, State};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::environment::MARK;
use super::supervise::{GRACE, Program, SupervisedProcess};
use super::survivors::{Records, sweep, sweep_adopted};
use crate::paths::CommandLog;
use selkie_domain::ids::TaskId;

/// Background processes that one conversation may have at once.
pub(super) const MAX_RUNNING: usize = 16;
/// Ended ones that a conversation can still ask about.
const MAX_ENDED: usize = 16;

/// The registry. One per daemon.
pub struct Processes {
    /// This run of the registry: marks begin so.
    boot: String,
    machine: Arc<Machine>,
    inner: Mutex<Inner>,
    commands: Arc<CommandLog>,
    tracker: TaskTracker,
    end: CancellationToken,
}

#[derive(Default)]
struct Inner {
    records: Option<Records>,
    /// Of all processes, foreground too: part of their marks.
    started: u64,
    /// Of background processes: their names.
    last: u64,
    background: BTreeMap<u64, Arc<Background>>,
    /// Our children that run, by their numbers.
    children: BTreeSet<i32>,
}

/// A process that a conversation left running.
pub(super) struct Background {
    pub(super) name: String,
    pub(super) conversation: ConversationId,
    pub(super) task: TaskId,
    pub(super) command: String,
    pub(super) since: DateTime<Utc>,
    pub(super) running: Arc<SupervisedProcess>,
    /// Where the last poll ended.
    pub(super) polled: Mutex<u64>,
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessLine {
    /// `p1`.
    pub name: String,
    /// How it stands, in words.
    pub state: String,
    /// Since its start.
    pub age: Duration,
    /// What was asked for.
    pub command: String,
}

impl Default for Processes {
    fn default() -> Self {
        Self {
            boot: uuid::Uuid::now_v7().to_string(),
            machine: Arc::default(),
            inner: Mutex::default(),
            commands: Arc::default(),
            tracker: TaskTracker::new(),
            end: CancellationToken::new(),
        }
    }
}

/// For whom a process is started in the background, and when.
#[derive(Clone, Copy)]
pub(super) struct StartedFor<'a> {
    pub(super) conversation: &'a ConversationId,
    pub(super) task: TaskId,
    pub(super) now: DateTime<Utc>,
}

impl Processes {
    /// Makes a registry whose commands are started so.
    pub fn new(launcher: Launcher) -> Self {
        Self { machine: Arc::new(Machine::new(launcher)), ..Self::default() }
    }

    /// Ends what an earlier daemon left behind and records from now on what runs. To be called once,
    /// while the store's lock is held.
    pub fn begin(&self, record: PathBuf, now: DateTime<Utc>) {
        self.commands.begin(record.with_file_name("commands.json"), now);
        let (records, ended) = Records::begin(record, self.boot.clone());
        if ended > 0 {
            tracing::warn!(
                processes = ended,
                "processes of an earlier start still ran: they were ended"
            );
        }
        self.inner().records = Some(records);
    }

    /// Returns the machine that commands run on.
    pub fn machine(&self) -> &Arc<Machine> {
        &self.machine
    }

    /// Returns what is noted of commands, for whoever reads files.
    pub fn commands(&self) -> &Arc<CommandLog> {
        &self.commands
    }

    /// Lists the background processes of a conversation, the oldest first.
    pub fn list(&self, conversation: &ConversationId, now: DateTime<Utc>) -> Vec<ProcessLine> {
        self.of(conversation).iter().map(|process| process.listed(now)).collect()
    }

    /// Lists what runs in the background of a conversation, except what a task started.
    pub fn left_in(&self, conversation: &ConversationId, except: Option<TaskId>) -> Vec<String> {
        let all = self.of(conversation);
        // One that is being ended is as good as gone.
        let goes_on = |p: &Background| p.is_running() && !p.running.end.is_cancelled();
        let left = all.iter().filter(|p| goes_on(p) && Some(p.task) != except);
        left.map(|p| p.name.clone()).collect()
    }

    /// Ends what runs in the background of a conversation.
    pub fn end_in(&self, conversation: &ConversationId) {
        for process in self.of(conversation).iter().filter(|p| p.is_running()) {
            process.running.end.cancel();
        }
    }

    /// Ends what a task has left running.
    pub fn end_of(&self, task: TaskId) {
        let inner = self.inner();
        let running = inner.background.values().filter(|p| p.task == task && p.is_running());
        running.for_each(|process| process.running.end.cancel());
    }

    /// Ends everything. Nothing can be started afterwards.
    pub async fn end(&self) {
        self.end.cancel();
        self.tracker.close();
        if timeout(GRACE * 2, self.tracker.wait()).await.is_err() {
            tracing::warn!("some processes do not end: the next start looks for them");
        }
    }

    /// Starts a process; it runs until its end, its limit, or until it is asked to end.
    pub(super) fn start(
        self: &Arc<Self>,
        mut program: Program,
    ) -> io::Result<Arc<SupervisedProcess>> {
        if self.end.is_cancelled() {
            return Err(io::Error::other("the daemon is stopping"));
        }
        // The point ends the number: process 1 is not swept with process 10.
        let mark = format!("{}.{}.", self.boot, self.number());
        program.environment.push((MARK.to_owned(), mark.clone()));
        let running = {
            // Held, so that no sweep takes a child for a stray that is not written down yet.
            let mut inner = self.inner();
            inner.records.as_mut().map(Records::starting);
            let (running, body) =
                SupervisedProcess::start(program, self.machine.launcher(), self.end.child_token())?;
            inner.started(&running);
            (Arc::new(running), body)
        };
        let (running, body) = running;
        let (this, driven) = (Arc::clone(self), Arc::clone(&running));
        self.tracker.spawn(async move {
            let lost = driven.drive(body).await;
            tokio::task::spawn_blocking(move || this.cleared(&driven, &mark, lost)).await.ok();
        });
        Ok(running)
    }

    /// Does work that belongs to a process, to its end, whoever waits for it.
    pub(crate) fn look_after<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.tracker.spawn(work)
    }

    /// Starts a process and keeps it under a name.
    pub(super) fn keep(
        self: &Arc<Self>,
        of: StartedFor<'_>,
        command: String,
        program: Program,
    ) -> Result<Arc<Background>, String> {
        let StartedFor { conversation, task, now } = of;
        let running = self.of(conversation).iter().filter(|p| p.is_running()).count();
        if running >= MAX_RUNNING {
            return Err(format!(
                "{running} background processes run in this conversation already: stop one first"
            ));
        }
        let running = self.start(program).map_err(|e| e.to_string())?;
        let mut inner = self.inner();
        inner.last += 1;
        let number = inner.last;
        let process = Arc::new(Background {
            name: format!("p{number}"),
            conversation: conversation.clone(),
            task,
            command,
            since: now,
            running,
            polled: Mutex::new(0),
        });
        inner.background.insert(number, Arc::clone(&process));
        inner.forget(conversation);
        Ok(process)
    }

    /// Finds a background process of a conversation.
    pub(super) fn find(
        &self,
        conversation: &ConversationId,
        name: &str,
    ) -> Result<Arc<Background>, String> {
        let all = self.of(conversation);
        let wanted = name.trim().trim_start_matches('p');
        if let Some(found) = all.iter().find(|p| &p.name[1..] == wanted) {
            return Ok(Arc::clone(found));
        }
        let names: Vec<&str> = all.iter().map(|p| p.name.as_str()).collect();
        let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Err(format!(
            "there is no process {name} in this conversation (there: {there}; all end with the daemon)"
        ))
    }

    /// Tells a background process from any other, one of an earlier start included.
    pub(super) fn identity(&self, process: &Background) -> String {
        format!("{}.{}", self.boot, process.name)
    }

    /// The background processes of a conversation, the oldest first.
    pub(super) fn of(&self, conversation: &ConversationId) -> Vec<Arc<Background>> {
        let inner = self.inner();
        inner.background.values().filter(|p| p.conversation == *conversation).cloned().collect()
    }

    fn number(&self) -> u64 {
        let mut inner = self.inner();
        inner.started += 1;
        inner.started
    }

    fn cleared(&self, running: &SupervisedProcess, mark: &str, lost: bool) {
        let mut inner = self.inner();
        inner.ended(running);
        // A supervisor has ended everything; without its word we look.
        let mut left = 0;
        if lost {
            left += sweep_adopted(&inner.children);
        }
        drop(inner);
        if lost || !running.is_supervised() {
            left += sweep(mark);
        }
        locked(&running.notes).clear();
        if left > 0 {
            tracing::info!(processes = left, "a command left its group: what it started was ended");
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        locked(&self.inner)
    }
}

impl Inner {
    fn started(&mut self, running: &SupervisedProcess) {
        self.children.insert(running.leader.as_raw_pid());
        // A supervisor ends everything when we are gone, so nothing is to be looked for.
        if let Some(records) = self.records.as_mut().filter(|_| !running.is_supervised()) {
            records.started(running.leader);
        }
    }

    fn ended(&mut self, running: &SupervisedProcess) {
        self.children.remove(&running.leader.as_raw_pid());
        if let Some(records) = &mut self.records {
            records.ended(running.leader);
        }
    }

    /// Forgets the oldest ended processes of a conversation.
    fn forget(&mut self, conversation: &ConversationId) {
        let ended = self
            .background
            .iter()
            .filter(|(_, p)| p.conversation == *conversation && !p.is_running());
        let ended: Vec<u64> = ended.map(|(number, _)| *number).collect();
        for number in &ended[..ended.len().saturating_sub(MAX_ENDED)] {
            self.background.remove(number);
        }
    }
}

impl Background {
    pub(super) fn is_running(&self) -> bool {
        self.running.state() == State::Running
    }

    pub(super) fn listed(&self, now: DateTime<Utc>) -> ProcessLine {
        ProcessLine {
            name: self.name.clone(),
            state: self.running.state().to_string(),
            age: (now - self.since).max(TimeDelta::zero()).to_std().unwrap_or_default(),
            command: self.command.clone(),
        }
    }
}
