//! The bot's own commands: what each is for, and how a stored command row is carried out once.

use std::sync::Arc;

use selkie_channel_core::{Audience, Inbound, Offered, PersonId};

use crate::domain::crash::CrashPoint;
use crate::domain::facts::{Facts, Mode, Trust, Where};
use crate::domain::ids::InboxId;
use crate::domain::task::TaskState;
use crate::flow::account::Account;
use crate::flow::desk::Desk;
use crate::flow::stops::Stops;
use crate::flow::taps::Taps;
use crate::flow::words;
use crate::flow::words::status::{HouseReport, StatusReport, status};
use crate::flow::{limits, questions, terminal};
use crate::shape::Shape;
use crate::store::read::TaskRow;
use crate::store::{CommandDone, CommandEffect, Draft, StopAnswers, StoreError, Workplace};

/// The newest tasks that a stop for a whole place looks through, and the most that it ends.
const RECENT: usize = 1000;
const MOST_STOPPED: usize = 50;

macro_rules! builtins {
    ($($variant:ident = $name:literal, $help:literal;)*) => {
        /// A command of the bot. One line makes one: its name and what `/help` says.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Builtin {
            $($variant,)*
        }

        impl Builtin {
            /// Every command, as `/help` lists them.
            pub(super) const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub(super) const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            pub(super) const fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }
        }
    };
}

builtins! {
    Start = "start", "says hello";
    Help = "help", "shows this list";
    Ask = "ask", "asks me something, in groups too: /ask what now?";
    Stop = "stop", "stops what I am doing here";
    Reset = "reset", "starts the conversation over and stops what runs in it; files stay";
    Status = "status", "shows what is running and waiting here, and what it cost";
    Plan = "plan", "shows whether plan mode is on here; /plan off ends it";
    Ps = "ps", "lists the programs running for this conversation";
    Tools = "tools", "lists what I can use here; /tools why NAME says why one is here or not";
    Workspace = "workspace", "shows or sets the folder I work in here: /workspace /srv/project, /workspace off";
    Id = "id", "shows your id and this place's";
}

impl Builtin {
    /// Whether only an owner can use it.
    pub(super) fn is_owners(self) -> bool {
        matches!(self, Self::Ps | Self::Workspace)
    }

    /// Reads a name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|c| c.name() == name)
    }
}

/// What people are offered where a platform lists a bot's commands.
pub(super) fn offered() -> Vec<Offered> {
    let offered = |command: &Builtin| Offered {
        name: command.name(),
        help: command.help(),
        in_groups: !command.is_owners() && *command != Builtin::Start,
    };
    Builtin::ALL.iter().map(offered).collect()
}

/// Makes the shape of some facts.
pub(super) type Shapes = Arc<dyn Fn(&Facts) -> Shape + Send + Sync>;

/// Carries out rows of commands, taps and answers.
pub(super) struct Commands {
    pub(super) desk: Arc<Desk>,
    pub(super) stops: Arc<Stops>,
    pub(super) shapes: Shapes,
    pub(super) taps: Taps,
}

impl Commands {
    /// Carries out rows one after the other, each once.
    pub(super) async fn carry_out(&self, rows: Vec<(InboxId, Inbound)>) {
        for (row, inbound) in rows {
            match inbound.command {
                Some(_) => self.one(row, &inbound).await,
                None => self.taps.one(row, &inbound).await,
            }
        }
    }

    async fn one(&self, row: InboxId, inbound: &Inbound) {
        let desk = &self.desk;
        if desk.account(&inbound.conversation).is_none() {
            // It waits for a process that has the channel.
            return;
        }
        desk.crash.hit(CrashPoint::BeforeCommand);
        let effect = match limits::stops_command(desk, inbound).await {
            Some(reached) => {
                limits::tell_command(desk, &reached, inbound).await;
                Some(CommandEffect::Say(None))
            }
            None => desk.insist(|| self.effect(inbound)).await,
        };
        let Some(effect) = effect else { return };
        let done = desk.insist(|| desk.ledger.command(row, effect.clone())).await;
        desk.crash.hit(CrashPoint::AfterCommand);
        let Some(Some(done)) = done else { return };
        tracing::debug!(%row, "the command is carried out");
        // Nothing ran but what an ended task left: whoever may end all of it has said so.
        if let CommandEffect::Stop { by: None, .. } = &effect
            && done.stopping.is_empty()
            && done.withdrawn.is_empty()
        {
            desk.processes.end_in(&inbound.conversation);
        }
        self.follow_up(done).await;
    }

    /// Ends the task that a row began: who asked it has gone.
    pub(super) async fn abandon(&self, row: InboxId) {
        let done = self.desk.insist(|| self.desk.ledger.abandon(row)).await;
        if let Some(done) = done {
            tracing::info!(tasks = ?done.stopping, "who asked has hung up: nothing more is done for them");
            self.follow_up(done).await;
        }
    }

