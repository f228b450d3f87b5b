//! One claimed task, from its messages to its stored answer.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use selkie_channel_core::{Audience, MessageRef};

use crate::delivery::deferred;
use crate::delivery::outbox::Outbox;
use crate::delivery::presence;
use crate::delivery::progress::{KeptProgress, Shows, TaskProgress};
use crate::delivery::reply::TaskReply;
use crate::delivery::streamed::StreamedAnswer;
use crate::work::acquaintances::Acquaintances;
use crate::work::attachments::Attachments;
use crate::work::backfill;
use crate::work::choosing::ModelChooser;
use crate::work::limits::Limits;
use crate::work::messages;
use crate::work::next_step::{Onward, ParkOutcome};
use crate::work::outages::Outages;
use crate::work::received;
use crate::work::rights::{self, Rights};
use crate::work::runner::{Job, TaskRunner};
use crate::work::scheduled::{self, Both, Bounds};
use crate::work::scope::Ports;
use crate::work::settings::AnswerSettings;
use crate::work::steer::TaskInflow;
use crate::work::stop_tokens::{StopMark, StopTokens};
use crate::work::task_waiters::TaskWaiters;
use crate::work::unattended;
use selkie_agent::messages::covers;
use selkie_agent::{DriveEnd, DriveOutcome, DropReason, Quota, taken_in};
use selkie_domain::approval::ApprovalState;
use selkie_domain::event::Event;
use selkie_domain::facts::Where;
use selkie_domain::live::Live;
use selkie_domain::taint::Taint;
use selkie_domain::transcript::{Answer, Item};
use selkie_schedule::zone::Zone;
use selkie_schedule::zones::Zones;
use selkie_store::{Advance, ApprovalRow, End, StoreError, TaskClaim};

/// A task that was cut off so often is given up at its next claim.
pub const MAX_ATTEMPTS: u32 = 3;

/// Answers claimed tasks.
pub struct Answers {
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) runner: Arc<dyn TaskRunner>,
    pub(crate) stops: Arc<StopTokens>,
    pub(crate) kept: Arc<KeptProgress>,
    pub(crate) task_waiters: Arc<TaskWaiters>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) rights: Arc<Rights>,
    pub(crate) attachments: Attachments,
    pub(crate) chooser: ModelChooser,
    pub(crate) acquaintances: Arc<Acquaintances>,
    /// Which clocks people go by.
    pub zones: Arc<Zones>,
    pub(crate) settings: Live<AnswerSettings>,
    pub(crate) outages: Outages,
}

/// What goes along with a task while this process works on it.
pub struct Life<'a> {
    pub(crate) mark: &'a StopMark,
    pub(crate) reply: &'a Arc<TaskReply>,
    progress: &'a Arc<TaskProgress>,
    pub(crate) answer: &'a Arc<StreamedAnswer>,
    steering: &'a TaskInflow,
    pub(crate) bounds: &'a Bounds,
    zone: Zone,
    /// The worker would take the lane's next task at once.
    pub hand_over: bool,
}

impl Answers {
    /// Works on a task to its end, or until it is parked.
    pub async fn one(&self, mut claimed: TaskClaim, hand_over: bool) -> Onward {
        let task = claimed.claim.task;
        let stored = claimed.facts.clone();
        rights::weigh(&mut claimed);
        let mark = self.stops.begin(task);
        self.outbox
            .runtime
            .happenings
            .tell(|| Event::Started { conversation: claimed.conversation.clone(), task });
        let onward = match self.rights.now(&claimed) {
            None => {
                let why = unattended::not_allowed(&claimed);
                self.unheard(&claimed, &why, hand_over).await
            }
            Some(_) if self.is_bot_loop(&claimed).await => {
                self.unheard(&claimed, "ignored: gate.bot_answers is reached", hand_over).await
            }
            Some(trust) => match self.limits.stops(&claimed, trust).await {
                Some(reached) => {
                    let why = unattended::limited(&claimed, &reached.key(), reached.who());
                    self.unheard(&claimed, &why, hand_over).await
                }
                None => {
                    claimed.facts.trust = trust;
                    self.rights.refresh(&mut claimed);
                    claimed.reshaped = claimed.facts != stored;
                    self.work(&mut claimed, &mark, hand_over).await
                }
            },
        };
        self.stops.end(task);
        onward
    }

