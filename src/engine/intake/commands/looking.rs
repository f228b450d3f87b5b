//! Commands that look and change nothing: `/status`, `/ps`, `/tools`, `/sessions`.

use super::Commands;
use crate::delivery::account::{Account, ChannelState};
use crate::intake::given::{By, GivenCommand};
use crate::intake::messages;
use crate::intake::messages::status::{HouseReport, StatusReport, status};
use crate::work::messages::agents;
use crate::work::sessions::{SessionScope, Viewer};
use selkie_domain::command_line;
use selkie_domain::facts::Trust;
use selkie_domain::own_agent::OwnAgent;
use selkie_store::StoreError;

/// Conversations that `/sessions` lists.
const SESSIONS: usize = 20;

impl Commands {
    /// The conversations that there are, as far as who asks may know of them.
    pub(super) async fn conversations(
        &self,
        given: &GivenCommand<'_>,
        trust: Trust,
    ) -> Result<String, StoreError> {
        let viewer = Viewer {
            here: given.conversation,
            person: Some(given.person),
            sees_all: given.is_owner_alone(trust),
        };
        let rows = self.sessions.seen(viewer).await?;
        let found = self.later.zones.of(given.place, Some(given.person)).await?;
        let listing = SessionScope { here: given.conversation, zone: Some(found.zone) };
        Ok(self.sessions.lines(&rows, SESSIONS, listing))
    }

    /// Who works for the conversation, the last begun first.
    pub(super) async fn agents_here(&self, given: &GivenCommand<'_>) -> Result<String, StoreError> {
        let rows = self.agents.of(given.conversation).await?;
        Ok(agents::list(&rows, self.context.runtime.now()))
    }

    /// Which skills there are, as far as who asks may have them, and those that are in force.
    pub(super) async fn skills_here(
        &self,
        given: &GivenCommand<'_>,
        trust: Trust,
    ) -> Result<String, StoreError> {
        let here = self.skills.here(given.conversation).await?;
        Ok(messages::skills::skills(&here, given.is_owner_alone(trust)))
    }

    pub(super) async fn status(
        &self,
        given: &GivenCommand<'_>,
        account: &Account,
        trust: Trust,
    ) -> Result<String, StoreError> {
        let threads = self.busy_threads(given, account).await?;
        let threads: Vec<String> = threads.into_iter().map(|(task, _)| task.asked).collect();
        let conversation = self.context.storage.ledger.status(given.conversation).await?;
        let now = self.context.runtime.clock.now();
        let running_for =
            conversation.running.map(|(_, since)| (now - since).to_std().unwrap_or_default());
        // The terminal is there whenever somebody sits at it.
        let is_platform = |channel: &ChannelState| channel.name != command_line::NAME;
        let channels = self.context.accounts.states(now).into_iter().filter(is_platform);
        let house = (trust == Trust::Owner).then(|| HouseReport {
            store_ok: self.context.storage.health.is_whole(),
            channels: channels.collect(),
            limits: self.limits.reached(now),
            memory: self.memory.book.vectors().and_then(|vectors| vectors.trouble()),
            cut_prompts: self.runner.as_ref().map(|it| it.now().cut_prompts()).unwrap_or_default(),
        });
        let version = self.version;
        let questions =
            self.context.storage.ledger.open_questions(Some(given.conversation)).await?.len();
        let agents = self.agents.of(given.conversation).await?.into_iter();
        let agents: Vec<String> =
            agents.filter(|row| row.ended_at.is_none()).map(|row| row.name).collect();
        let report = StatusReport {
            version,
            answers: &self.answering(given).await?,
            conversation: &conversation,
            running_for,
            threads: &threads,
            agents: &agents,
            questions,
            house,
        };
        Ok(status(&report))
    }

    pub(super) async fn processes(&self, given: &GivenCommand<'_>) -> Result<String, StoreError> {
        let running = self.context.storage.ledger.status(given.conversation).await?.running;
        let all = self.processes.list(given.conversation, self.context.runtime.clock.now());
        Ok(messages::processes(&all, running.map(|(task, _)| task)))
    }

    pub(super) async fn tools(
        &self,
        given: &GivenCommand<'_>,
        account: &Account,
        trust: Trust,
        args: &str,
    ) -> Result<String, StoreError> {
        let mut facts = match given.by {
            By::Message(inbound) => self.rules.of(account, |p| p.facts(inbound, trust)),
            By::Hand(asked) => {
                command_line::facts(true, asked.clone(), self.context.runtime.clock.now())
            }
        };
        facts.mode = self.context.storage.ledger.mode(given.conversation).await?;
        facts.taint =
            facts.taint.max(self.context.storage.ledger.level(given.conversation, trust).await?);
        let answerer = self.answerer_here(given).await?;
        facts.narrowed.extend(answerer.agent.as_ref().and_then(OwnAgent::narrowing));
        facts.pick = answerer.pick;
        let shape = (self.shapes)(&facts);
        Ok(match args.split_whitespace().collect::<Vec<_>>()[..] {
            [] => messages::tools(&shape.explain()),
            ["why", name] => {
                let mut why = shape.why(name);
                let runner = self.runner.as_ref().map(|runner| runner.now());
                why.extend(runner.and_then(|runner| runner.lack_of_room(&shape, name)));
                messages::tool_why(name, shape.has(name), &why)
            }
            _ => messages::TOOLS_USAGE.to_owned(),
        })
    }
}
