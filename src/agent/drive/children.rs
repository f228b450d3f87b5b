//! Calls by which agents work: what they are to do is stored with the run that waits for them.

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::PersonId;

use super::Drive;
use super::standing::Approval;
use crate::header::AgentCall;
use crate::{DropReason, NewChildren, messages};
use selkie_domain::cause::Cause;
use selkie_domain::choice::{Choice, Pick};
use selkie_domain::command_line;
use selkie_domain::crash::CrashPoint;
use selkie_domain::facts::Facts;
use selkie_domain::narrowing::Narrowing;
use selkie_domain::parent::{Parent, agent_conversation};
use selkie_domain::transcript::{Answer, Call};
use selkie_domain::words::Words;
use selkie_store::{Location, NewChild, NewTask, TaskRequest};
use selkie_tools::ToolError;
use selkie_tools::agents::{ChildOrder, MAIN, Start};

/// How much longer than its agents a task waits: each ends by itself when its time is over.
const GRACE: TimeDelta = TimeDelta::seconds(15);

/// So many ends of agents in a row may lead to one task: from there on nothing begins that is told later.
const MAX_REPORTS: u8 = 10;

/// What a call came to.
enum Orders {
    /// Agents are to do this.
    Given(Vec<ChildOrder>),
    /// It has its answer.
    Answered(Answer),
    /// The run ends, or waits for somebody first.
    Over,
}

