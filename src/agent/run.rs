//! The run: the agent's machine over one task. A value that can be stored; owns every decision and does
//! no I/O. The loop around it is `drive.rs`.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::header::{Header, LastAnswerOnly, VERSION};
use crate::loop_guard::LoopGuard;
use crate::own_forms::OwnForms;
use crate::{
    DriveOutcome, NewChildren, PendingChildren, PendingQuestion, Seeks, Settings, Source, budget,
    messages,
};
use selkie_domain::approval::Request;
use selkie_domain::ids::TaskId;
use selkie_domain::question::Ask;
use selkie_domain::taint::Taint;
use selkie_domain::transcript::{Call, Item, UserMessage};
use selkie_domain::usage::Usage;
use selkie_llm::{ModelError, Reply};
use selkie_store::{End, SeenMarks, TaskClaim, WritingCall};

mod approval;
mod asking;
mod calls;
mod children;
mod ending;
mod newer;
mod own_forms;
mod pictures;
mod schema;
mod unstored;

pub use asking::Standing;
pub use newer::taken_in;
pub use unstored::StepRecord;

/// How often a conversation that is too long is fitted tighter before the task gives up.
const MAX_FITTINGS: u32 = 4;

/// How much of a run is stored already.
#[derive(Clone, Copy, Default)]
struct StoredProgress {
    items: usize,
    usage: Usage,
}

/// One task's run.
pub struct Run {
    settings: Settings,
    header: Header,
    items: Vec<Item>,
    stored: StoredProgress,
    /// The open calls were asked for before a crash: some may have been started.
    resumed: bool,
    /// What the open call wants a person to be asked, until it is parked.
    ask: Option<Ask>,
    /// What approval the open call needs, until it is parked.
    seek: Option<Request>,
    ended: Option<(End, String)>,
    /// What came in and no answer has seen yet: the last items, from this one.
    pending: Option<(usize, Vec<Source>)>,
    /// What an answer has seen that is not stored yet.
    seen: SeenMarks,
    absorbed: Vec<TaskId>,
    /// Whoever reads the answer is told everything.
    frank: bool,
    /// The level of what the model reads.
    read: Taint,
    /// The task it is the run of.
    task: Option<TaskId>,
    /// The calls that wrote items which are not stored yet, by the item's place among all.
    wrote: Vec<WritingCall>,
    /// Its answers in their provider's own form, by their step.
    own: OwnForms,
    /// The names of the pictures of the answer that comes next.
    drawn: Vec<String>,
    /// The children that the open calls begin, until the run is parked.
    new_children: Option<NewChildren>,
    /// What others of the same family have used.
    family: Usage,
    /// It is the run of an agent.
    is_agent: bool,
    /// The JSON Schema that the answer has to fit.
    schema: Option<Value>,
}

/// What the run wants next.
#[derive(Debug)]
pub enum Next {
    /// An answer of the model.
    AskModel(AskModel),
    /// Answers to these calls.
    CallTools {
        /// All calls of one model answer, in order.
        calls: Vec<Call>,
        /// They were asked for before a crash: those with effects may have been started.
        resumed: bool,
    },
    /// A person's answer: the run is to be parked on this question.
    AskPerson(Box<PendingQuestion>),
    /// Somebody's approval for the open call: the run is to be parked on it.
    SeekApproval(Box<Seeks>),
    /// The ends of agents: the run is to be parked until then.
    AwaitChildren(Box<PendingChildren>),
    /// Nothing: this is the end.
    Done(Box<DriveOutcome>),
}

/// How the model is to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskModel {
    /// It may call tools.
    pub may_call: bool,
    /// With the history of the conversation.
    pub history: bool,
    /// The room for the conversation is divided by two so many times.
    pub fittings: u32,
    /// From 1.
    pub step: u32,
    /// An answer without words and calls is the end.
    pub may_end: bool,
}

impl Run {
    /// Begins a run with what it is to know and the messages it answers.
    pub fn begin(
        settings: Settings,
        heard: Vec<UserMessage>,
        notes: Vec<String>,
        now: DateTime<Utc>,
    ) -> Self {
        let notes = notes.into_iter().map(|text| Item::Noted { text });
        let items = notes.chain(heard.into_iter().map(Item::Received)).collect();
        let header = Header {
            v: VERSION,
            since: now,
            steps: 0,
            usage: Usage::default(),
            loop_guard: LoopGuard::default(),
            hushed: None,
            refused: None,
            set_aside: false,
            went_on: false,
            own_from: 0,
            fittings: 0,
            later: Vec::new(),
            started: Vec::new(),
            asking: None,
            approval: None,
            will_ask: Vec::new(),
            denied: Vec::new(),
            children: None,
            corrected: false,
            pictures: Vec::new(),
        };
        Self::of(settings, header, items, StoredProgress::default())
    }

