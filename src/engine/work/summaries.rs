//! Sums up conversations that rest: one at a time, beside everything else. What is due is asked of the store, so that nothing
//! is lost with the process.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::ConversationId;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use crate::delivery::context::Context;
use crate::work::limits::Limits;
use selkie_domain::command_line;
use selkie_domain::event::Event;
use selkie_domain::facts::Trust;
use selkie_domain::live::Live;
use selkie_domain::usage::Meter;
use selkie_memory::summary::{INSTRUCTION, Question, answer, question};
use selkie_memory::{MemoryBook, NewSummary, SummarySettings};
use selkie_store::{Day, SoughtTalk, StoreError, SummaryGap, SummaryMark};
use selkie_tools::ToolError;
use selkie_tools::ports::Small;

/// What was said earlier is not summed up any more.
const MAX_AGO: TimeDelta = TimeDelta::days(30);
/// So many conversations are looked at in one go.
const MAX: usize = 100;
/// How long a summary may take.
const LIMIT: Duration = Duration::from_secs(60);
/// After trouble.
const LATER: TimeDelta = TimeDelta::minutes(10);
/// The longest time between the end of a task and a look at what rests.
const LOOKS: Duration = Duration::from_secs(60);
/// How long what was taken back may stand in a summary.
const SOON: TimeDelta = TimeDelta::seconds(1);

/// Sums up conversations.
pub struct Summaries {
    pub(crate) context: Context,
    pub(crate) limits: Arc<Limits>,
    pub(crate) memory: Arc<MemoryBook>,
    pub(crate) model: Arc<dyn Small>,
    pub(crate) settings: Live<SummarySettings>,
    /// Tells when it looks next: whoever moves a demo's clock waits until that is done.
    pub next: watch::Sender<Option<DateTime<Utc>>>,
}

/// When it looks at what: conversations that rest, and summaries that are to go.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Times {
    look: Option<DateTime<Utc>>,
    stale: Option<DateTime<Utc>>,
}

/// What becomes of a summary.
enum SummaryOutcome {
    /// It stands, or there is nothing to write.
    Done,
    /// It is tried again.
    Later(DateTime<Utc>),
}

impl Summaries {
    /// Runs until the daemon's end.
    pub async fn run(self) {
        let runtime = &self.context.runtime;
        let mut heard = runtime.events.listen();
        // What an earlier start has left.
        let mut times = Times { look: Some(runtime.now()), stale: Some(runtime.now()) };
        loop {
            let now = runtime.now();
            if times.stale.is_some_and(|at| at <= now) {
                let done = self.drop_stale().await;
                times.stale = done.map(|()| None).unwrap_or(Some(now + LATER));
            }
            if times.look.is_some_and(|at| at <= now) {
                times.look = self.look().await;
            }
            self.next.send_replace(times.look);
            if !self.waits(&mut times, &mut heard).await {
                return;
            }
        }
    }

    /// Waits until something is to be done, or may be sooner; whether the daemon goes on.
    async fn waits(&self, times: &mut Times, heard: &mut broadcast::Receiver<Event>) -> bool {
        let runtime = &self.context.runtime;
        let next = [times.look, times.stale].into_iter().flatten().min();
        let sleeps = async {
            match next {
                Some(at) => runtime.sleeper.until_or_set(at).await,
                None => std::future::pending().await,
            }
        };
        let mut sleeps = pin!(sleeps);
        loop {
            let happened = tokio::select! {
                () = runtime.stop.work.cancelled() => return false,
                () = &mut sleeps => return true,
                happened = heard.recv() => happened,
            };
            let (before, now) = (*times, runtime.now());
            match happened {
                Ok(Event::Received { .. }) => times.stale = sooner(times.stale, now + SOON),
                Err(RecvError::Closed) => return false,
                // What was missed may have been an end.
                Ok(Event::Ended { .. }) | Err(RecvError::Lagged(_)) => {
                    times.look = sooner(times.look, now + self.gap());
                }
                Ok(_) => {}
            }
            // Most of what happens makes nothing sooner.
            if *times != before {
                return true;
            }
        }
    }

    /// Sums up what has rested; returns when something will have.
    async fn look(&self) -> Option<DateTime<Utc>> {
        let after = self.settings.now().after()?;
        let now = self.context.runtime.now();
        let least = self.settings.now().tasks.get().into();
        let sought = SoughtTalk { since: now - MAX_AGO, least, most: MAX };
        let found = match self.context.storage.ledger.unsummarized(sought).await {
            Ok(found) => found,
            Err(error) => {
                self.context.storage.trouble(&error);
                return Some(now + LATER);
            }
        };
        let mut next = None;
        for one in found {
            // Whoever works there is done some day, and then it is looked at again.
            if one.is_busy || command_line::is_at(&one.conversation) {
                continue;
            }
            let rests_at = one.ended_at + after;
            if rests_at > self.context.runtime.now() {
                next = sooner(next, rests_at);
            } else if let SummaryOutcome::Later(at) = self.sum_up(&one).await {
                next = sooner(next, at);
            }
            if self.context.runtime.stop.work.is_cancelled() {
                return None;
            }
        }
        next
    }

