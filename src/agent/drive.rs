//! The only loop with await: asks the run what is next, does it, tells the run what came of it.

mod approval;
mod asking;
mod calls;
mod children;
mod commit;
mod known;
mod pictures;
mod request;
mod standing;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use selkie_channel_core::locked;

use crate::context::Context;
use crate::run::{Next, Run, Standing};
use crate::window::Window;
use crate::{Agent, Assignment, DriveEnd, DropReason, Settings, earlier, hidden, messages, plan};
use selkie_domain::course::Course;
use selkie_domain::crash::CrashPoint;
use selkie_domain::facts::{Facts, Trigger};
use selkie_domain::plan::Plan;
use selkie_domain::span::Span;
use selkie_domain::tool::{Recovery, ToolBlock};
use selkie_domain::usage::{Meter, ModelCall};
use selkie_llm::{Model, Reply};
use selkie_tools::halts::Halts;
use selkie_tools::registry::Registry;
use selkie_tools::scope::Earlier;

impl Agent {
    /// Drives a task to its end, or to a question that a person has to answer.
    ///
    /// # Errors
    /// See [`DropReason`].
    pub async fn drive(&self, assignment: Assignment<'_>) -> Result<DriveEnd, DropReason> {
        Drive::begin(self, assignment)?.finish().await
    }
}

/// One drive of one task.
struct Drive<'a> {
    agent: &'a Agent,
    task: Assignment<'a>,
    model: Arc<dyn Model>,
    run: Run,
    facts: Facts,
    /// What may be called now.
    registry: Registry,
    /// What the model is shown: the same bytes for the whole task, but for a change of mode. What words of
    /// others take away in between is refused at the call.
    listed: Arc<ToolBlock>,
    /// The facts have changed, and the stored ones do not say so yet.
    reshaped: bool,
    /// What calls have used of models, until the run counts it.
    meter: Arc<Meter>,
    /// For how long people were asked in the middle of calls, until the run counts it.
    halts: Arc<Halts>,
    /// How much of the history is sent.
    window: Window,
    /// What stubs of the history stand for.
    earlier: Arc<[Earlier]>,
    /// The plan that the people were told last.
    told: Option<Plan>,
    /// What was called, and how long it took; calls that run side by side write it, too.
    course: Mutex<Course>,
    /// The agents that calls of the newest answer begin.
    begun: Vec<String>,
    /// How far the task may go.
    settings: Settings,
}

/// How far a task may go: an agent not beyond its time.
fn settings(agent: &Agent, facts: &Facts) -> Settings {
    let mut settings = agent.settings.clone();
    if let Some(parent) = &facts.parent {
        let left = (parent.until - facts.at).to_std().unwrap_or_default();
        let limit = settings.timeout.0;
        settings.timeout = Span(if limit.is_zero() { left } else { left.min(limit) });
    }
    settings
}

impl<'a> Drive<'a> {
    fn begin(agent: &'a Agent, mut task: Assignment<'a>) -> Result<Self, DropReason> {
        let claimed = task.claimed;
        let settings = settings(agent, &claimed.facts);
        let mut run = match (&claimed.header, claimed.transcript.as_slice()) {
            (Some(header), items @ [_, ..]) => {
                let resumed = Run::resume(settings.clone(), header, items.to_vec());
                let mut run = resumed.map_err(DropReason::Broken)?;
                run.take_up(claimed.own_forms.clone());
                if let Some(settled) = &claimed.settled {
                    run.settled(&settled.question, agent.clock.now());
                }
                if let Some(approval) = &claimed.approval {
                    run.approval_settled(approval, agent.clock.now());
                }
                run
            }
            _ => {
                let heard = std::mem::take(&mut task.heard);
                let undelivered =
                    claimed.undelivered.iter().map(|said| messages::not_delivered(said));
                let unasked = claimed.facts.passed.as_ref().map(messages::unasked);
                let note = claimed.words.as_ref().map(|words| words.note.clone());
                let note = note.filter(|note| !note.is_empty());
                let notes = undelivered.chain(unasked).chain(note).collect();
                let mut run = Run::begin(settings.clone(), heard, notes, agent.clock.now());
                claimed.open.iter().for_each(|question| run.tell(messages::still_open(question)));
                run
            }
        };
        run.belongs_to(claimed.claim.task);
        run.works_among(claimed);
        run.be_frank(claimed.facts.is_owner_alone());
        let mut facts = claimed.facts.clone();
        let read = run.level().max(Context::of(&task.context).level());
        facts.taint = facts.taint.max(earlier::level(&claimed.history)).max(read);
        let registry = (task.shape)(&facts);
        let listed = Arc::clone(registry.block());
        let window = Window::of(&claimed.history);
        let earlier = earlier::collect(&claimed.history, window.short());
        let reshaped = claimed.reshaped || facts != claimed.facts;
        let model = agent.model_of(facts.pick.model.as_deref());
        Ok(Self {
            agent,
            task,
            model,
            run,
            facts,
            registry,
            listed,
            reshaped,
            meter: Arc::default(),
            halts: Arc::default(),
            window,
            earlier,
            told: None,
            course: Mutex::default(),
            settings,
            begun: Vec::new(),
        })
    }