    /// Ends a task without a word: nothing of it becomes history.
    async fn unheard(&self, claimed: &TaskClaim, why: &str, hand_over: bool) -> Onward {
        self.kept.end(claimed.claim.task);
        let end = End::Failed { why: why.to_owned() };
        let mut ending = self.closed(claimed, end, String::new());
        ending.text.clear();
        ending.append.retain(|item| !matches!(item, Item::Said { .. }));
        if claimed.transcript.is_empty() {
            ending.append.clear();
        }
        let onward = self.finish(claimed, ending, Vec::new(), hand_over).await;
        self.close_unused(claimed).await;
        onward
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
            .outbox
            .storage
            .insist(|ledger| ledger.bots_in_a_row(&claimed.conversation, most))
            .await;
        asked.is_none_or(|in_a_row| in_a_row >= most)
    }

    async fn work(&self, claimed: &mut TaskClaim, mark: &StopMark, hand_over: bool) -> Onward {
        received::waited(&self.outbox.runtime, claimed);
        backfill::add(&self.outbox, claimed, mark.cancel()).await;
        let reply = Arc::new(TaskReply::new(Arc::clone(&self.outbox), claimed));
        let task = claimed.claim.task;
        let progress = self.progress(claimed);
        if unattended::is_unattended(&claimed.facts) {
            progress.close();
        }
        let answer = Arc::new(self.streamed(claimed));
        let zone = self.zones.of_task(claimed).await;
        let while_busy = self.settings.now().while_busy;
        let steering = TaskInflow::new(&self.outbox, &self.rights, while_busy, claimed, zone);
        self.close_expired(claimed).await;
        self.close_sought(claimed).await;
        let bounds = scheduled::bounds(&self.outbox, claimed).await;
        let pick = self.chooser.of_task(claimed, bounds.choice.clone());
        claimed.reshaped |= claimed.facts.pick != pick;
        claimed.facts.pick = pick;
        let life = Life {
            mark,
            reply: &reply,
            progress: &progress,
            answer: &answer,
            steering: &steering,
            bounds: &bounds,
            zone,
            hand_over,
        };
        let driven = self.driven(claimed, &life).await;
        self.close_unused(claimed).await;
        let onward = match driven {
            None => {
                progress.leave();
                return Onward::default();
            }
            Some(DriveEnd::Ended(ending)) => {
                claimed.heard.extend(steering.taken(&ending.absorbed));
                self.end(claimed, *ending, &life).await
            }
            Some(DriveEnd::Asks(asks)) => {
                // What is asked stands below: the answer comes below that.
                answer.end().await.withdraw();
                let parked = self.park(claimed, *asks, hand_over).await;
                self.parked(claimed, parked, &life).await
            }
            Some(DriveEnd::Seeks(seeks)) => {
                answer.end().await.withdraw();
                self.kept.keep(task, &progress);
                let parked = self.seek(claimed, *seeks, &life).await;
                let stays = matches!(&parked, ParkOutcome::Yes(onward) if onward.told);
                let onward = self.parked(claimed, parked, &life).await;
                // The task's next claim may have it already.
                if !stays && self.kept.take(task).is_some() {
                    progress.close();
                }
                return onward;
            }
        };
        // Behind what was said: what was being done goes when there is something better to read.
        progress.close();
        onward
    }

