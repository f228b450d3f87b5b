//! The bot's own commands: what each is for, and how a stored command row is carried out once.

mod choosing;
mod looking;
mod pairing;
mod workspace;

use std::sync::Arc;

use selkie_channel_core::{Audience, Command, ConversationId, Inbound, PersonId};

use crate::delivery::account::Account;
use crate::delivery::approvals;
use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::delivery::progress::KeptProgress;
use crate::delivery::questions;
use crate::delivery::status_calls;
use crate::intake::buttons::ButtonPresses;
use crate::intake::contacts::ContactCommands;
use crate::intake::given::{By, GivenCommand, TerminalCommand};
use crate::intake::later::{Later, ZoneDone};
use crate::intake::may_end::may_end;
use crate::intake::messages;
use crate::intake::policy::Rules;
use crate::intake::remembered::{ForgetOutcome, MemoryCommands};
use crate::work::agent_book::AgentBook;
use crate::work::choosing::ModelChooser;
use crate::work::limits::Limits;
use crate::work::runner::{AgentRunner, Shapes};
use crate::work::running_tasks::RunningTasks;
use crate::work::sessions::SessionBook;
use crate::work::workspace::Workspaces;
use selkie_domain::builtin::Builtin;
use selkie_domain::crash::CrashPoint;
use selkie_domain::facts::{Mode, Trust};
use selkie_domain::ids::{InboxId, TaskId};
use selkie_domain::live::Live;
use selkie_domain::task::TaskState;
use selkie_skills::SkillBook;
use selkie_store::read::TaskRow;
use selkie_store::{CommandDone, CommandEffect, Draft, Location, StopAnswers, StoreError};
use selkie_tools::shell::Processes;

/// The newest tasks that a stop for a whole place looks through, and the most that it ends.
const RECENT: usize = 1000;
const MAX_STOPPED: usize = 50;

/// Carries out rows of commands, taps and answers.
pub struct Commands {
    pub(crate) context: Context,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) running: Arc<RunningTasks>,
    pub(crate) kept: Arc<KeptProgress>,
    pub(crate) shapes: Shapes,
    /// Carries out taps.
    pub buttons: ButtonPresses,
    pub(crate) limits: Arc<Limits>,
    pub(crate) rules: Arc<Rules>,
    pub(crate) workspaces: Live<Workspaces>,
    /// What tools run.
    pub processes: Arc<Processes>,
    pub(crate) later: Later,
    pub(crate) contacts: ContactCommands,
    /// Lists conversations.
    pub sessions: Arc<SessionBook>,
    /// Lists agents.
    pub(crate) agents: Arc<AgentBook>,
    pub(crate) memory: MemoryCommands,
    pub(crate) skills: Arc<SkillBook>,
    pub(crate) chooser: ModelChooser,
    /// None in tests of other things.
    pub runner: Option<Live<AgentRunner>>,
    pub(crate) version: &'static str,
}

impl Commands {
    /// Carries out rows one after the other, each once.
    pub async fn carry_out(&self, rows: Vec<(InboxId, Inbound)>) {
        for (row, inbound) in rows {
            match &inbound.command {
                Some(command) => self.one(row, &inbound, command).await,
                None => self.buttons.one(row, &inbound).await,
            }
        }
    }

    async fn one(&self, row: InboxId, inbound: &Inbound, command: &Command) {
        if self.context.accounts.of(&inbound.conversation).is_none() {
            // It waits for a process that has the channel.
            return;
        }
        self.context.runtime.crash.hit(CrashPoint::BeforeCommand);
        let effect = match self.limits.stops_command(inbound).await {
            Some(reached) => {
                self.limits.tell(&reached, Some(inbound)).await;
                Some(CommandEffect::Say(None))
            }
            None => {
                let given = GivenCommand::in_message(inbound, command);
                self.context.storage.insist(|_| self.effect(&given)).await
            }
        };
        let Some(effect) = effect else { return };
        let done = self.context.storage.insist(|ledger| ledger.command(row, effect.clone())).await;
        self.context.runtime.crash.hit(CrashPoint::AfterCommand);
        let Some(Some(done)) = done else { return };
        tracing::debug!(%row, "the command is carried out");
        self.done(&inbound.conversation, &effect, done).await;
    }

