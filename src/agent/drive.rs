//! The only loop with await: asks the run what is next, does it, tells the run what came of it.

mod approval;
mod asking;
mod commit;
mod known;
mod pictures;
mod request;
mod standing;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use selkie_channel_core::locked;
use tokio::time::Instant;

use self::standing::Approval;
use crate::context::Context;
use crate::run::{Next, Run};
use crate::window::Window;
use crate::{Agent, Assignment, DriveEnd, DropReason, budget, earlier, hidden, messages, plan};
use selkie_domain::course::Course;
use selkie_domain::crash::CrashPoint;
use selkie_domain::event::Event;
use selkie_domain::facts::{Facts, Trigger};
use selkie_domain::plan::Plan;
use selkie_domain::tool::{Recovery, ToolBlock};
use selkie_domain::transcript::{Answer, Call};
use selkie_domain::usage::{Meter, ModelCall};
use selkie_llm::{Model, Reply};
use selkie_tools::ToolError;
use selkie_tools::dispatch::{CallResult, dispatch};
use selkie_tools::registry::Registry;
use selkie_tools::scope::{ApprovedBasis, Earlier, Scope};

/// How much of arguments and answers the watchers see.
const SHOWN: usize = 300;
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
    /// How much of the history is sent.
    window: Window,
    /// What stubs of the history stand for.
    earlier: Arc<[Earlier]>,
    /// The plan that the people were told last.
    told: Option<Plan>,
    /// What was called, and how long it took; calls that run side by side write it, too.
    course: Mutex<Course>,
}