    /// What shows how far a task is: that of its last claim, when it has waited for approval in between.
    fn progress(&self, claimed: &TaskClaim) -> Arc<TaskProgress> {
        let Some(kept) = self.kept.take(claimed.claim.task) else {
            return Arc::new(TaskProgress::of(&self.outbox, claimed));
        };
        let allowed = |approval: &ApprovalRow| approval.state == ApprovalState::Approved;
        kept.goes_on(claimed.approval.as_deref().is_some_and(allowed));
        kept
    }

    /// What comes after a park; a question that cannot be asked ends the task.
    async fn parked(
        &self,
        claimed: &mut TaskClaim,
        parked: ParkOutcome,
        life: &Life<'_>,
    ) -> Onward {
        let (end, line) = match parked {
            ParkOutcome::Yes(onward) => return *onward,
            ParkOutcome::Stopped => (End::Stopped, String::new()),
            ParkOutcome::NobodyToAsk => {
                let why = "a question could not be asked here".to_owned();
                (End::Failed { why }, messages::NOBODY_TO_ASK.to_owned())
            }
        };
        if self.refresh(claimed).await.is_none() {
            return Onward::default();
        }
        let ending = self.closed(claimed, end, line);
        self.end(claimed, ending, life).await
    }

    async fn driven(&self, claimed: &mut TaskClaim, life: &Life<'_>) -> Option<DriveEnd> {
        let mark = life.mark;
        let ended = |ending| Some(DriveEnd::Ended(Box::new(ending)));
        if claimed.attempts > MAX_ATTEMPTS {
            tracing::error!(task = %claimed.claim.task, "given up: it never survived its worker");
            let why = format!("claimed {} times and never finished", claimed.attempts);
            let text = messages::poison(claimed.attempts);
            return ended(self.closed(claimed, End::Failed { why }, text));
        }
        if let Some(ending) = unattended::fixed(claimed) {
            return ended(ending);
        }
        loop {
            let driven = AssertUnwindSafe(self.drive(claimed, life)).catch_unwind().await;
            match driven {
                Ok(Ok(DriveEnd::Ended(e))) if e.end == End::Stopped && self.is_leaving(mark) => {
                    self.release(claimed).await;
                    return None;
                }
                Ok(Ok(driven)) => return Some(driven),
                Ok(Err(DropReason::Lost)) => {
                    tracing::warn!(task = %claimed.claim.task, "the claim was lost: left to its new owner");
                    return None;
                }
                Ok(Err(DropReason::Stopping)) if self.is_leaving(mark) || !mark.is_asked() => {
                    self.release(claimed).await;
                    return None;
                }
                Ok(Err(DropReason::Stopping)) => {
                    self.refresh(claimed).await?;
                    return ended(self.closed(claimed, End::Stopped, String::new()));
                }
                Ok(Err(DropReason::Broken(why))) => {
                    self.outbox.storage.trouble(&StoreError::Broken(why));
                    self.refresh(claimed).await?;
                }
                Err(_) => {
                    // The panic hook has told where.
                    tracing::error!(task = %claimed.claim.task, "a task panicked");
                    self.refresh(claimed).await?;
                    let end = End::Failed { why: "a defect: the task panicked".to_owned() };
                    return ended(self.closed(claimed, end, messages::defect()));
                }
            }
        }
    }

    /// The daemon ends and nobody stopped this task: it goes on at the next start.
    fn is_leaving(&self, mark: &StopMark) -> bool {
        self.outbox.runtime.stop.work.is_cancelled() && !mark.is_asked()
    }

    /// Gives the claim back: a restart that was asked for is no attempt. Nothing ends by it.
    pub async fn release(&self, claimed: &TaskClaim) {
        let released = self.outbox.storage.ledger.commit(&claimed.claim, Advance::Release).await;
        if let Err(error) = released {
            // It dies with this instance then, and counts.
            tracing::warn!(task = %claimed.claim.task, %error, "a claim could not be given back");
        }
    }