    /// Carries out what is typed at the command line.
    pub async fn typed(&self, typed: &TerminalCommand) {
        let storage = &self.context.storage;
        let given = GivenCommand::from(typed);
        self.context.runtime.crash.hit(CrashPoint::BeforeCommand);
        let Some(effect) = storage.insist(|_| self.effect(&given)).await else { return };
        let done = storage
            .insist(|ledger| ledger.command_typed(typed.location.clone(), effect.clone()))
            .await;
        self.context.runtime.crash.hit(CrashPoint::AfterCommand);
        if let Some(done) = done {
            self.done(given.conversation, &effect, done).await;
        }
    }

    /// Forgets a place because its owner says so at the command line: nothing is said there.
    ///
    /// # Errors
    /// In words: what is remembered there is there still, and nothing else was forgotten.
    pub async fn forget_by_hand(&self, here: Location) -> Result<(), String> {
        self.memory.book.forget(&here.conversation).await.map_err(|why| why.to_string())?;
        let (storage, effect) = (&self.context.storage, CommandEffect::Forget(None));
        let done = storage.ledger.command_typed(here.clone(), effect.clone()).await;
        let done = done.map_err(|error| error.to_string())?;
        self.done(&here.conversation, &effect, done).await;
        Ok(())
    }

    async fn done(&self, here: &ConversationId, effect: &CommandEffect, done: CommandDone) {
        // Nothing ran but what an ended task left: whoever may end all of it has said so.
        if let CommandEffect::Stop { by: None, .. } = effect
            && done.stopping.is_empty()
            && done.withdrawn.is_empty()
        {
            self.processes.end_in(here);
        }
        if matches!(effect, CommandEffect::Stop { .. }) {
            done.stopping.iter().for_each(|task| self.running.keep_answer(*task));
        }
        if matches!(effect, CommandEffect::Zone(..)) {
            self.later.zones.forget().await;
        }
        self.follow_up(done).await;
        if matches!(effect, CommandEffect::Forget(..)) {
            self.memory.forget_rest(here).await;
        }
    }

    /// Ends a task: who asked it has gone.
    pub async fn abandon(&self, task: TaskId) {
        let done = self.context.storage.insist(|ledger| ledger.abandon(task)).await;
        if let Some(done) = done {
            tracing::info!(tasks = ?done.stopping, "who asked has hung up: nothing more is done for them");
            self.follow_up(done).await;
        }
    }

    /// Stops here what was withdrawn with its schedule.
    pub async fn withdrawn(&self, stopping: Vec<TaskId>) {
        tracing::debug!(tasks = ?stopping, "what a removed schedule had begun ends");
        self.follow_up(CommandDone { stopping, ..CommandDone::default() }).await;
    }

    /// Does here what a stored stop asks for.
    async fn follow_up(&self, done: CommandDone) {
        let outbox = &self.outbox;
        for task in done.stopping {
            self.running.stop(task);
            self.processes.end_of(task);
            let sought = self.context.storage.insist(|ledger| ledger.approvals(Some(task))).await;
            let sought = sought.unwrap_or_default();
            if !self.kept.end(task) && !sought.is_empty() {
                // It has waited since before the last start.
                self.context.runtime.tracker.spawn(status_calls::sweep(Arc::clone(outbox)));
            }
            for approval in sought {
                approvals::close(outbox, &approval).await;
            }
        }
        if let Some(queued) = done.queued {
            outbox.send(queued);
        }
        for question in done.withdrawn {
            let line = questions::outcome(&question.ask, None);
            questions::close(outbox, question, &line, None).await;
        }
    }

