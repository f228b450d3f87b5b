//! One task in the terminal: stored like any other, watched to the end of its delivery.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use selkie_channel_core::{MessageRef, PlaceId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::delivery::approval_at_terminal;
use crate::delivery::context::Context;
use crate::delivery::waiters;
use crate::intake::given::TerminalCommand;
use crate::intake::receive::{Intake, PlacedTask};
use crate::terminal::channel::{Terminal, TerminalMessage};
use crate::terminal::typed;
use crate::terminal::unheard;
use crate::work::task_waiters::{TaskEnd, TaskWaiters};
use selkie_domain::approval::ApprovalState;
use selkie_domain::cause::Cause;
use selkie_domain::choice::{Choice, Pick};
use selkie_domain::command_line;
use selkie_domain::event::Event;
use selkie_domain::ids::TaskId;
use selkie_domain::question::QuestionState;
use selkie_domain::taint::Taint;
use selkie_domain::words::{Enclosure, Letter, Words};
use selkie_store::{ApprovalRow, Location, NewTask, StoreError, TaskRequest};

/// What is asked in the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ask {
    /// The folder the person stands in: an absolute path.
    pub workspace: PathBuf,
    /// What they wrote.
    pub text: String,
    /// What came along with it.
    pub enclosed: Vec<Enclosure>,
    /// Somebody sits at the terminal and can be asked.
    pub terminal: bool,
    /// Which model is to answer, and how hard it is to think.
    pub choice: Choice,
}

/// What happens with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskEvent {
    /// An event of the task, as the console shows it.
    Progress(Value),
    /// The bot says this.
    Said(String),
    /// What was just said asks the question with this key, and waits for a line.
    Asked(String),
    /// The task has ended and all it said was delivered: `done`, `failed`, `stopped`; `interrupted` when the daemon ends
    /// first.
    Ended(String),
}

/// What became of an answer from the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// It is taken.
    Taken,
    /// The words answer nothing: a number, a label or, where it is taken, free text does.
    NoAnswer,
    /// A call is asked for, and the words are neither a yes nor a no.
    NeitherYesNorNo,
    /// The question is not open any more.
    Closed,
}

impl Reply {
    /// What became of an answer that was taken, or not.
    const fn of(taken: bool) -> Self {
        if taken { Self::Taken } else { Self::Closed }
    }
}

/// Where questions of the terminal go.
pub struct Counter {
    pub(crate) context: Context,
    pub(crate) intake: Arc<Intake>,
    pub(crate) task_waiters: Arc<TaskWaiters>,
    pub(crate) terminal: Arc<Terminal>,
}

impl Counter {
    /// Answers a question in the words of whoever sits at the terminal.
    pub async fn answer(&self, question: &str, reply: Ask) -> Result<Reply, StoreError> {
        let ledger = &self.context.storage.ledger;
        let buttons = &self.intake.commands.buttons;
        let here = command_line::conversation(&reply.workspace);
        let Some(found) = ledger.question(here.account(), question).await? else {
            let sought = ledger.approval(question).await?;
            let open = |row: &ApprovalRow| row.state == ApprovalState::Open;
            let Some(sought) = sought.filter(|row| open(row) && row.conversation == here) else {
                return Ok(Reply::Closed);
            };
            let Some(verdict) = approval_at_terminal::read(&reply.text) else {
                return Ok(Reply::NeitherYesNorNo);
            };
            return Ok(Reply::of(buttons.decisions.at_terminal(sought, verdict).await));
        };
        if found.state != QuestionState::Open || found.conversation != here {
            return Ok(Reply::Closed);
        }
        let text = self.context.runtime.redactor.clean(&reply.text);
        match found.ask.read(&text) {
            Some(given) => Ok(Reply::of(buttons.typed(&found, &given).await)),
            None => Ok(Reply::NoAnswer),
        }
    }

