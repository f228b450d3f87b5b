//! How far a task is: told by its tools, shown in one message of its conversation that is edited in place.
//!
//! It is progress and no speech: nothing of it is a part, nothing waits for it, what is superseded is never
//! sent. The message's platform id is stored, so that a task that goes on after a crash edits the same one,
//! and one whose task has ended is taken away at the next start. A kill while it is being sent leaves it where it is: its
//! id came with the answer that nobody heard, and no platform can be asked for it.

mod agent_line;
mod kept;
mod messages;
mod news;
pub mod shows;
mod status_message;

use std::sync::{Arc, Mutex, MutexGuard};

use selkie_channel_core::ConversationId;
use selkie_channel_core::locked;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::delivery::account::Account;
use crate::delivery::outbox::Outbox;
use crate::delivery::settings::StatusMode;
use selkie_domain::event::Event;
use selkie_domain::ids::TaskId;
use selkie_domain::plan::Plan;
use selkie_store::TaskClaim;
use selkie_tools::ports::Progress;

use agent_line::AgentLine;
pub use kept::KeptProgress;
pub use messages::{asked_for_approval, escaped};
use news::{ApprovalLine, News};
use status_message::StatusMessage;

/// How far one task is.
pub struct TaskProgress {
    shared: Arc<ProgressState>,
    /// Of an agent: where its newest step is shown.
    within: Option<AgentLine>,
}

struct ProgressState {
    outbox: Arc<Outbox>,
    task: TaskId,
    conversation: ConversationId,
    began: Instant,
    /// It was claimed before.
    resumed: bool,
    state: Mutex<State>,
    bell: Notify,
}

#[derive(Default)]
struct State {
    news: News,
    life: Life,
    /// Somebody shows it.
    is_shown: bool,
}

/// How the board stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Life {
    #[default]
    Open,
    /// The run has ended or waits for somebody: nothing is being done any more.
    Closed,
    /// The claim has ended before the run.
    Left,
}

impl TaskProgress {
    /// Takes up a claimed task. Costs nothing until a tool is called.
    pub fn of(outbox: &Arc<Outbox>, claimed: &TaskClaim) -> Self {
        // An earlier life may have left a message: it is taken up, or taken away at the end.
        let resumed = claimed.attempts > 1 || !claimed.transcript.is_empty();
        let shared = ProgressState::of(outbox, claimed, resumed, Life::Open);
        if resumed {
            shared.show();
        }
        Self { shared, within: None }
    }

    /// That of an agent's task: its newest step is shown with its parent, where that is shown.
    pub fn of_agent(
        outbox: &Arc<Outbox>,
        claimed: &TaskClaim,
        name: &str,
        parent: Option<Arc<Self>>,
    ) -> Self {
        let shared = ProgressState::of(outbox, claimed, false, Life::Closed);
        let name = name.to_owned();
        let within = parent.map(|parent| {
            AgentLine::of(move |step| {
                parent.shared.tell(|news| match step {
                    Some(step) => drop(news.agents.insert(name.clone(), step)),
                    None => drop(news.agents.remove(&name)),
                });
            })
        });
        within.iter().for_each(|line| line.show(messages::BEGINS));
        Self { shared, within }
    }

    /// Ends it, after the answer was handed out: the message is withdrawn; a plan stays as it stands.
    pub fn close(&self) {
        self.shared.end(Life::Closed);
    }

    /// The task waits for somebody's approval: this line says so, at once.
    pub fn waits(&self, line: String) {
        self.shared.tell(|news| {
            (news.tool, news.line) = (None, String::new());
            news.approval = Some(ApprovalLine::Sought(line));
        });
    }

    /// The task goes on: a line that said what it waited for says what came of it.
    pub fn goes_on(&self, approved: bool) {
        self.shared.tell(|news| {
            news.approval =
                news.approval.take().map(|_| ApprovalLine::Settled(messages::settled(approved)));
        });
    }

    /// Leaves the message as it is to the task's next claim.
    pub fn leave(&self) {
        self.shared.end(Life::Left);
    }
}