    async fn effect(&self, given: &GivenCommand<'_>) -> Result<CommandEffect, StoreError> {
        let say = |text: String| Ok(CommandEffect::Say(self.draft(given, text)));
        let Some(account) = self.context.accounts.of(given.conversation) else {
            return Ok(CommandEffect::Say(None));
        };
        // The rights of today: the row may be older than the config.
        let trust = match given.by {
            By::Hand(_) => Some(Trust::Owner),
            By::Message(inbound) => self.rules.rights.principal(&account, inbound),
        };
        let command = given.command;
        if Builtin::parse(&command.name) == Some(Builtin::Pair) {
            // Who has a code need not be known yet.
            let said = self.pair(given, trust).await?;
            return Ok(CommandEffect::Say(said.and_then(|text| self.draft(given, text))));
        }
        let Some(trust) = trust else { return Ok(CommandEffect::Say(None)) };
        let Some(builtin) = Builtin::parse(&command.name) else {
            return say(messages::no_such_command(&command.name, trust));
        };
        match builtin {
            Builtin::Start => say(messages::start(trust)),
            Builtin::Help => say(messages::help(trust)),
            Builtin::Id => say(messages::ids(given.person, given.place, given.conversation)),
            // It was carried out before.
            Builtin::Pair => Ok(CommandEffect::Say(None)),
            Builtin::Ask => say(messages::ASK_WHAT.to_owned()),
            Builtin::Status => say(self.status(given, &account, trust).await?),
            _ if builtin.is_owners() && trust != Trust::Owner => {
                say(messages::owners_only(builtin.name()))
            }
            Builtin::Schedules => say(self.later.schedules(given, trust).await?),
            Builtin::Memory => say(self.memory.memory(given, trust).await),
            Builtin::Forget => self.forget(given, trust).await,
            Builtin::Remind => say(self.later.remind(given, trust).await?),
            Builtin::Timezone => {
                let ZoneDone { set, text } = self.later.timezone(given, trust).await?;
                let said = self.draft(given, text);
                Ok(match set {
                    Some(set) => CommandEffect::Zone(set, said),
                    None => CommandEffect::Say(said),
                })
            }
            Builtin::Todos => say(self.contacts.todos(given, trust).await?),
            Builtin::Contacts => say(self.contacts.contacts(given, trust).await?),
            Builtin::Sessions => say(self.conversations(given, trust).await?),
            Builtin::Agents => say(self.agents_here(given).await?),
            Builtin::Skills => say(self.skills_here(given, trust).await?),
            Builtin::Ps => say(self.processes(given).await?),
            Builtin::Workspace if matches!(given.by, By::Hand(_)) => {
                say(messages::WORKSPACE_OF_TERMINAL.to_owned())
            }
            Builtin::Workspace => self.workspace(given, command.args.trim()).await,
            Builtin::Tools => say(self.tools(given, &account, trust, &command.args).await?),
            Builtin::Model => self.model(given).await,
            Builtin::Think => self.think(given).await,
            Builtin::Agent => self.agent(given).await,
            Builtin::Plan => self.plan(given, trust, &command.args).await,
            Builtin::Stop => self.stop(given, &account, trust).await,
            Builtin::Reset if !may_end(&self.context, given, trust).await? => {
                say(messages::not_yours(builtin.name()))
            }
            Builtin::Reset => {
                let said = messages::reset(self.kept(given).await?.as_deref());
                Ok(match self.draft(given, said) {
                    Some(draft) => CommandEffect::Reset(draft),
                    None => CommandEffect::Say(None),
                })
            }
        }
    }

    /// Drafts an answer, with commands as they are typed here.
    fn draft(&self, given: &GivenCommand<'_>, text: String) -> Option<Draft> {
        let carrier = self.context.accounts.of(given.conversation)?.channel.carrier;
        self.answer(given, &messages::typed(&text, carrier))
    }

    /// Drafts an answer as it stands. Several may sit in one folder: who asked is who hears.
    fn answer(&self, given: &GivenCommand<'_>, text: &str) -> Option<Draft> {
        match given.by {
            By::Message(inbound) => self.outbox.draft_to(inbound, text),
            By::Hand(asked) => {
                self.outbox.draft(given.conversation, text, Some(asked.clone()), None)
            }
        }
    }