    async fn finish(mut self) -> Result<DriveEnd, DropReason> {
        loop {
            self.run.spent(self.meter.take());
            self.run.stood(self.halts.take());
            match self.run.next(self.agent.clock.now()) {
                Next::Done(mut ending) => {
                    ending.course = std::mem::take(&mut *locked(&self.course));
                    ending.course.since = Some(self.run.ledger().since);
                    ending.level = self.facts.taint.max(self.run.level());
                    ending.facts = self.reshaped.then(|| Box::new(self.facts.clone()));
                    // What a schedule has made may see less than there is.
                    ending.cut =
                        self.window.cut_now().filter(|_| self.facts.trigger == Trigger::Asked);
                    return Ok(DriveEnd::Ended(ending));
                }
                Next::AskPerson(asks) => return Ok(DriveEnd::Asks(asks)),
                Next::SeekApproval(seeks) => return Ok(DriveEnd::Seeks(seeks)),
                Next::AwaitChildren(waits) => return Ok(DriveEnd::Waits(waits)),
                Next::AskModel(ask) => {
                    self.take_in(ask.step).await;
                    self.ask(ask).await?;
                }
                Next::CallTools { calls, resumed } => self.call(calls, resumed).await?,
            }
        }
    }

    /// Takes what came in: before the first answer what belongs to the request itself, for which the task's shape is made
    /// anew.
    async fn take_in(&mut self, step: u32) {
        let inflow = self.task.inflow;
        let newer = match step {
            1 => inflow.joined(&self.facts).await,
            _ => inflow.newer(&self.facts).await,
        };
        if newer.is_empty() {
            return;
        }
        self.run.newer(newer);
        self.rise();
        if step == 1 {
            self.listed = Arc::clone(self.registry.block());
        }
    }

    /// Stores an answer with calls before any of them starts: durable when one could have an effect.
    async fn replied(&mut self, mut reply: Reply, took: Duration) -> Result<(), DropReason> {
        reply.calls = reply.calls.into_iter().map(|c| self.registry.canonical(c)).collect();
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let call = ModelCall { by: reply.by.clone(), took_ms, usage: Some(reply.usage) };
        self.keep_pictures(&mut reply).await;
        self.run.replied(hidden::reply(&self.agent.redactor, reply));
        self.run.called(call);
        self.tell_plan();
        let Some(calls) = self.run.open_calls() else { return Ok(()) };
        let durable = calls.iter().any(|c| self.recovery(&c.name) == Recovery::Unknown);
        let mut standings = Vec::with_capacity(calls.len());
        let mut will_ask = Vec::new();
        for call in calls {
            let spec = self.spec(&call.name);
            let stands = spec.as_ref().is_some_and(|spec| spec.stands_alone);
            let asks = self.asks(call).await;
            standings.push(match spec.is_some_and(|spec| spec.groups) {
                _ if stands || asks => Standing::Alone,
                true => Standing::Grouped,
                false => Standing::Beside,
            });
            if asks {
                will_ask.push(call.id.clone());
            }
        }
        self.run.will_ask(will_ask);
        if standings.iter().any(|standing| *standing != Standing::Beside) {
            let mut standings = standings.into_iter();
            self.run.separate(|_| standings.next().unwrap_or(Standing::Beside));
        }
        self.commit(durable).await?;
        self.agent.crash.hit(CrashPoint::AfterCallsStored);
        Ok(())
    }

    /// Shows the plan when it has moved on.
    fn tell_plan(&mut self) {
        let Some(plan) = plan::standing(self.run.items()) else { return };
        if self.told.as_ref() != Some(&plan) {
            (self.task.scope)(&self.facts, "").progress.plan(&plan);
            self.told = Some(plan);
        }
    }

    /// Takes the level of what came in: it changes the facts and thereby what may be called.
    fn rise(&mut self) {
        let level = self.facts.taint.max(self.run.level());
        if level > self.facts.taint {
            self.facts.taint = level;
            self.registry = (self.task.shape)(&self.facts);
            self.reshaped = true;
        }
    }
}