    async fn drive(&self, claimed: &TaskClaim, life: &Life<'_>) -> Result<DriveEnd, DropReason> {
        let Life { mark, reply, progress, answer, steering, bounds, zone, .. } = life;
        let work = async {
            // With a transcript the messages are in it already.
            let heard = match claimed.transcript.is_empty() {
                true => received::lines(&self.attachments, claimed, mark.cancel(), *zone).await,
                false => Vec::new(),
            };
            if mark.cancel().is_cancelled() {
                // Before its lines are stored: the next claim fetches the files again.
                return Err(DropReason::Stopping);
            }
            let ports = Ports {
                reply: Arc::clone(reply) as _,
                progress: Arc::new(Shows {
                    progress: Arc::clone(progress),
                    answer: Arc::clone(answer),
                }),
                cancel: mark.cancel().clone(),
            };
            let shares = self.limits.shares(claimed);
            let first = shares.as_ref().map(|shares| shares as &dyn Quota);
            let second = bounds.budget.as_ref().map(|budget| budget as &dyn Quota);
            let both = Both { first, second };
            let quota = (first.is_some() || second.is_some()).then_some(&both as &dyn Quota);
            let job = Job { claimed, heard, inflow: *steering, quota, ports };
            self.runner.answer(job).await
        };
        let typing = async {
            if let Some(account) = self.outbox.accounts.of(&claimed.conversation)
                && !unattended::is_unattended(&claimed.facts)
            {
                presence::show(&self.outbox, &account, &claimed.conversation).await;
            }
            std::future::pending::<Infallible>().await
        };
        let beside = async {
            tokio::select! {
                never = deferred::offer(&self.outbox, claimed) => never,
                never = typing => never,
            }
        };
        tokio::select! {
            driven = work => driven,
            never = beside => match never {},
        }
    }

    /// Waits for the store and reads what the run has come to.
    async fn refresh(&self, claimed: &mut TaskClaim) -> Option<()> {
        let task = claimed.claim.task;
        let detail = self
            .outbox
            .storage
            .insist(|ledger| async move {
                ledger.healthy().await?;
                ledger.task(task).await
            })
            .await??;
        self.outbox.storage.stored();
        claimed.header = detail.header.map(|h| h.to_string());
        claimed.transcript = detail.transcript;
        Some(())
    }

    /// Ends a task without its agent: every call is answered, the question stays in the history, and what it
    /// had taken in from others' tasks is named, for nobody else answers it.
    fn closed(&self, claimed: &TaskClaim, end: End, mut text: String) -> DriveOutcome {
        let covers = covers(&taken_in(&claimed.transcript));
        if text.is_empty() && !covers.is_empty() {
            text = messages::task_stopped();
        }
        text.push_str(&covers);
        let mut append = Vec::new();
        match claimed.transcript.last() {
            None => append.extend(
                received::without_files(claimed, self.zones.usual())
                    .into_iter()
                    .map(Item::Received),
            ),
            Some(Item::Asked { calls, .. }) => {
                let interrupted = "interrupted, outcome unknown";
                let answers = calls.iter().map(|c| Answer::error(&c.id, interrupted));
                append.push(Item::Answered { answers: answers.collect() });
            }
            Some(_) => {}
        }
        if !text.is_empty() {
            append.push(Item::said(text.clone(), Taint::Clean));
        }
        let header = claimed.header.clone().unwrap_or_else(|| "{}".to_owned());
        DriveOutcome { append, header, end, text, ..DriveOutcome::default() }
    }
}

/// Where several speak, an answer says whom it answers; one that nobody asked for only when the wish to
/// speak was strong.
pub fn quote(claimed: &TaskClaim) -> Option<MessageRef> {
    let facts = &claimed.facts;
    let several =
        facts.audience() == Audience::Group || matches!(facts.place, Where::CommandLine { .. });
    let quotes = several && facts.passed.as_ref().is_none_or(|passed| passed.quotes);
    quotes.then(|| facts.message.clone()).flatten()
}