impl<'a> Drive<'a> {
    fn begin(agent: &'a Agent, mut task: Assignment<'a>) -> Result<Self, DropReason> {
        let claimed = task.claimed;
        let settings = agent.settings.clone();
        let mut run = match (&claimed.header, claimed.transcript.as_slice()) {
            (Some(header), items @ [_, ..]) => {
                let resumed = Run::resume(settings, header, items.to_vec());
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
                let mut run = Run::begin(settings, heard, notes, agent.clock.now());
                claimed.open.iter().for_each(|question| run.tell(messages::still_open(question)));
                run
            }
        };
        run.belongs_to(claimed.claim.task);
        run.be_frank(claimed.facts.is_owner_alone());
        let mut facts = claimed.facts.clone();
        let read = run.level().max(Context::of(&task.context).level());
        facts.taint = facts.taint.max(earlier::level(&claimed.history)).max(read);
        let registry = (task.shape)(&facts);
        let listed = Arc::clone(registry.block());
        let window = Window::of(&claimed.history);
        let earlier = earlier::collect(&claimed.history, window.short());
        let reshaped = claimed.reshaped || facts != claimed.facts;
        let (meter, told) = (Arc::default(), None);
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
            meter,
            window,
            earlier,
            told,
            course: Mutex::default(),
        })
    }

    async fn finish(mut self) -> Result<DriveEnd, DropReason> {
        loop {
            self.run.spent(self.meter.take());
            match self.run.next(self.agent.clock.now()) {
                Next::Done(mut ending) => {
                    ending.course = std::mem::take(&mut *locked(&self.course));
                    ending.course.since = Some(self.run.ledger().since);
                    ending.facts = self.reshaped.then(|| Box::new(self.facts.clone()));
                    // What a schedule has made may see less than there is.
                    ending.cut =
                        self.window.cut_now().filter(|_| self.facts.trigger == Trigger::Asked);
                    return Ok(DriveEnd::Ended(ending));
                }
                Next::AskPerson(asks) => return Ok(DriveEnd::Asks(asks)),
                Next::SeekApproval(seeks) => return Ok(DriveEnd::Seeks(seeks)),
                Next::AskModel(ask) => {
                    // The first call sees what the task was made of.
                    if ask.step > 1 {
                        let newer = self.task.inflow.newer(&self.facts).await;
                        self.run.newer(newer);
                        self.rise();
                    }
                    self.ask(ask).await?;
                }
                Next::CallTools { calls, resumed } => self.call(calls, resumed).await?,
            }
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
        let (mut alone, mut will_ask) = (Vec::new(), Vec::new());
        for call in calls {
            let stands = self.spec(&call.name).is_some_and(|spec| spec.stands_alone);
            let asks = self.asks(call).await;
            if stands || asks {
                alone.push(call.id.clone());
            }
            if asks {
                will_ask.push(call.id.clone());
            }
        }
        self.run.will_ask(will_ask);
        if !alone.is_empty() {
            self.run.separate(|call| alone.contains(&call.id));
        }
        self.commit(durable).await?;
        self.agent.crash.hit(CrashPoint::AfterCallsStored);
        Ok(())
    }

    async fn call(&mut self, calls: Vec<Call>, resumed: bool) -> Result<(), DropReason> {
        let side_by_side =
            calls.len() > 1 && calls.iter().all(|c| self.runs_beside_others(&c.name));
        let mut answers = Vec::with_capacity(calls.len());
        let mut failed = None;
        if side_by_side && !resumed {
            self.mark_started(&calls).await?;
            let judged: Vec<_> = calls.iter().map(|c| self.run.judge(c)).collect();
            let all = calls.iter().zip(judged).map(async |(call, judged)| match judged {
                Some(answer) => Ok(CallResult { answer }),
                None => self.one(call, None).await,
            });
            for done in join_all(all).await {
                let Some(done) = self.unless_cancelled(done).await? else { return Ok(()) };
                answers.push(done.answer);
            }
        } else {
            for call in &calls {
                let approval = match self.not_again(call, resumed) {
                    Some(answer) => Approval::Refused(answer),
                    None => self.approval(call, calls.len() == 1).await?,
                };
                let given = matches!(approval, Approval::Given(_));
                let (refused, approved) = match approval {
                    Approval::Seek(request) => {
                        self.run.seeks(call, *request, self.agent.clock.now());
                        return Ok(());
                    }
                    Approval::Free => (None, None),
                    Approval::Given(approved) => (None, Some(approved)),
                    Approval::Refused(answer) => (Some(answer), None),
                };
                if refused.is_none() && approved.is_none() {
                    self.mark_started(std::slice::from_ref(call)).await?;
                }
                let done = match self.one_in_order(call, refused, approved).await {
                    // It stands alone: no other call waits for its answer.
                    Err(ToolError::Ask(ask)) => {
                        self.run.asks(call, *ask, self.agent.clock.now());
                        return Ok(());
                    }
                    done => done,
                };
                let Some(done) = self.unless_cancelled(done).await? else { return Ok(()) };
                if given && done.answer.is_error {
                    // It stands alone: whoever approved it is told.
                    failed = self.run.approval_key(call).map(str::to_owned);
                }
                answers.push(done.answer);
            }
        }
        let why = answers.last().map(|answer| answer.text.clone()).unwrap_or_default();
        self.run.answered(&calls, answers);
        self.tell_plan();
        self.rise();
        match failed {
            Some(key) => self.forgo(&key, why).await?,
            None => self.commit(false).await?,
        }
        self.agent.crash.hit(CrashPoint::AfterResults);
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

    /// Stores which calls begin, of those that must not begin twice.
    async fn mark_started(&mut self, calls: &[Call]) -> Result<(), DropReason> {
        let once = |call: &&Call| self.recovery(&call.name) == Recovery::NotTwice;
        let starting: Vec<Call> = calls.iter().filter(once).cloned().collect();
        if starting.is_empty() {
            return Ok(());
        }
        self.run.starts(starting.iter());
        self.commit(false).await
    }

    async fn one_in_order(
        &mut self,
        call: &Call,
        refused: Option<Answer>,
        approved: Option<ApprovedBasis>,
    ) -> Result<CallResult, ToolError> {
        match refused.or_else(|| self.run.judge(call)) {
            Some(answer) => Ok(CallResult { answer }),
            None => self.one(call, approved).await,
        }
    }

    /// What a call may touch.
    fn scope_of(&self, call: &Call) -> Scope {
        let outward = self.outward();
        Scope { outward, ..(self.task.scope)(&self.facts, &call.id) }
    }

    /// Makes one call.
    async fn one(
        &self,
        call: &Call,
        approved: Option<ApprovedBasis>,
    ) -> Result<CallResult, ToolError> {
        let claimed = self.task.claimed;
        let given = self.run.given(&call.id);
        // With an answer to its question it goes on: it was told when it began.
        if given.is_empty() {
            self.agent.events.emit(|| Event::Called {
                conversation: claimed.conversation.clone(),
                task: claimed.claim.task,
                tool: call.name.clone(),
                arguments: self.shown(&call.arguments.to_string()),
            });
        }
        let mut scope = self.scope_of(call);
        let now = self.agent.clock.now();
        let left = budget::time_left(&self.agent.settings, self.run.ledger().since, now);
        scope.given = given;
        scope.earlier = Arc::clone(&self.earlier);
        scope.approved = approved;
        scope.spent = Arc::clone(&self.meter);
        scope.plan = plan::newest(&claimed.history, self.run.items());
        scope.deadline = scope.deadline.min(Instant::now() + left);
        // A name that is no tool of this task is the model's own word: it is not shown.
        scope.progress.tool(self.spec(&call.name).map(|spec| spec.words()).as_deref());
        let (began, at) = (Instant::now(), now);
        let done = tokio::select! {
            biased;
            () = self.task.cancel.cancelled() => Err(ToolError::Abort("cancelled".to_owned())),
            done = dispatch(&self.registry, call, &scope, &self.agent.redactor) => done,
        }?;
        scope.progress.tool(None);
        self.counted(call, at, began.elapsed(), &done);
        self.agent.crash.hit(CrashPoint::AfterTool);
        self.agent.events.emit(|| Event::Answered {
            conversation: claimed.conversation.clone(),
            task: claimed.claim.task,
            tool: call.name.clone(),
            is_error: done.answer.is_error,
            text: self.shown(&done.answer.text),
        });
        Ok(done)
    }

    /// `None` when a person stopped the task: its open calls read as "not answered" in history.
    async fn unless_cancelled(
        &mut self,
        done: Result<CallResult, ToolError>,
    ) -> Result<Option<CallResult>, DropReason> {
        match done {
            Ok(done) => Ok(Some(done)),
            Err(ToolError::Abort(_)) if self.task.cancel.is_cancelled() => {
                self.cancelled().await.map(|()| None)
            }
            Err(error) => Err(DropReason::Broken(error.to_string())),
        }
    }

    /// Cancelled: the store knows whether a person wants it (then the run has ended) or the daemon stops.
    async fn cancelled(&mut self) -> Result<(), DropReason> {
        self.run.ended_in_order();
        self.commit(false).await?;
        if self.run.is_stopped() { Ok(()) } else { Err(DropReason::Stopping) }
    }

    fn shown(&self, text: &str) -> String {
        let clean = self.agent.redactor.clean(text);
        let cut = selkie_channel_core::split::fitting(&clean, SHOWN);
        if cut == clean.len() { clean } else { format!("{}…", &clean[..cut]) }
    }
}
