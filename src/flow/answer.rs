//! One claimed task, from its messages to its stored answer.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use futures_util::FutureExt as _;
use selkie_channel_core::{Audience, MessageRef};

use crate::agent::words::covers;
use crate::agent::{Asks, Driven, Dropped, Ending, Quota, taken_in};
use crate::domain::facts::Where;
use crate::domain::happening::Happening;
use crate::domain::taint::Taint;
use crate::domain::transcript::{Answer, Item};
use crate::domain::usage::Usage;
use crate::flow::desk::Desk;
use crate::flow::endings::Endings;
use crate::flow::mind::{Job, Mind};
use crate::flow::park::Parked;
use crate::flow::progress::Board;
use crate::flow::reply::TaskReply;
use crate::flow::steer::Steering;
use crate::flow::stops::{StopMark, Stops};
use crate::flow::{backfill, heard, hold, limits, presence, rights, words};
use crate::store::{Advance, Claimed, Draft, End, Seen, StoreError};

/// A task that was cut off so often is given up at its next claim.
pub(super) const MOST_ATTEMPTS: u32 = 3;

/// Answers claimed tasks.
pub(super) struct Answers {
    pub(super) desk: Arc<Desk>,
    pub(super) mind: Arc<dyn Mind>,
    pub(super) stops: Arc<Stops>,
    pub(super) endings: Arc<Endings>,
}

/// What is to be done after a task.
#[derive(Default)]
pub(super) struct Onward {
    /// The lane's next task, when it was handed over.
    pub(super) next: Option<Claimed>,
    /// When the task goes on at the latest, though nobody wakes it.
    pub(super) wake_at: Option<DateTime<Utc>>,
}

impl Answers {
    /// Works on a task to its end, or until it is parked.
    pub(super) async fn one(&self, mut claimed: Claimed, hand_over: bool) -> Onward {
        let task = claimed.claim.task;
        rights::weigh(&mut claimed);
        let mark = self.stops.begin(task);
        self.desk.happenings.tell(|| Happening::Started {
            conversation: claimed.conversation.clone(),
            task,
            heard: claimed.heard.iter().map(|(row, _)| *row).collect(),
        });
        let onward = match rights::now(&self.desk, &claimed) {
            None => self.unheard(&claimed, "ignored: not_allowed any more", hand_over).await,
            Some(_) if self.is_bot_loop(&claimed).await => {
                self.unheard(&claimed, "ignored: gate.bot_answers is reached", hand_over).await
            }
            Some(trust) => match limits::stops(&self.desk, &claimed, trust).await {
                Some(reached) => {
                    let why = format!("ignored: {} is reached", reached.key());
                    self.unheard(&claimed, &why, hand_over).await
                }
                None => {
                    claimed.facts.trust = trust;
                    rights::refresh(&self.desk, &mut claimed);
                    self.work(&mut claimed, &mark, hand_over).await
                }
            },
        };
        self.stops.end(task);
        onward
    }

    /// Ends a task without a word: nothing of it becomes history.
    async fn unheard(&self, claimed: &Claimed, why: &str, hand_over: bool) -> Onward {
        let end = End::Failed { why: why.to_owned() };
        let mut ending = self.closed(claimed, end, String::new());
        ending.text.clear();
        ending.append.retain(|item| !matches!(item, Item::Said { .. }));
        if claimed.transcript.is_empty() {
            ending.append.clear();
        }
        self.finish(claimed, ending, Vec::new(), hand_over).await
    }

    /// Whether bots have talked among themselves for long enough.
    async fn is_bot_loop(&self, claimed: &Claimed) -> bool {
        let most = self.desk.settings.gate.bot_answers;
        let mut lines = claimed.heard.iter().map(|(_, line)| line).chain(&claimed.context);
        // An empty task is nobody's, and no bot's.
        if claimed.heard.is_empty() || lines.any(|line| !line.speaker.is_bot) {
            return false;
        }
        let ledger = &self.desk.ledger;
        let asked = self.desk.insist(|| ledger.bots_in_a_row(&claimed.conversation, most)).await;
        asked.is_none_or(|in_a_row| in_a_row >= most)
    }