    async fn sum_up(&self, one: &SummaryGap) -> SummaryOutcome {
        let runtime = &self.context.runtime;
        let later = SummaryOutcome::Later(runtime.now() + LATER);
        if !self.limits.has_room(&one.conversation).await {
            return later;
        }
        let made = async {
            if !self.begin(one.mark).await? {
                return Ok(None);
            }
            self.written(one).await
        };
        match runtime.stop.work.run_until_cancelled(made).await {
            Some(Ok(Some(true))) => {
                tracing::info!(conversation = %one.conversation, "a conversation that rests was summed up");
                SummaryOutcome::Done
            }
            Some(Ok(Some(false))) | None => SummaryOutcome::Done,
            Some(Ok(None)) => later,
            Some(Err(why)) => {
                tracing::warn!(conversation = %one.conversation, %why, "a conversation is not summed up now");
                later
            }
        }
    }

    async fn begin(&self, mark: SummaryMark) -> Result<bool, ToolError> {
        let number = self.context.runtime.now().timestamp().div_euclid(86_400);
        let day = Day { number, most: self.settings.now().per_day.get().into() };
        self.context.storage.ledger.begin_summary(mark, day).await.map_err(unstored)
    }

    /// Asks for a summary and writes it; whether one stands there now.
    async fn written(&self, one: &SummaryGap) -> Result<Option<bool>, ToolError> {
        let ledger = &self.context.storage.ledger;
        let talk = ledger.talk_to_summarize(one.mark).await.map_err(unstored)?;
        let before = self.memory.summary(&one.conversation).await?;
        let lines = match question(&before, &talk.tasks) {
            Some(question) => {
                Some((self.asked(&one.conversation, &question).await?, question.level))
            }
            None => None,
        };
        let Some((Some(lines), level)) = lines else {
            // Nobody can make anything of it: it is not asked for again.
            ledger.end_summary(one.mark).await.map_err(unstored)?;
            return Ok(Some(false));
        };
        let new = NewSummary {
            conversation: one.conversation.clone(),
            mark: one.mark,
            lines,
            trust: talk.asked_by.unwrap_or(Trust::Stranger),
            level,
            at: self.context.runtime.now(),
        };
        self.memory.put_summary(new).await.map(Some)
    }

    /// Asks twice at most; nothing when the model does not keep to the letter.
    async fn asked(
        &self,
        conversation: &ConversationId,
        question: &Question,
    ) -> Result<Option<Vec<String>>, ToolError> {
        let mut text = question.text.clone();
        for _ in 0..2 {
            let spent = Meter::default();
            let said = self.model.ask(INSTRUCTION, &text, LIMIT, &spent).await;
            self.limits.used_unasked(conversation, spent.take());
            match answer(&said?) {
                Ok(lines) => {
                    let redactor = &self.context.runtime.redactor;
                    return Ok(Some(lines.iter().map(|line| redactor.clean(line)).collect()));
                }
                Err(fault) => {
                    tracing::debug!(%conversation, fault, "a summary cannot be used");
                    let asked = &question.text;
                    text = format!("{asked}\n\nYour last answer could not be used: {fault}.");
                }
            }
        }
        tracing::warn!(%conversation, "the model gives no summary that can be used: there is none of this talk");
        Ok(None)
    }

    /// Takes away summaries of what was taken back.
    async fn drop_stale(&self) -> Result<(), ()> {
        let ledger = &self.context.storage.ledger;
        let stale =
            ledger.stale_summaries().await.map_err(|error| self.context.storage.trouble(&error))?;
        for conversation in stale {
            if let Err(error) = self.memory.drop_summary(&conversation).await {
                tracing::error!(%conversation, %error, "a summary still contains what was taken back");
                return Err(());
            }
        }
        Ok(())
    }

    /// How long after the end of a task what rests is looked at.
    fn gap(&self) -> TimeDelta {
        let rest =
            self.settings.now().after().and_then(|after| after.to_std().ok()).unwrap_or(LOOKS);
        TimeDelta::from_std((rest / 2).min(LOOKS)).unwrap_or(SOON)
    }
}

fn sooner(one: Option<DateTime<Utc>>, other: DateTime<Utc>) -> Option<DateTime<Utc>> {
    Some(one.map_or(other, |one| one.min(other)))
}

fn unstored(error: StoreError) -> ToolError {
    ToolError::tell(format!("the store does not answer: {error}"))
}
