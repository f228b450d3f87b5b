//! Tasks of a cause that is no message: made once, each with the words that it is to read.

use chrono::{DateTime, Utc};
use selkie_channel_core::ConversationId;

use super::claimed::{self, RawClaimed};
use super::conversations::{self, Site};
use super::{claiming, facts, kin, lanes, locks, stop, tasks, words};
use crate::arrival::{Location, NewTask, TaskRequest};
use crate::error::Result;
use crate::intake::Fuse;
use crate::tx::Tx;
use crate::value::params;
use selkie_domain::ids::TaskId;
use selkie_domain::task::Lane;
use selkie_domain::words::Words;

/// A request, written as text before it reaches the writer.
#[derive(Debug)]
pub struct RequestText {
    request: TaskRequest,
    facts: facts::FactsText,
}

impl RequestText {
    /// Writes a request's texts.
    pub fn new(request: TaskRequest) -> Result<Self> {
        let facts = facts::FactsText::new(&request.task.facts)?;
        Ok(Self { request, facts })
    }

    /// Returns the account that its task belongs to.
    pub fn account(&self) -> &str {
        self.request.location.conversation.account().as_str()
    }

    /// Returns where it is asked for.
    pub fn location(&self) -> &Location {
        &self.request.location
    }

    /// Returns the conversation in which it is asked for.
    pub fn conversation(&self) -> &ConversationId {
        &self.request.location.conversation
    }

    /// Returns its place among the tasks of its lane.
    pub fn order(&self) -> i64 {
        self.request.order
    }

    /// Returns its task.
    pub fn task(&self) -> &NewTask {
        &self.request.task
    }

    /// Returns the task's facts.
    pub fn facts(&self) -> &facts::FactsText {
        &self.facts
    }

    /// Returns what the task is to read.
    pub fn words(&self) -> &Words {
        &self.request.words
    }

    /// Returns about how many bytes it will take.
    pub fn bytes(&self) -> usize {
        self.request.words.text.len() + self.facts.bytes()
    }
}

/// What a request came to, with a claim that is not read yet.
#[derive(Debug)]
pub struct RawRequested {
    pub task: TaskId,
    pub is_new: bool,
    pub is_full: bool,
    pub claimed: Option<RawClaimed>,
    pub ready: Option<Lane>,
    pub stopping: Vec<TaskId>,
    pub wake_at: Option<DateTime<Utc>>,
}

impl RawRequested {
    /// A task of which nothing else is known.
    fn of(task: TaskId) -> Self {
        Self {
            task,
            is_new: false,
            is_full: false,
            claimed: None,
            ready: None,
            stopping: Vec::new(),
            wake_at: None,
        }
    }
}

/// Makes the task, and claims what may start at once; see [`crate::Intake::request`].
pub fn request(tx: &mut dyn Tx, asked: &RequestText, fuse: &Fuse) -> Result<RawRequested> {
    let TaskRequest { location, order, task: new, words: said } = &asked.request;
    locks::named(tx, [&location.conversation])?;
    let known = conversations::find(tx, &location.conversation)?;
    let here = conversations::hear(tx, known, Site::of(location, fuse.now))?;
    conversations::open(tx, here)?;
    if let Some(parent) = &new.facts.parent {
        kin::adopt(tx, here, &parent.conversation(location.conversation.account()))?;
    }
    if is_full(tx, asked, here)? {
        return Ok(RawRequested { is_full: true, ..RawRequested::of(TaskId(0)) });
    }
    let (lane, is_idle) = lanes::idle_of(tx, here)?;
    // A task that starts at once never waits.
    let starts = fuse.permits > 0 && new.not_before.is_none() && is_idle;
    let instance = starts.then_some(&fuse.instance);
    let row = tasks::Row {
        account: asked.account(),
        key: None,
        lane,
        order: *order,
        gathers: None,
        facts: &asked.facts,
        whereabouts: None,
        starts: instance,
    };
    let made = tasks::make(tx, new, here, &row, fuse.now)?;
    let mut out = RawRequested {
        is_new: made.is_new,
        wake_at: new.not_before.filter(|at| made.is_new && *at > fuse.now),
        ..RawRequested::of(TaskId(made.task))
    };
    if !made.is_new {
        return Ok(out);
    }
    words::keep(tx, made.task, said)?;
    if new.interrupts {
        out.stopping = stop::interrupt(tx, here, made.task, &new.facts, fuse.now)?;
    }
    if starts {
        out.claimed = Some(claimed::gather(tx, made.task)?);
        return Ok(out);
    }
    lanes::refresh(tx, lane)?;
    if fuse.permits > 0 {
        out.claimed = claiming::take(tx, lane, &fuse.instance, fuse.now)?;
    }
    out.ready = lanes::ready_name(tx, lane, fuse.now)?;
    Ok(out)
}

/// Whether too much of what is asked for waits already. What was made before is found all the same.
fn is_full(tx: &mut dyn Tx, asked: &RequestText, conversation: i64) -> Result<bool> {
    let new = asked.task();
    let Some((most, kind)) = new.most_waiting.zip(new.cause.kind()) else { return Ok(false) };
    // Keys of the kind begin with it: they stand before it with its last character raised.
    let end = format!("{};", kind.trim_end_matches(':'));
    let waiting: i64 = tx.only(
        "SELECT COUNT(*) FROM task WHERE conversation = ?1 AND state = 'waiting' AND cause >= ?2 AND cause < ?3",
        params![conversation, &kind, &end],
    )?;
    let parked: i64 = tx.only(
        "SELECT COUNT(*) FROM task WHERE conversation = ?1 AND state = 'parked' AND cause >= ?2 AND cause < ?3",
        params![conversation, &kind, &end],
    )?;
    if waiting + parked < i64::from(most) {
        return Ok(false);
    }
    let known: Option<i64> = tx.optional(
        "SELECT id FROM task WHERE account = ?1 AND cause = ?2 AND cause <> ''",
        params![asked.account(), new.cause.key(None).as_ref()],
        |row| row.get(0),
    )?;
    Ok(known.is_none())
}