    async fn work(&self, claimed: &mut Claimed, mark: &StopMark, hand_over: bool) -> Onward {
        backfill::add(&self.desk, claimed, mark.cancel()).await;
        let reply = Arc::new(TaskReply::new(Arc::clone(&self.desk), claimed));
        let board = Arc::new(Board::of(&self.desk, claimed));
        let steering = Steering::new(Arc::clone(&self.desk), claimed);
        self.close_expired(claimed).await;
        let onward = match self.driven(claimed, mark, (&reply, &board, &steering)).await {
            None => {
                board.leave();
                return Onward::default();
            }
            Some(Driven::Ended(ending)) => {
                claimed.heard.extend(steering.taken(&ending.absorbed));
                self.end(claimed, *ending, (mark, &reply), hand_over).await
            }
            Some(Driven::Asks(asks)) => self.ask(claimed, *asks, (mark, &reply), hand_over).await,
        };
        // Behind what was said: what was being done goes when there is something better to read.
        board.close();
        onward
    }

    async fn end(
        &self,
        claimed: &Claimed,
        ending: Ending,
        (mark, reply): (&StopMark, &Arc<TaskReply>),
        hand_over: bool,
    ) -> Onward {
        let say = self.say(claimed, &ending, mark, reply.has_spoken());
        self.finish(claimed, ending, say, hand_over).await
    }

    /// Parks the task on its question; one that cannot be asked ends it.
    async fn ask(
        &self,
        claimed: &mut Claimed,
        asks: Asks,
        told: (&StopMark, &Arc<TaskReply>),
        hand_over: bool,
    ) -> Onward {
        let (end, line) = match self.park(claimed, asks, hand_over).await {
            Parked::Yes(onward) => return *onward,
            Parked::Stopped => (End::Stopped, String::new()),
            Parked::NobodyToAsk => {
                let why = "a question could not be asked here".to_owned();
                (End::Failed { why }, words::nobody_to_ask())
            }
        };
        if self.refresh(claimed).await.is_none() {
            return Onward::default();
        }
        let ending = self.closed(claimed, end, line);
        self.end(claimed, ending, told, hand_over).await
    }

    async fn driven(
        &self,
        claimed: &mut Claimed,
        mark: &StopMark,
        told: (&Arc<TaskReply>, &Arc<Board>, &Steering),
    ) -> Option<Driven> {
        let ended = |ending| Some(Driven::Ended(Box::new(ending)));
        if claimed.attempts > MOST_ATTEMPTS {
            tracing::error!(task = %claimed.claim.task, "given up: it never survived its worker");
            let why = format!("claimed {} times and never finished", claimed.attempts);
            let text = words::poison(claimed.attempts);
            return ended(self.closed(claimed, End::Failed { why }, text));
        }
        loop {
            let driven = AssertUnwindSafe(self.drive(claimed, mark, told)).catch_unwind().await;
            match driven {
                Ok(Ok(Driven::Ended(e))) if e.end == End::Stopped && self.is_leaving(mark) => {
                    self.release(claimed).await;
                    return None;
                }
                Ok(Ok(driven)) => return Some(driven),
                Ok(Err(Dropped::Lost)) => {
                    tracing::warn!(task = %claimed.claim.task, "the claim was lost: left to its new owner");
                    return None;
                }
                Ok(Err(Dropped::Stopping)) if self.is_leaving(mark) || !mark.is_asked() => {
                    self.release(claimed).await;
                    return None;
                }
                Ok(Err(Dropped::Stopping)) => {
                    self.refresh(claimed).await?;
                    return ended(self.closed(claimed, End::Stopped, String::new()));
                }
                Ok(Err(Dropped::Broken(why))) => {
                    self.desk.trouble(&StoreError::Broken(why));
                    self.refresh(claimed).await?;
                }
                Err(_) => {
                    // The panic hook has told where.
                    tracing::error!(task = %claimed.claim.task, "a task panicked");
                    self.refresh(claimed).await?;
                    let end = End::Failed { why: "a defect: the task panicked".to_owned() };
                    return ended(self.closed(claimed, end, words::defect()));
                }
            }
        }
    }

    /// The daemon ends and nobody stopped this task: it goes on at the next start.
    fn is_leaving(&self, mark: &StopMark) -> bool {
        self.desk.stop.work.is_cancelled() && !mark.is_asked()
    }

    /// Gives the claim back: a restart that was asked for is no attempt. Nothing ends by it.
    pub(super) async fn release(&self, claimed: &Claimed) {
        let released = self.desk.ledger.commit(&claimed.claim, Advance::Release).await;
        if let Err(error) = released {
            // It dies with this boot then, and counts.
            tracing::warn!(task = %claimed.claim.task, %error, "a claim could not be given back");
        }
    }