    /// Does here what a stored stop asks for.
    async fn follow_up(&self, done: CommandDone) {
        let desk = &self.desk;
        for task in done.stopping {
            self.stops.stop(task);
            desk.processes.end_of(task);
        }
        if let Some(queued) = done.queued {
            desk.send(queued);
        }
        for question in done.withdrawn {
            let line = questions::outcome(&question.ask, None);
            questions::close(desk, question, &line, None).await;
        }
    }

    async fn effect(&self, inbound: &Inbound) -> Result<CommandEffect, StoreError> {
        let say = |text: String| Ok(CommandEffect::Say(self.draft(inbound, text)));
        let Some(account) = self.desk.account(&inbound.conversation) else {
            return Ok(CommandEffect::Say(None));
        };
        let command = inbound.command.as_ref();
        let builtin = command.and_then(|c| Builtin::parse(&c.name));
        // The rights of today: the row may be older than the config.
        let trust = match terminal::is_here(&inbound.conversation) {
            true => Some(Trust::Owner),
            false => self.desk.policy(account, |p| p.principal(inbound)),
        };
        let (Some(command), Some(trust)) = (command, trust) else {
            return Ok(CommandEffect::Say(None));
        };
        let Some(builtin) = builtin else {
            return say(words::no_such_command(&command.name, trust));
        };
        match builtin {
            Builtin::Start => say(words::start()),
            Builtin::Help => say(words::help(trust)),
            Builtin::Id => say(words::ids(inbound)),
            Builtin::Ask => say(words::ask_what()),
            Builtin::Status => say(self.status(inbound, account, trust).await?),
            _ if builtin.is_owners() && trust != Trust::Owner => {
                say(words::owners_only(builtin.name()))
            }
            Builtin::Ps => say(self.processes(inbound).await?),
            Builtin::Workspace if terminal::is_here(&inbound.conversation) => {
                say(words::workspace_of_terminal())
            }
            Builtin::Workspace => self.workspace(inbound, command.args.trim()).await,
            Builtin::Tools => say(self.tools(inbound, account, trust, &command.args).await?),
            Builtin::Plan => self.plan(inbound, trust, &command.args).await,
            Builtin::Stop => self.stop(inbound, account, trust).await,
            Builtin::Reset if !self.may_end(inbound, trust).await? => {
                say(words::not_yours(builtin.name()))
            }
            Builtin::Reset => Ok(match self.draft(inbound, words::reset()) {
                Some(draft) => CommandEffect::Reset(draft),
                None => CommandEffect::Say(None),
            }),
        }
    }

    /// Drafts an answer, with commands as they are typed here.
    fn draft(&self, inbound: &Inbound, text: String) -> Option<Draft> {
        let carrier = self.desk.account(&inbound.conversation)?.channel.carrier;
        self.desk.draft_to(inbound, &words::typed(&text, carrier))
    }

    async fn plan(
        &self,
        inbound: &Inbound,
        trust: Trust,
        args: &str,
    ) -> Result<CommandEffect, StoreError> {
        let mode = self.desk.ledger.mode(&inbound.conversation).await?;
        let say = |text: String| self.draft(inbound, text);
        match args.trim().to_lowercase().as_str() {
            "" => Ok(CommandEffect::Say(say(words::plan(mode)))),
            "off" if !self.may_end(inbound, trust).await? => {
                Ok(CommandEffect::Say(say(words::not_yours(Builtin::Plan.name()))))
            }
            "off" => Ok(CommandEffect::Mode(Mode::Normal, say(words::plan_off(mode)))),
            _ => Ok(CommandEffect::Say(say(words::plan_usage()))),
        }
    }

    async fn workspace(&self, inbound: &Inbound, args: &str) -> Result<CommandEffect, StoreError> {
        let say = |text: String| self.draft(inbound, text);
        let spaces = self.desk.workspaces();
        Ok(match args {
            "" => {
                let Workplace { row, set } =
                    self.desk.ledger.workspace(&inbound.conversation).await?;
                let row = row.filter(|_| inbound.audience != Audience::Group);
                let by_config = row.and_then(|row| spaces.by_config(row, Trust::Owner));
                CommandEffect::Say(say(words::workspace(set.as_deref(), by_config.as_deref())))
            }
            "off" => CommandEffect::Workspace(None, say(words::no_workspace())),
            written => match spaces.judged(written) {
                Ok(real) => {
                    let real = real.to_string_lossy().into_owned();
                    let said = say(words::workspace_set(&real));
                    CommandEffect::Workspace(Some(real), said)
                }
                Err(why) => CommandEffect::Say(say(why)),
            },
        })
    }