    /// Stores the task, begins it, and streams what happens. When the stream is dropped before the end, the task is
    /// stopped.
    pub async fn begin(&self, ask: Ask) -> Result<mpsc::Receiver<AskEvent>, StoreError> {
        let Self { context, intake, task_waiters, terminal } = self;
        let cause = Cause::CommandLine { id: uuid::Uuid::now_v7().to_string() };
        let asked = MessageRef::new(cause.key(None));
        let location = location(&ask.workspace);
        let said = terminal.listen(&location.conversation, asked.clone());
        unheard::withdraw(&intake.commands, terminal, &location.conversation).await?;
        if let Some(mut command) = typed::command(&ask.text) {
            command.args = context.runtime.redactor.clean(&command.args);
            let person = command_line::person();
            return Ok(self.commanded(TerminalCommand { location, person, asked, command }, said));
        }
        let stream = context.runtime.events.listen();
        let now = context.runtime.clock.now();
        let mut facts = command_line::facts(ask.terminal, asked, now);
        if !ask.enclosed.is_empty() {
            facts.taint = Taint::Raw;
        }
        facts.pick = Pick::named(ask.choice);
        let own = typed::question(&ask.text).to_owned();
        let letter = Letter { own, enclosed: ask.enclosed };
        let request = TaskRequest {
            location,
            order: now.timestamp_micros(),
            task: NewTask::new(cause, facts),
            words: Words::said(command_line::person(), now, letter.written()),
        };
        let PlacedTask { task, stored, .. } = intake.request(request).await?;
        let ended = task_waiters.expect(task);
        intake.begin(stored);
        let (out, events) = mpsc::channel(64);
        let stop = context.runtime.stop.work.clone();
        let commands = Arc::clone(&intake.commands);
        let task_waiters = Arc::clone(task_waiters);
        context.runtime.tracker.spawn(async move {
            let watching = AnswerWatch { task, said, events: stream, out: out.clone() };
            tokio::select! {
                biased;
                () = watching.stream(ended) => {}
                // Ctrl-C, or a closed terminal: nobody reads an answer, and the next question must not wait for it.
                () = out.closed() => commands.abandon(task).await,
                // The task goes on at the next start, when nobody listens here any more.
                () = stop.cancelled() => {
                    drop(out.try_send(AskEvent::Ended("interrupted".to_owned())));
                }
            }
            task_waiters.forget(task);
        });
        Ok(events)
    }

    /// Carries out a command and streams what it says.
    fn commanded(
        &self,
        typed: TerminalCommand,
        mut said: mpsc::UnboundedReceiver<TerminalMessage>,
    ) -> mpsc::Receiver<AskEvent> {
        let Self { context, intake, .. } = self;
        let (out, events) = mpsc::channel(4);
        let commands = Arc::clone(&intake.commands);
        let stop = context.runtime.stop.work.clone();
        context.runtime.tracker.spawn(async move {
            commands.typed(&typed).await;
            let state = tokio::select! {
                Some(TerminalMessage { text, .. }) = said.recv() => {
                    drop(out.send(AskEvent::Said(text)).await);
                    "done"
                }
                // It is carried out; nobody reads what it says.
                () = out.closed() => return,
                () = stop.cancelled() => "interrupted",
            };
            drop(out.try_send(AskEvent::Ended(state.to_owned())));
        });
        events
    }
}

/// The conversation of a folder.
pub(super) fn location(workspace: &Path) -> Location {
    let conversation = command_line::conversation(workspace);
    let place = PlaceId::new(conversation.account().clone(), conversation.key());
    Location { conversation, place, title: workspace.display().to_string() }
}

struct AnswerWatch {
    task: TaskId,
    said: mpsc::UnboundedReceiver<TerminalMessage>,
    events: broadcast::Receiver<Event>,
    out: mpsc::Sender<AskEvent>,
}

impl AnswerWatch {
    /// Streams until the end.
    async fn stream(mut self, mut ended: oneshot::Receiver<TaskEnd>) {
        let finished = loop {
            tokio::select! {
                biased;
                Some(said) = self.said.recv() => self.say(said).await,
                event = self.events.recv() => self.pass(event).await,
                finished = &mut ended => break finished,
            }
        };
        let (state, waiters) = match finished {
            Ok(TaskEnd { state, waiters }) => (state, waiters),
            Err(_) => ("interrupted".to_owned(), Vec::new()),
        };
        for mut standing in waiters {
            waiters::settled(&mut standing).await;
        }
        while let Ok(event) = self.events.try_recv() {
            self.pass(Ok(event)).await;
        }
        while let Ok(said) = self.said.try_recv() {
            self.say(said).await;
        }
        self.tell(AskEvent::Ended(state)).await;
    }

    async fn say(&self, said: TerminalMessage) {
        self.tell(AskEvent::Said(said.text)).await;
        if let Some(question) = said.question {
            self.tell(AskEvent::Asked(question)).await;
        }
    }

    async fn pass(&self, event: Result<Event, RecvError>) {
        // A slow watcher has lost the oldest; what is said comes by another way.
        let Ok(event) = event else { return };
        if task_of(&event) == Some(self.task) {
            let event = serde_json::to_value(event).unwrap_or_default();
            self.tell(AskEvent::Progress(event)).await;
        }
    }

    async fn tell(&self, event: AskEvent) {
        // Whoever asked may have gone.
        drop(self.out.send(event).await);
    }
}

const fn task_of(event: &Event) -> Option<TaskId> {
    match event {
        Event::Started { task, .. }
        | Event::Asked { task, .. }
        | Event::Wrote { task, .. }
        | Event::Again { task }
        | Event::Called { task, .. }
        | Event::Answered { task, .. }
        | Event::Planned { task, .. }
        | Event::Doing { task, .. }
        | Event::Ended { task, .. } => Some(*task),
        Event::Received { .. } | Event::Delivered { .. } => None,
    }
}
