//! One task in the terminal: stored like any other, watched to the end of its delivery.

use std::path::PathBuf;
use std::sync::Arc;

use selkie_channel_core::{
    Addressed, Audience, Inbound, MessageRef, PlaceId, Quote, Speaker, What,
};
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::delivery::outbox::Outbox;
use crate::delivery::waiters;
use crate::domain::approval::{ApprovalState, Verdict};
use crate::domain::cause::Cause;
use crate::domain::command_line;
use crate::domain::facts::{Facts, Mode, Trigger, Trust, Where};
use crate::domain::happening::Happening;
use crate::domain::ids::{InboxId, TaskId};
use crate::domain::question::QuestionState;
use crate::domain::taint::Taint;
use crate::intake::receive::Intake;
use crate::store::{Arrival, Disposition, NewTask, StoreError};
use crate::terminal::channel::{Said, Terminal};
use crate::terminal::typed;
use crate::terminal::unheard;
use crate::work::task_waiters::{Finished, TaskWaiters};

/// What is asked in the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The folder the person stands in: an absolute path.
    pub workspace: PathBuf,
    /// What they wrote.
    pub text: String,
    /// Somebody sits at the terminal and can be asked.
    pub terminal: bool,
}

/// What happens with it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", content = "value", rename_all = "snake_case")]
pub enum AskEvent {
    /// Progress of the task.
    Happening(Happening),
    /// The bot says this.
    Said(String),
    /// What was just said asks the question with this key: [`crate::daemon::flow::Flow::answer`] answers it.
    Asked(String),
    /// The task has ended and all it said was delivered.
    Ended {
        /// `done`, `failed`, `stopped`; `interrupted` when the daemon ends first.
        state: String,
    },
}

/// What became of an answer from the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// It is taken.
    Taken,
    /// The words answer nothing: a number, a label or, where it is taken, free text does.
    NoAnswer,
    /// The question is not open any more.
    Closed,
}

/// Where questions of the terminal go.
pub(crate) struct Counter {
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) task_waiters: Arc<TaskWaiters>,
    pub(crate) terminal: Arc<Terminal>,
}

impl Counter {
    /// Answers a question in the words of whoever sits at the terminal.
    pub(crate) async fn answer(&self, question: &str, reply: Ask) -> Result<Reply, StoreError> {
        let outbox = &self.outbox;
        let mut arrival = arrival(outbox, reply);
        let inbound = &mut arrival.inbound;
        let account = inbound.conversation.account();
        let ledger = &outbox.storage.ledger;
        let found = ledger.question(account, question).await?;
        if found.is_none()
            && let Some(sought) = ledger.approval(question).await?
        {
            if sought.state != ApprovalState::Open {
                return Ok(Reply::Closed);
            }
            // Whatever is no yes is a no.
            let verdict = Verdict::of_reply(&inbound.text).unwrap_or(Verdict::Deny);
            inbound.text = verdict.name().to_owned();
            return self.answered(arrival, question).await;
        }
        let Some(found) = found.filter(|q| q.state == QuestionState::Open) else {
            return Ok(Reply::Closed);
        };
        if found.ask.read(&inbound.text).is_none() {
            return Ok(Reply::NoAnswer);
        }
        self.answered(arrival, question).await
    }

    /// Stores a line as the answer to what asked for it.
    async fn answered(&self, mut arrival: Arrival, question: &str) -> Result<Reply, StoreError> {
        let intake = &self.intake;
        arrival.inbound.quote = Some(Quote {
            message: MessageRef::new(question),
            speaker: String::new(),
            text: String::new(),
            ours: true,
        });
        let stored = intake.store(vec![arrival], None).await?;
        intake.begin(stored);
        Ok(Reply::Taken)
    }

    /// Stores the task, begins it, and streams what happens. When the stream is dropped before the end, the task is
    /// stopped.
    pub(crate) async fn begin(&self, ask: Ask) -> Result<mpsc::Receiver<AskEvent>, StoreError> {
        let Self { outbox, intake, task_waiters, terminal } = self;
        let typed = typed::command(&ask.text);
        let text = typed::question(&ask.text).to_owned();
        let mut arrival = arrival(outbox, Ask { text, ..ask });
        let asked = MessageRef::new(&*arrival.inbound.key);
        let said = terminal.listen(&arrival.inbound.conversation, asked);
        unheard::withdraw(&intake.commands, terminal, &arrival.inbound.conversation).await?;
        if let Some(command) = typed {
            arrival.inbound.command = Some(command);
            arrival.disposition = Disposition::Command;
            return self.commanded(arrival, said).await;
        }
        let happenings = outbox.runtime.happenings.listen();
        let stored = intake.store(vec![arrival], None).await?;
        let Some(row) = stored.accepted.fresh.first().map(|fresh| fresh.row) else {
            return Err(StoreError::Corrupt(
                "a fresh question was taken for a known one".to_owned(),
            ));
        };
        let ended = task_waiters.expect(row);
        intake.begin(stored);
        let (out, events) = mpsc::channel(64);
        let stop = outbox.runtime.stop.work.clone();
        let (commands, task_waiters) = (Arc::clone(&intake.commands), Arc::clone(task_waiters));
        outbox.runtime.tracker.spawn(async move {
            let watching = Watching { row, task: None, said, happenings, out: out.clone() };
            tokio::select! {
                biased;
                () = watching.stream(ended) => {}
                // Ctrl-C, or a closed terminal: nobody reads an answer, and the next question must not wait for it.
                () = out.closed() => commands.abandon(row).await,
                // The task goes on at the next start, when nobody listens here any more.
                () = stop.cancelled() => {
                    drop(out.try_send(AskEvent::Ended { state: "interrupted".to_owned() }));
                }
            }
            task_waiters.forget(row);
        });
        Ok(events)
    }