impl Drop for TaskProgress {
    fn drop(&mut self) {
        self.shared.end(Life::Left);
    }
}

impl Progress for TaskProgress {
    fn plan(&self, plan: &Plan) {
        let shared = &self.shared;
        let told = messages::clean_plan(plan, &shared.outbox.runtime.redactor);
        shared.outbox.runtime.events.emit(|| Event::Planned {
            conversation: shared.conversation.clone(),
            task: shared.task,
            plan: told.clone(),
        });
        shared.tell(|news| news.plan = Some(told));
    }

    fn doing(&self, line: &str) {
        let shared = &self.shared;
        let line = messages::last_line(&shared.outbox.runtime.redactor.clean(line));
        shared.outbox.runtime.events.emit(|| Event::Doing {
            conversation: shared.conversation.clone(),
            task: shared.task,
            newest: line.clone(),
        });
        if let Some(within) = &self.within {
            within.show(&line);
        }
        shared.tell(|news| news.line = line);
    }

    fn tool(&self, words: Option<&str>) {
        if let (Some(within), Some(words)) = (&self.within, words) {
            within.show(words);
        }
        self.shared.tell(|news| {
            news.tool = words.map(str::to_owned);
            news.approval = None;
            news.line.clear();
        });
    }

    fn waiting(&self, waits: bool) {
        let shared = &self.shared;
        if waits {
            shared.outbox.runtime.events.emit(|| Event::Doing {
                conversation: shared.conversation.clone(),
                task: shared.task,
                newest: messages::WAITING.to_owned(),
            });
        }
        shared.tell(|news| news.waiting = waits);
    }
}

impl ProgressState {
    fn of(outbox: &Arc<Outbox>, claimed: &TaskClaim, resumed: bool, life: Life) -> Arc<Self> {
        Arc::new(Self {
            outbox: Arc::clone(outbox),
            task: claimed.claim.task,
            conversation: claimed.conversation.clone(),
            began: Instant::now(),
            resumed,
            state: Mutex::new(State { life, ..State::default() }),
            bell: Notify::new(),
        })
    }

    fn tell(self: &Arc<Self>, change: impl FnOnce(&mut News)) {
        change(&mut self.state().news);
        self.show();
        self.bell.notify_one();
    }

    fn end(&self, life: Life) {
        let mut state = self.state();
        if state.life == Life::Open {
            state.life = life;
        }
        drop(state);
        self.bell.notify_one();
    }

    /// Begins to show it, once, where it can be shown at all.
    fn show(self: &Arc<Self>) {
        if self.outbox.settings.now().progress.status == StatusMode::Off {
            return;
        }
        let mut state = self.state();
        if state.is_shown || state.life != Life::Open {
            return;
        }
        state.is_shown = true;
        drop(state);
        let Some(account) = self.outbox.accounts.of(&self.conversation) else {
            return;
        };
        self.outbox.runtime.tracker.spawn(shown(Arc::clone(self), account));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    fn look(&self) -> (News, Life) {
        let state = self.state();
        (state.news.clone(), state.life)
    }
}

/// Shows a board until it ends.
async fn shown(shared: Arc<ProgressState>, account: Arc<Account>) {
    let ProgressState { outbox, conversation, began, bell, .. } = &*shared;
    let earliest = *began + outbox.settings.now().progress.after.0;
    let Some(mut status_message) =
        StatusMessage::of(outbox, &account, conversation, shared.task, earliest)
    else {
        return;
    };
    if shared.resumed && status_message.recall().await.is_none() {
        return;
    }
    let stop = &outbox.runtime.stop.work;
    loop {
        let (news, life) = shared.look();
        match life {
            Life::Open => {}
            Life::Closed => return status_message.close(news.plan.as_ref()).await,
            Life::Left => return,
        }
        let again = status_message.show(&messages::status(&news), news.haste()).await;
        tokio::select! {
            () = bell.notified() => {}
            () = tokio::time::sleep_until(again.unwrap_or(*began)), if again.is_some() => {}
            () = stop.cancelled() => return,
        }
    }
}

#[cfg(test)]
mod tests;