    /// Takes up a stored run.
    ///
    /// # Errors
    /// When the header is of an unknown version.
    pub fn resume(settings: Settings, header: &str, items: Vec<Item>) -> Result<Self, String> {
        let header: Header =
            serde_json::from_str(header).map_err(|e| format!("run header: {e}"))?;
        if header.v > VERSION {
            return Err(format!("run header of version {}, this selkie knows {VERSION}", header.v));
        }
        let resumed = matches!(items.last(), Some(Item::Asked { .. }));
        let stored = StoredProgress { items: items.len(), usage: header.usage };
        Ok(Self { resumed, ..Self::of(settings, header, items, stored) })
    }

    fn of(settings: Settings, header: Header, items: Vec<Item>, stored: StoredProgress) -> Self {
        let ended = None;
        let pending = None;
        let seen = SeenMarks::default();
        let absorbed = Vec::new();
        Self {
            settings,
            header,
            items,
            stored,
            resumed: false,
            ask: None,
            seek: None,
            ended,
            pending,
            seen,
            absorbed,
            frank: false,
            read: Taint::Clean,
            task: None,
            wrote: Vec::new(),
            own: OwnForms::default(),
            drawn: Vec::new(),
            new_children: None,
            family: Usage::default(),
            is_agent: false,
            schema: None,
        }
    }

    /// Says whether whoever reads the answer is told a provider's own words and our config's keys.
    pub fn be_frank(&mut self, frank: bool) {
        self.frank = frank;
    }

    /// Says which task it is the run of: its questions are named after it where no message is there.
    pub fn belongs_to(&mut self, task: TaskId) {
        self.task = Some(task);
    }

    /// Counts what others of its family have used; an agent's answer has to have its form.
    pub fn works_among(&mut self, claimed: &TaskClaim) {
        self.family_used(claimed.family);
        self.is_agent = claimed.facts.parent.is_some();
        if let Some(parent) = &claimed.facts.parent {
            self.answers_by(parent.schema.as_deref());
        }
    }

    /// Tells the model something before it is asked.
    pub fn tell(&mut self, text: String) {
        self.items.push(Item::Noted { text });
    }

    /// Says what comes next.
    pub fn next(&mut self, now: DateTime<Utc>) -> Next {
        if let Some(asks) = self.parking() {
            return Next::AskPerson(Box::new(asks));
        }
        if let Some(seeks) = self.seeking() {
            return Next::SeekApproval(Box::new(seeks));
        }
        if let Some(waits) = self.waiting_for_children() {
            return Next::AwaitChildren(Box::new(waits));
        }
        if let Some(calls) = self.open_calls() {
            return Next::CallTools { calls: calls.to_vec(), resumed: self.resumed };
        }
        if self.ended.is_none() && matches!(self.items.last(), Some(Item::Said { .. })) {
            // Stored before a crash that came between the answer and the end.
            self.end(End::Done, String::new());
        }
        if self.ended.is_none()
            && let Some(spent) = budget::spent(&self.settings, self.ledger(), now)
        {
            self.limit_reached(&spent);
        }
        if self.ended.is_some() {
            return Next::Done(Box::new(self.ending()));
        }
        if self.header.hushed.is_none() && budget::is_last_step(&self.settings, self.ledger().steps)
        {
            self.hush(LastAnswerOnly::LastStep);
        }
        Next::AskModel(AskModel {
            may_call: self.header.hushed.is_none(),
            history: !self.header.set_aside,
            fittings: self.header.fittings,
            step: self.header.steps + 1,
            may_end: self.may_end(),
        })
    }

    /// Returns the calls that wait for their answers.
    pub fn open_calls(&self) -> Option<&[Call]> {
        match (&self.ended, self.items.last()) {
            (None, Some(Item::Asked { calls, .. })) => Some(calls),
            _ => None,
        }
    }