    /// In a group: the owner everything, and everybody what they asked for. The store looks whose it is in
    /// the write that stops it. A stop ends the task with its programs and names the others; when no task
    /// runs, it ends those.
    async fn stop(
        &self,
        inbound: &Inbound,
        account: &Account,
        trust: Trust,
    ) -> Result<CommandEffect, StoreError> {
        let may_all = inbound.audience == Audience::Direct || trust == Trust::Owner;
        let by = (!may_all).then(|| inbound.speaker.id.clone());
        let (conversation, desk) = (&inbound.conversation, &self.desk);
        let threads = self.busy_threads(inbound, account).await?;
        let theirs = threads.iter().filter(|(_, speaker)| by.is_none() || *speaker == by);
        let asked: Vec<String> = theirs.map(|(task, _)| task.asked.clone()).collect();
        let running = desk.ledger.status(conversation).await?.running.map(|(task, _)| task);
        let left = |except| match may_all {
            true => desk.processes.left_in(conversation, except),
            false => Vec::new(),
        };
        let (others, all) = (left(running), left(None));
        let stopped = match asked.is_empty() {
            true => words::stopped(&others),
            false => words::stopped_in_threads(&asked) + &words::still_running(&others),
        };
        let draft = |text: &str| desk.draft_to(inbound, text);
        let answers = || {
            Some(StopAnswers {
                stopped: draft(&stopped)?,
                refused: draft(&words::not_yours(Builtin::Stop.name()))?,
                finished: draft(&words::already_finished(&all))?,
                idle: draft(&words::nothing_to_stop(&all))?,
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
        inbound: &Inbound,
        account: &Account,
    ) -> Result<Vec<(TaskRow, Option<PersonId>)>, StoreError> {
        let ledger = &self.desk.ledger;
        let mut busy = Vec::new();
        if !account.channel.address.covers(&inbound.conversation, inbound.message.as_ref()) {
            return Ok(busy);
        }
        for task in ledger.tasks(None, RECENT).await? {
            let begun = matches!(task.state, TaskState::Running | TaskState::Parked);
            let here = task.conversation != inbound.conversation
                && task.conversation.account() == inbound.conversation.account()
                && account.channel.address.place(&task.conversation) == inbound.place;
            if begun && here && busy.len() < MOST_STOPPED {
                let speaker = ledger.task(task.id).await?.and_then(|detail| detail.facts.speaker);
                busy.push((task, speaker));
            }
        }
        Ok(busy)
    }

    /// In a group: the owner, and who asked for what runs.
    async fn may_end(&self, inbound: &Inbound, trust: Trust) -> Result<bool, StoreError> {
        if inbound.audience == Audience::Direct || trust == Trust::Owner {
            return Ok(true);
        }
        let requester = self.requester(inbound).await?;
        Ok(requester.is_some_and(|person| person == inbound.speaker.id))
    }

    async fn requester(&self, inbound: &Inbound) -> Result<Option<PersonId>, StoreError> {
        let ledger = &self.desk.ledger;
        let Some((task, _)) = ledger.status(&inbound.conversation).await?.running else {
            let open = ledger.open_questions(Some(&inbound.conversation)).await?;
            return Ok(open.into_iter().next().map(|question| question.person.id));
        };
        Ok(ledger.task(task).await?.and_then(|detail| detail.facts.speaker))
    }

    async fn status(
        &self,
        inbound: &Inbound,
        account: &Account,
        trust: Trust,
    ) -> Result<String, StoreError> {
        let threads = self.busy_threads(inbound, account).await?;
        let threads: Vec<String> = threads.into_iter().map(|(task, _)| task.asked).collect();
        let conversation = self.desk.ledger.status(&inbound.conversation).await?;
        let now = self.desk.clock.now();
        let running_for =
            conversation.running.map(|(_, since)| (now - since).to_std().unwrap_or_default());
        let house = (trust == Trust::Owner).then(|| HouseReport {
            store_ok: self.desk.health.is_whole(),
            channels: self.desk.channel_states(),
            limits: self.desk.limits.reached(now),
        });
        let version = self.desk.version;
        let questions = self.desk.ledger.open_questions(Some(&inbound.conversation)).await?.len();
        let report = StatusReport {
            version,
            conversation: &conversation,
            running_for,
            threads: &threads,
            questions,
            house,
        };
        Ok(status(&report))
    }

    async fn processes(&self, inbound: &Inbound) -> Result<String, StoreError> {
        let running = self.desk.ledger.status(&inbound.conversation).await?.running;
        let all = self.desk.processes.list(&inbound.conversation, self.desk.clock.now());
        Ok(words::processes(&all, running.map(|(task, _)| task)))
    }

    async fn tools(
        &self,
        inbound: &Inbound,
        account: &Account,
        trust: Trust,
        args: &str,
    ) -> Result<String, StoreError> {
        let mut facts = self.desk.policy(account, |p| p.facts(inbound, trust));
        if terminal::is_here(&inbound.conversation) {
            facts.place = Where::CommandLine { terminal: true };
        }
        facts.mode = self.desk.ledger.mode(&inbound.conversation).await?;
        facts.taint = facts.taint.max(self.desk.ledger.level(&inbound.conversation, trust).await?);
        let shape = (self.shapes)(&facts);
        Ok(match args.split_whitespace().collect::<Vec<_>>()[..] {
            [] => words::tools(&shape.explain()),
            ["why", name] => words::tool_why(name, &shape.why(name)),
            _ => words::tools_usage(),
        })
    }
}