impl Drive<'_> {
    /// Whether calls are ones by which agents work: these are asked for together and stand alone.
    pub(super) fn is_group(&self, calls: &[Call]) -> bool {
        calls.iter().all(|call| self.spec(&call.name).is_some_and(|spec| spec.groups))
    }

    /// Begins the agents of the open calls, or answers the calls by what the agents have come to.
    pub(super) async fn call_agents(&mut self, calls: &[Call]) -> Result<(), DropReason> {
        if !self.run.has_begun() {
            return self.begin_agents(calls).await;
        }
        let now = self.agent.clock.now();
        let mut answers = self.run.takes_ends(&self.task.claimed.children, now);
        for answer in &mut answers {
            answer.text = self.agent.redactor.clean(&answer.text);
        }
        for (call, answer) in calls.iter().zip(&answers) {
            self.told_answer(call, answer);
        }
        self.run.answered(calls, answers);
        self.rise();
        self.commit(false).await?;
        self.agent.crash.hit(CrashPoint::AfterResults);
        Ok(())
    }

    /// Makes the calls: what agents are to do is put together, and stored with the park.
    async fn begin_agents(&mut self, calls: &[Call]) -> Result<(), DropReason> {
        let now = self.agent.clock.now();
        let mut begun = Vec::with_capacity(calls.len());
        let mut new = NewChildren { children: Vec::new(), side_by_side: 1, until: now };
        self.begun.clear();
        for call in calls {
            let orders = match self.orders(call, calls.len() == 1).await? {
                Orders::Given(orders) => orders,
                Orders::Answered(answer) => {
                    begun.push(AgentCall { answer, awaited: Vec::new() });
                    continue;
                }
                Orders::Over => return Ok(()),
            };
            if let Some(twice) = orders.iter().find(|order| self.begun.contains(&order.name)) {
                let answer = Answer::error(&call.id, messages::agent_named_twice(&twice.name));
                begun.push(AgentCall { answer, awaited: Vec::new() });
                continue;
            }
            self.begun.extend(orders.iter().map(|order| order.name.clone()));
            begun.push(self.begin_call(call, &orders, &mut new, now));
        }
        if new.children.is_empty() {
            let answers = begun.into_iter().map(|call| call.answer).collect();
            self.run.answered(calls, answers);
            return self.commit(false).await;
        }
        self.run.begins(begun, new, now);
        Ok(())
    }

    /// What a call wants agents to do.
    async fn orders(&mut self, call: &Call, alone: bool) -> Result<Orders, DropReason> {
        let approved = match self.approval(call, alone).await? {
            Approval::Free => None,
            Approval::Given(approved) => Some(approved),
            Approval::Refused(answer) => return Ok(Orders::Answered(answer)),
            Approval::Seek(request) => {
                self.run.seeks(call, *request, self.agent.clock.now());
                return Ok(Orders::Over);
            }
        };
        match self.unless_judged(call, approved).await {
            Err(ToolError::Spawn(orders)) if self.is_told_too_often(&orders) => {
                Ok(Orders::Answered(Answer::error(&call.id, messages::TOLD_TOO_OFTEN.to_owned())))
            }
            Err(ToolError::Spawn(orders)) => Ok(Orders::Given(orders)),
            done => Ok(match self.unless_cancelled(done).await? {
                Some(done) => Orders::Answered(done.answer),
                None => Orders::Over,
            }),
        }
    }

    fn is_told_too_often(&self, orders: &[ChildOrder]) -> bool {
        self.facts.reports >= MAX_REPORTS && orders.iter().any(|order| !order.awaited)
    }

    fn begin_call(
        &self,
        call: &Call,
        orders: &[ChildOrder],
        new: &mut NewChildren,
        now: DateTime<Utc>,
    ) -> AgentCall {
        for order in orders {
            let span = TimeDelta::from_std(order.timeout).unwrap_or(TimeDelta::hours(24));
            new.until = new.until.max(now + span + GRACE);
            new.side_by_side = order.side_by_side;
            new.children.push(self.child(call, order, now + span, now));
        }
        let told = orders.iter().filter(|order| !order.awaited);
        let told: Vec<String> = told
            .map(|order| messages::agent_begun(&order.name, order.start == Start::Joins))
            .collect();
        let answer = Answer::words(&call.id, told.join("\n"));
        let awaited = orders.iter().filter(|order| order.awaited);
        AgentCall { answer, awaited: awaited.map(|order| order.name.clone()).collect() }
    }

    /// The task of an agent: its facts are the task's own of now, and no tool more.
    fn child(
        &self,
        call: &Call,
        order: &ChildOrder,
        until: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> NewChild {
        let claimed = self.task.claimed;
        let ChildOrder { name, task, awaited, start, narrowed, schema, .. } = order;
        let parent = Parent {
            task: claimed.claim.task,
            key: claimed.conversation.key().to_owned(),
            name: name.clone(),
            until,
            schema: schema.clone(),
        };
        let of_parent = self.facts.narrowed.iter().map(Narrowing::of_parent);
        let narrowed = of_parent.chain(narrowed.iter().cloned()).collect();
        let facts = Facts {
            narrowed,
            parent: Some(Box::new(parent)),
            pick: pick(&self.facts.pick, &order.choice),
            passed: None,
            at: now,
            ..self.facts.clone()
        };
        let location = Location {
            conversation: agent_conversation(&claimed.conversation, name),
            place: claimed.place.clone(),
            title: String::new(),
        };
        let cause =
            Cause::Child { parent: claimed.claim.task, call: format!("{}/{name}", call.id) };
        let words = Words {
            note: messages::agent_brief(name, schema.as_deref()),
            agent: Some(MAIN.to_owned()),
            ..Words::said(self.person(), now, task.clone())
        };
        let order = now.timestamp_micros();
        NewChild {
            request: TaskRequest { location, order, task: NewTask::new(cause, facts), words },
            awaited: *awaited,
            fresh: *start == Start::Afresh,
            joins: *start == Start::Joins,
        }
    }

    /// For whom an agent works: whoever the task works for.
    fn person(&self) -> PersonId {
        let claimed = self.task.claimed;
        let words = claimed.words.as_ref().map(|words| words.person.clone());
        let heard = claimed.heard.last().map(|(_, inbound)| inbound.speaker.id.clone());
        self.facts.speaker.clone().or(words).or(heard).unwrap_or_else(command_line::person)
    }
}

/// What answers an agent: what its call names, else what answers the task. An agent of the config brings its own.
fn pick(own: &Pick, named: &Choice) -> Pick {
    let usual = match named.agent {
        Some(_) => Choice::default(),
        None => Choice { agent: own.agent.clone(), model: own.model.clone(), effort: own.effort },
    };
    Pick::named(named.clone().or(usual))
}
