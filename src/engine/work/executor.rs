//! One claimed task, from its messages to its stored answer.

use std::pin::pin;
use std::sync::Arc;

use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::delivery::progress::{KeptProgress, TaskProgress};
use crate::delivery::reply::TaskReply;
use crate::delivery::streamed::StreamedAnswer;
use crate::work::acquaintances::Acquaintances;
use crate::work::attachments::Attachments;
use crate::work::backfill;
use crate::work::choosing::ModelChooser;
use crate::work::executor::next_step::{LastWords, NextStep, ParkOutcome};
use crate::work::limits::Limits;
use crate::work::outages::Outages;
use crate::work::received;
use crate::work::rights::{self, Rights};
use crate::work::runner::TaskRunner;
use crate::work::running_tasks::{RunningTasks, TaskMark};
use crate::work::scheduled::{self, Bounds};
use crate::work::settings::AnswerSettings;
use crate::work::steer::TaskInflow;
use crate::work::studio::Studio;
use crate::work::task_waiters::TaskWaiters;
use crate::work::unattended;
use selkie_agent::{DriveEnd, DriveOutcome, PendingChildren, PendingQuestion, Seeks};
use selkie_domain::approval::ApprovalState;
use selkie_domain::event::Event;
use selkie_domain::facts::Trust;
use selkie_domain::live::Live;
use selkie_domain::transcript::Item;
use selkie_schedule::zone::Zone;
use selkie_schedule::zones::Zones;
use selkie_store::{ApprovalRow, End, TaskClaim};

mod addressee;
mod children;
mod drive;
pub mod failed_finish;
mod finish;
mod in_call;
mod in_kind;
mod last_words;
pub mod next_step;
mod park;
mod pictures;
mod request_approval;

/// A task that was cut off so often is given up at its next claim.
pub const MAX_ATTEMPTS: u32 = 3;

/// Runs claimed tasks.
pub struct TaskExecutor {
    pub(crate) context: Context,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) runner: Arc<dyn TaskRunner>,
    pub(crate) running: Arc<RunningTasks>,
    pub(crate) kept: Arc<KeptProgress>,
    pub(crate) task_waiters: Arc<TaskWaiters>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) rights: Arc<Rights>,
    pub(crate) attachments: Attachments,
    pub(crate) chooser: ModelChooser,
    pub(crate) acquaintances: Arc<Acquaintances>,
    pub(crate) studio: Arc<Studio>,
    /// Which clocks people go by.
    pub zones: Arc<Zones>,
    pub(crate) settings: Live<AnswerSettings>,
    pub(crate) outages: Outages,
}

/// What goes along with a task while this process works on it.
struct TaskContext<'a> {
    mark: &'a TaskMark,
    reply: Arc<TaskReply>,
    progress: Arc<TaskProgress>,
    answer: Arc<StreamedAnswer>,
    steering: TaskInflow,
    bounds: Bounds,
    zone: Zone,
    /// The worker would take the lane's next task at once.
    hand_over: bool,
}

impl TaskExecutor {
    /// Works on a task to its end, or until it is parked.
    pub async fn run(&self, mut claimed: TaskClaim, hand_over: bool) -> NextStep {
        let task = claimed.claim.task;
        let stored = claimed.facts.clone();
        rights::weigh(&mut claimed);
        let mark = self.running.begin(task);
        self.context
            .runtime
            .events
            .emit(|| Event::Started { conversation: claimed.conversation.clone(), task });
        let next_step = match self.admit(&claimed).await {
            Err(why) => self.end_silently(&claimed, &why, hand_over).await,
            Ok(trust) => {
                claimed.facts.trust = trust;
                self.rights.refresh(&mut claimed);
                claimed.reshaped = claimed.facts != stored;
                self.work(&mut claimed, &mark, hand_over).await
            }
        };
        self.running.end(task);
        next_step
    }

    /// Returns how far whoever asks is trusted now, or why their task is not begun.
    async fn admit(&self, claimed: &TaskClaim) -> Result<Trust, String> {
        let Some(trust) = self.rights.now(claimed) else {
            return Err(unattended::not_allowed(claimed));
        };
        if self.is_bot_loop(claimed).await {
            return Err("ignored: gate.bot_answers is reached".to_owned());
        }
        match self.limits.stops(claimed, trust).await {
            Some(reached) => Err(unattended::limited(claimed, &reached.key(), reached.who())),
            None => Ok(trust),
        }
    }

    /// Ends a task without a word: nothing of it becomes history.
    async fn end_silently(&self, claimed: &TaskClaim, why: &str, hand_over: bool) -> NextStep {
        self.kept.end(claimed.claim.task);
        let end = End::Failed { why: why.to_owned() };
        let mut ending = self.close_transcript(claimed, end, String::new());
        ending.text.clear();
        ending.append.retain(|item| !matches!(item, Item::Said { .. }));
        if claimed.transcript.is_empty() {
            ending.append.clear();
        }
        let next_step = self.finish(claimed, ending, LastWords::default(), hand_over).await;
        self.close_unused_approval(claimed).await;
        next_step
    }

    /// Whether bots have talked among themselves for long enough.
    async fn is_bot_loop(&self, claimed: &TaskClaim) -> bool {
        let most = self.settings.now().bot_answers;
        let mut lines = claimed.heard.iter().map(|(_, line)| line).chain(&claimed.context);
        // An empty task is nobody's, and no bot's.
        if claimed.heard.is_empty() || lines.any(|line| !line.speaker.is_bot) {
            return false;
        }
        let asked = self
            .context
            .storage
            .insist(|ledger| ledger.bots_in_a_row(&claimed.conversation, most))
            .await;
        asked.is_none_or(|in_a_row| in_a_row >= most)
    }