    async fn forget(
        &self,
        given: &GivenCommand<'_>,
        trust: Trust,
    ) -> Result<CommandEffect, StoreError> {
        Ok(match self.memory.forget_all(given, trust).await {
            ForgetOutcome::Says(text) => CommandEffect::Say(self.draft(given, text)),
            ForgetOutcome::All(text) => match self.draft(given, text) {
                Some(draft) => CommandEffect::Forget(Some(draft)),
                None => CommandEffect::Say(None),
            },
        })
    }

    async fn plan(
        &self,
        given: &GivenCommand<'_>,
        trust: Trust,
        args: &str,
    ) -> Result<CommandEffect, StoreError> {
        let mode = self.context.storage.ledger.mode(given.conversation).await?;
        let say = |text: String| self.draft(given, text);
        match args.trim().to_lowercase().as_str() {
            "" => Ok(CommandEffect::Say(say(messages::plan(mode)))),
            "off" if !may_end(&self.context, given, trust).await? => {
                Ok(CommandEffect::Say(say(messages::not_yours(Builtin::Plan.name()))))
            }
            "off" => Ok(CommandEffect::Mode(Mode::Normal, say(messages::plan_off(mode)))),
            _ => Ok(CommandEffect::Say(say(messages::PLAN_USAGE.to_owned()))),
        }
    }

    /// In a group: the owner everything, and everybody what they asked for. The store looks whose it is in
    /// the write that stops it. A stop ends the task with its programs and names the others; when no task
    /// runs, it ends those.
    async fn stop(
        &self,
        given: &GivenCommand<'_>,
        account: &Account,
        trust: Trust,
    ) -> Result<CommandEffect, StoreError> {
        let may_all = given.audience == Audience::Direct || trust == Trust::Owner;
        let by = (!may_all).then(|| given.person.clone());
        let conversation = given.conversation;
        let threads = self.busy_threads(given, account).await?;
        let theirs = threads.iter().filter(|(_, speaker)| by.is_none() || *speaker == by);
        let asked: Vec<String> = theirs.map(|(task, _)| task.asked.clone()).collect();
        let running =
            self.context.storage.ledger.status(conversation).await?.running.map(|(task, _)| task);
        let left = |except| match may_all {
            true => self.processes.left_in(conversation, except),
            false => Vec::new(),
        };
        let others = left(running);
        let all = left(None);
        let stopped = match asked.is_empty() {
            true => messages::stopped(&others),
            false => messages::stopped_in_threads(&asked) + &messages::still_running(&others),
        };
        let draft = |text: &str| self.answer(given, text);
        let answers = || {
            Some(StopAnswers {
                stopped: draft(&stopped)?,
                refused: draft(&messages::not_yours(Builtin::Stop.name()))?,
                finished: draft(&messages::already_finished(&all))?,
                idle: draft(&messages::nothing_to_stop(&all))?,
            })
        };
        let also = threads.into_iter().map(|(task, _)| task.conversation).collect();
        Ok(match answers() {
            Some(answers) => CommandEffect::Stop { by, also, answers: Box::new(answers) },
            None => CommandEffect::Say(None),
        })
    }

    /// What runs or is parked in the threads that the place of a command covers, and who asked for it.
    async fn busy_threads(
        &self,
        given: &GivenCommand<'_>,
        account: &Account,
    ) -> Result<Vec<(TaskRow, Option<PersonId>)>, StoreError> {
        let ledger = &self.context.storage.ledger;
        let mut busy = Vec::new();
        let message = given.message().and_then(|inbound| inbound.message.as_ref());
        if !account.channel.address.covers(given.conversation, message) {
            return Ok(busy);
        }
        for task in ledger.tasks(None, RECENT).await? {
            let begun = matches!(task.state, TaskState::Running | TaskState::Parked);
            let here = task.conversation != *given.conversation
                && task.conversation.account() == given.conversation.account()
                && account.channel.address.place(&task.conversation) == *given.place;
            if begun && here && busy.len() < MAX_STOPPED {
                let speaker = ledger.task(task.id).await?.and_then(|detail| detail.facts.speaker);
                busy.push((task, speaker));
            }
        }
        Ok(busy)
    }
}