    /// Carries out a command and streams what it says.
    async fn commanded(
        &self,
        arrival: Arrival,
        mut said: mpsc::UnboundedReceiver<Said>,
    ) -> Result<mpsc::Receiver<AskEvent>, StoreError> {
        let Self { outbox, intake, .. } = self;
        let mut stored = intake.store(vec![arrival], None).await?;
        let rows = std::mem::take(&mut stored.accepted.commands);
        intake.begin(stored);
        let (out, events) = mpsc::channel(4);
        let (commands, stop) = (Arc::clone(&intake.commands), outbox.runtime.stop.work.clone());
        outbox.runtime.tracker.spawn(async move {
            commands.carry_out(rows).await;
            let state = tokio::select! {
                Some(Said { text, .. }) = said.recv() => {
                    drop(out.send(AskEvent::Said(text)).await);
                    "done"
                }
                // It is carried out; nobody reads what it says.
                () = out.closed() => return,
                () = stop.cancelled() => "interrupted",
            };
            drop(out.try_send(AskEvent::Ended { state: state.to_owned() }));
        });
        Ok(events)
    }
}

fn arrival(outbox: &Outbox, ask: Ask) -> Arrival {
    let conversation = command_line::conversation(&ask.workspace);
    let place = PlaceId::new(conversation.account().clone(), conversation.key());
    let now = outbox.runtime.clock.now();
    let cause = Cause::CommandLine { id: uuid::Uuid::now_v7().to_string() };
    let key = cause.key(None).into_owned();
    let facts = Facts {
        v: Facts::VERSION,
        place: Where::CommandLine { terminal: ask.terminal },
        speaker: Some(command_line::person()),
        trust: Trust::Owner,
        taint: Taint::Clean,
        trigger: Trigger::Asked,
        mode: Mode::Normal,
        message: Some(MessageRef::new(&*key)),
        opened: Vec::new(),
        passed: None,
        summoned: Vec::new(),
        at: now,
    };
    let task = NewTask::new(cause, facts);
    let speaker =
        Speaker { id: command_line::person(), name: String::new(), username: None, is_bot: false };
    let inbound = Inbound {
        v: Inbound::VERSION,
        message: Some(MessageRef::new(&*key)),
        key,
        title: ask.workspace.display().to_string(),
        conversation,
        place,
        order: now.timestamp_micros(),
        at: now,
        speaker,
        audience: Audience::Direct,
        what: What::Message,
        addressed: Addressed::Direct,
        text: ask.text,
        command: None,
        quote: None,
        forwarded: false,
        attachments: Vec::new(),
        album: None,
        reply_window: None,
    };
    Arrival { inbound, disposition: Disposition::Task(task) }
}

struct Watching {
    row: InboxId,
    task: Option<TaskId>,
    said: mpsc::UnboundedReceiver<Said>,
    happenings: broadcast::Receiver<Happening>,
    out: mpsc::Sender<AskEvent>,
}

impl Watching {
    /// Streams until the end.
    async fn stream(mut self, mut ended: oneshot::Receiver<Finished>) {
        let finished = loop {
            tokio::select! {
                biased;
                Some(said) = self.said.recv() => self.say(said).await,
                happening = self.happenings.recv() => self.pass(happening).await,
                finished = &mut ended => break finished,
            }
        };
        let (state, waiters) = match finished {
            Ok(Finished { state, waiters }) => (state, waiters),
            Err(_) => ("interrupted".to_owned(), Vec::new()),
        };
        for mut standing in waiters {
            waiters::settled(&mut standing).await;
        }
        while let Ok(happening) = self.happenings.try_recv() {
            self.pass(Ok(happening)).await;
        }
        while let Ok(said) = self.said.try_recv() {
            self.say(said).await;
        }
        self.tell(AskEvent::Ended { state }).await;
    }

    async fn say(&self, said: Said) {
        self.tell(AskEvent::Said(said.text)).await;
        if let Some(question) = said.question {
            self.tell(AskEvent::Asked(question)).await;
        }
    }

    async fn pass(&mut self, happening: Result<Happening, RecvError>) {
        // A slow watcher has lost the oldest; what is said comes by another way.
        let Ok(happening) = happening else { return };
        if let Happening::Started { task, heard, .. } = &happening
            && heard.contains(&self.row)
        {
            self.task = Some(*task);
        }
        if self.task.is_some() && task_of(&happening) == self.task {
            self.tell(AskEvent::Happening(happening)).await;
        }
    }

    async fn tell(&self, event: AskEvent) {
        // Whoever asked may have gone.
        drop(self.out.send(event).await);
    }
}

const fn task_of(happening: &Happening) -> Option<TaskId> {
    match happening {
        Happening::Started { task, .. }
        | Happening::Asked { task, .. }
        | Happening::Wrote { task, .. }
        | Happening::Called { task, .. }
        | Happening::Answered { task, .. }
        | Happening::Planned { task, .. }
        | Happening::Doing { task, .. }
        | Happening::Ended { task, .. } => Some(*task),
        Happening::Heard { .. } | Happening::Delivered { .. } => None,
    }
}