    async fn drive(
        &self,
        claimed: &Claimed,
        mark: &StopMark,
        (reply, board, inflow): (&Arc<TaskReply>, &Arc<Board>, &Steering),
    ) -> Result<Driven, Dropped> {
        let work = async {
            // With a transcript the messages are in it already.
            let heard = match claimed.transcript.is_empty() {
                true => heard::lines(&self.desk, claimed, mark.cancel()).await,
                false => Vec::new(),
            };
            if mark.cancel().is_cancelled() {
                // Before its lines are stored: the next claim fetches the files again.
                return Err(Dropped::Stopping);
            }
            let (reply, progress) = (Arc::clone(reply) as _, Arc::clone(board) as _);
            let cancel = mark.cancel().clone();
            let quota = limits::shares(&self.desk, claimed);
            let quota = quota.as_ref().map(|shares| shares as &dyn Quota);
            let job = Job { claimed, heard, reply, progress, inflow, quota, cancel };
            self.mind.answer(job).await
        };
        let typing = async {
            if let Some(account) = self.desk.account(&claimed.conversation) {
                presence::show(&self.desk, account, &claimed.conversation).await;
            }
            std::future::pending::<Infallible>().await
        };
        let beside = async {
            tokio::select! {
                never = hold::offer(&self.desk, claimed) => never,
                never = typing => never,
            }
        };
        tokio::select! {
            driven = work => driven,
            never = beside => match never {},
        }
    }

    /// Waits for the store and reads what the run has come to.
    async fn refresh(&self, claimed: &mut Claimed) -> Option<()> {
        let task = claimed.claim.task;
        let detail = self
            .desk
            .insist(|| async {
                self.desk.ledger.healthy().await?;
                self.desk.ledger.task(task).await
            })
            .await??;
        self.desk.stored();
        claimed.header = detail.header.map(|h| h.to_string());
        claimed.transcript = detail.transcript;
        Some(())
    }

    /// Ends a task without its agent: every call is answered, the question stays in the history, and what it
    /// had taken in from others' tasks is named, for nobody else answers it.
    fn closed(&self, claimed: &Claimed, end: End, mut text: String) -> Ending {
        let covers = covers(&taken_in(&claimed.transcript));
        if text.is_empty() && !covers.is_empty() {
            text = words::task_stopped();
        }
        text.push_str(&covers);
        let mut append = Vec::new();
        match claimed.transcript.last() {
            None => append.extend(heard::without_files(claimed).into_iter().map(Item::Heard)),
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
        let (usage, seen, absorbed) = (Usage::default(), Seen::default(), Vec::new());
        Ending { append, header, end, text, usage, set_aside: false, seen, facts: None, absorbed }
    }

    fn say(&self, claimed: &Claimed, ending: &Ending, mark: &StopMark, spoke: bool) -> Vec<Draft> {
        let draft = |text: &str| {
            let (quote, window) = (quote(claimed), hold::right(&self.desk, claimed));
            self.desk.draft(&claimed.conversation, text, quote, window)
        };
        // A command that stopped the task has answered already, but for what came in meanwhile.
        if ending.end == End::Stopped && mark.is_asked() && ending.text.is_empty() {
            return Vec::new();
        }
        if let Some(draft) = draft(&ending.text) {
            return vec![draft];
        }
        let line = match &ending.end {
            _ if spoke || spoke_before(claimed) => return Vec::new(),
            End::Done => words::empty_answer(),
            End::Stopped => words::task_stopped(),
            End::Failed { why } => words::failed(why),
        };
        draft(&line).into_iter().collect()
    }
}

/// Where several speak, an answer says whom it answers; one that nobody asked for only when the wish to
/// speak was strong.
pub(super) fn quote(claimed: &Claimed) -> Option<MessageRef> {
    let facts = &claimed.facts;
    let several =
        facts.audience() == Audience::Group || matches!(facts.place, Where::CommandLine { .. });
    let quotes = several && facts.passed.as_ref().is_none_or(|passed| passed.quotes);
    quotes.then(|| facts.message.clone()).flatten()
}

/// Whether a speaking tool has answered in an earlier life of this task.
fn spoke_before(claimed: &Claimed) -> bool {
    let Where::Channel(features) = &claimed.facts.place else { return false };
    claimed.transcript.windows(2).any(|pair| {
        let [Item::Asked { calls, .. }, Item::Answered { answers }] = pair else { return false };
        calls.iter().zip(answers).any(|(c, a)| !a.is_error && features.speaking.contains(&c.name))
    })
}