    /// Works on a task that may begin.
    async fn work(&self, claimed: &mut TaskClaim, mark: &TaskMark, hand_over: bool) -> NextStep {
        let run = self.prepare(claimed, mark, hand_over).await;
        let end = {
            let mut driven = pin!(self.drive_to_end(claimed, &run));
            tokio::select! {
                end = &mut driven => end,
                () = run.answer.stopped() => {
                    mark.stop_in_place();
                    driven.await
                }
            }
        };
        self.close_unused_approval(claimed).await;
        match end {
            None => {
                run.progress.leave();
                NextStep::default()
            }
            Some(DriveEnd::Ended(ending)) => self.answer(claimed, *ending, &run).await,
            Some(DriveEnd::Asks(question)) => self.ask(claimed, *question, &run).await,
            Some(DriveEnd::Seeks(request)) => self.wait_for_approval(claimed, *request, &run).await,
            Some(DriveEnd::Waits(children)) => self.wait(claimed, *children, &run).await,
        }
    }

    /// Brings together what goes along with a task, and shows what has become of what it waited for.
    async fn prepare<'a>(
        &self,
        claimed: &mut TaskClaim,
        mark: &'a TaskMark,
        hand_over: bool,
    ) -> TaskContext<'a> {
        received::waited(&self.context.runtime, claimed);
        backfill::add(&self.context, claimed, mark.cancel()).await;
        let reply = Arc::new(TaskReply::new(Arc::clone(&self.outbox), claimed));
        let progress = self.progress(claimed);
        if unattended::is_unattended(&claimed.facts) {
            progress.close();
        }
        let answer = Arc::new(self.stream(claimed));
        let zone = self.zones.of_task(claimed).await;
        let while_busy = self.settings.now().while_busy;
        let rights = &self.rights;
        let steering = TaskInflow::new(&self.attachments, rights, while_busy, mark, claimed, zone);
        self.close_expired_question(claimed).await;
        self.close_approval(claimed).await;
        let bounds = scheduled::bounds(&self.context, claimed).await;
        self.chooser.decide(claimed, bounds.choice.clone());
        TaskContext { mark, reply, progress, answer, steering, bounds, zone, hand_over }
    }

    /// What shows how far a task is: that of its last claim, when it has waited for approval in between.
    fn progress(&self, claimed: &TaskClaim) -> Arc<TaskProgress> {
        if let Some(parent) = &claimed.facts.parent {
            let shown = self.kept.of(parent.task);
            return Arc::new(TaskProgress::of_agent(&self.outbox, claimed, &parent.name, shown));
        }
        let Some(kept) = self.kept.take(claimed.claim.task) else {
            return Arc::new(TaskProgress::of(&self.outbox, claimed));
        };
        let allowed = |approval: &ApprovalRow| approval.state == ApprovalState::Approved;
        kept.goes_on(claimed.approval.as_deref().is_some_and(allowed));
        kept
    }

    /// Says what the agent came to.
    async fn answer(
        &self,
        claimed: &mut TaskClaim,
        ending: DriveOutcome,
        run: &TaskContext<'_>,
    ) -> NextStep {
        claimed.heard.extend(run.steering.taken(&ending.absorbed));
        let next_step = self.end(claimed, ending, run).await;
        // Behind what was said: what was being done goes when there is something better to read.
        run.progress.close();
        next_step
    }

    /// Asks a person, and lets the task wait for them.
    async fn ask(
        &self,
        claimed: &mut TaskClaim,
        question: PendingQuestion,
        run: &TaskContext<'_>,
    ) -> NextStep {
        // What is asked stands below: the answer comes below that.
        run.answer.end().await.withdraw();
        let parked = self.park(claimed, question, run.hand_over).await;
        let next_step = self.settle_park(claimed, parked, run).await;
        run.progress.close();
        next_step
    }

    /// Lets agents work, and the task wait for them.
    async fn wait(
        &self,
        claimed: &mut TaskClaim,
        children: PendingChildren,
        run: &TaskContext<'_>,
    ) -> NextStep {
        let task = claimed.claim.task;
        run.answer.end().await.withdraw();
        self.kept.keep(task, &run.progress);
        let parked = self.wait_for_children(claimed, children, run).await;
        let stays =
            matches!(&parked, ParkOutcome::Parked(next_step) if next_step.wake_at.is_some());
        let next_step = self.settle_park(claimed, parked, run).await;
        if !stays && self.kept.take(task).is_some() {
            run.progress.close();
        }
        next_step
    }

    /// Asks for the approval of a call, and lets the task wait for it.
    async fn wait_for_approval(
        &self,
        claimed: &mut TaskClaim,
        request: Seeks,
        run: &TaskContext<'_>,
    ) -> NextStep {
        let task = claimed.claim.task;
        run.answer.end().await.withdraw();
        self.kept.keep(task, &run.progress);
        let parked = self.request_approval(claimed, request, run).await;
        let stays = matches!(&parked, ParkOutcome::Parked(next_step) if next_step.is_announced);
        let next_step = self.settle_park(claimed, parked, run).await;
        // The task's next claim may have it already.
        if !stays && self.kept.take(task).is_some() {
            run.progress.close();
        }
        next_step
    }
}