    /// Takes the model's answer; of its pictures only what [`Run::drew`] was told.
    pub fn replied(&mut self, reply: Reply) {
        let Reply { text, calls, pictures: _, usage, own, stopped, by: _ } = reply;
        self.header.steps += 1;
        self.header.usage.add(usage);
        self.header.refused = None;
        self.header.went_on = self.header.set_aside;
        self.saw();
        let has_pictures = self.note_pictures();
        let hushed = self.header.hushed.take();
        let is_empty = calls.is_empty() && text.trim().is_empty() && !has_pictures;
        if is_empty && stopped.is_none() {
            return self.end_without_words(hushed.as_ref());
        }
        if calls.is_empty() {
            let text = text + stopped.map_or("", messages::answer_stopped);
            let Some(text) = self.in_form(text) else { return };
            self.items.push(Item::said(text.clone(), self.read));
            return self.end(End::Done, text);
        }
        match hushed {
            None => {
                let step = self.header.steps;
                let named = |(n, call): (usize, Call)| Call { id: format!("c{step}.{n}"), ..call };
                let calls = calls.into_iter().enumerate().map(named).collect();
                self.own.keep(step, own);
                self.items.push(Item::Asked { text, calls, taint: self.read.written() });
            }
            Some(LastAnswerOnly::Repeated(tool)) => {
                let line = messages::went_in_circles(&tool);
                self.fail(line.clone(), line);
            }
            Some(LastAnswerOnly::LastStep) => {
                self.limit_reached(&budget::SpentLimit::Steps(self.header.steps));
            }
        }
    }

    /// Ends because the task's time is over.
    pub fn out_of_time(&mut self) {
        self.limit_reached(&budget::SpentLimit::Time(self.settings.timeout));
    }

    fn limit_reached(&mut self, spent: &budget::SpentLimit) {
        self.fail(messages::limit_reached(spent, true), messages::limit_reached(spent, false));
    }

    /// Counts what was spent without an answer.
    pub fn spent(&mut self, usage: Usage) {
        self.header.usage.add(usage);
    }

    /// Ends because whoever it works for may use no more.
    pub fn used_up(&mut self, why: String, text: String) {
        self.end(End::Failed { why }, text);
    }

    /// Takes a refusal or fault of the model. Afterwards [`Run::next`] asks again or ends.
    pub fn refused(&mut self, error: &ModelError, has_history: bool) {
        match error {
            ModelError::TooLong { .. } if self.header.fittings < MAX_FITTINGS => {
                self.header.fittings += 1;
            }
            ModelError::Rejected { why } if self.header.refused.is_none() => {
                self.header.refused = Some(why.clone());
            }
            ModelError::Rejected { .. } if !self.own.all.is_empty() => self.set_own_forms_aside(),
            ModelError::Rejected { .. } if has_history && !self.header.set_aside => {
                self.header.set_aside = true;
                self.header.refused = None;
            }
            _ => self.fail(messages::no_answer(error), messages::no_answer_plainly(error)),
        }
    }

    /// Notes the level of what the model reads from now on.
    pub fn reads(&mut self, level: Taint) {
        self.read = level;
    }

    /// Returns the level of what came in during the task.
    pub fn level(&self) -> Taint {
        self.items.iter().map(Item::level).max().unwrap_or_default()
    }

    /// Returns the items so far.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Returns what the run and its family have spent: of the steps its agents leave a task the last one, so that it answers.
    pub fn ledger(&self) -> budget::Ledger {
        let Header { steps, mut usage, since, .. } = self.header;
        usage.add(self.family);
        let others = match self.settings.max_steps {
            most if self.is_agent || most == 0 => self.family.calls,
            most => self.family.calls.min(most.saturating_sub(1).saturating_sub(steps)),
        };
        budget::Ledger { steps: steps.saturating_add(others), usage, since }
    }

    fn hush(&mut self, hush: LastAnswerOnly) {
        let note = match hush {
            LastAnswerOnly::Repeated(_) => messages::ANSWER_WITHOUT_TOOLS,
            LastAnswerOnly::LastStep => messages::LAST_STEP,
        };
        self.items.push(Item::Noted { text: note.to_owned() });
        self.header.hushed = Some(hush);
    }

    /// Ends for a reason; `plain` is what people read who are not told it.
    fn fail(&mut self, why: String, plain: String) {
        let text = if self.frank { why.clone() } else { plain };
        self.end(End::Failed { why }, text);
    }

    fn end(&mut self, end: End, text: String) {
        if self.ended.is_none() {
            self.ended = Some((end, text));
        }
        // What no answer has seen waits for a task of its own.
        if let Some((begin, _)) = self.pending.take() {
            self.items.truncate(begin);
        }
    }
}

#[cfg(test)]
mod tests;
