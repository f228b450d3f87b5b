//! One question to the model: what it writes is told, what it took is counted.

use std::sync::Arc;
use std::time::Duration;

use selkie_channel_core::locked;
use tokio::time::Instant;

use super::Drive;
use crate::patience::Patience;
use crate::run::AskModel;
use crate::telling::AnswerNotice;
use crate::{DropReason, pictures};
use selkie_domain::course::{Kind, Step};
use selkie_domain::crash::CrashPoint;
use selkie_domain::event::Event;
use selkie_domain::metrics::Phase;
use selkie_domain::written::TextProgress;
use selkie_llm::{AskError, ModelError};

/// A call that fails so shortly before the end of its task's time has failed for want of time.
const LAST_MOMENT: Duration = Duration::from_millis(50);

impl Drive<'_> {
    /// Asks.
    pub(super) async fn ask(&mut self, ask: AskModel) -> Result<(), DropReason> {
        self.run.reads(self.facts.taint);
        let mut request = self.request(ask);
        if self.model.card().sees_images {
            request.pictures = pictures::load(&request.turns).await;
        }
        let claimed = self.task.claimed;
        let task = claimed.claim.task;
        let conversation = || claimed.conversation.clone();
        let step = ask.step;
        self.agent.events.emit(|| Event::Asked { conversation: conversation(), task, step });
        let patience = Patience::begin();
        let began = Instant::now();
        let at = self.agent.clock.now();
        let progress = (self.task.scope)(&self.facts, "").progress;
        let events = &self.agent.events;
        let redactor = &self.agent.redactor;
        let telling = AnswerNotice::new(events, redactor, Arc::clone(&progress), task);
        let heard = |written: TextProgress<'_>| {
            if matches!(written, TextProgress::More(_)) {
                patience.heard();
            }
            telling.hear(written);
        };
        let asked = self.model.ask(&request, &heard);
        let reply = tokio::select! {
            biased;
            () = self.task.cancel.cancelled() => return self.cancelled().await,
            // An answer to half of a request is none: the next call reads all of it.
            () = self.task.inflow.joins(), if step == 1 => return Ok(()),
            reply = patience.wait(asked, &progress) => reply,
        };
        telling.end();
        let metrics = &self.agent.metrics;
        metrics.took(Phase::Model, began.elapsed());
        let (by, usage) = match &reply {
            Ok(reply) => (reply.by.clone(), reply.usage),
            Err(failed) => (self.model.card().name.clone(), failed.usage),
        };
        let kind = Kind::Model { by, usage };
        let took = began.elapsed();
        locked(&self.course).note(Step { kind, at, took, is_well: reply.is_ok() });
        self.agent.crash.hit(CrashPoint::AfterModel);
        match reply {
            Ok(reply) => {
                metrics.model(true, reply.usage);
                self.replied(reply, began.elapsed()).await
            }
            Err(AskError { error, usage }) => {
                metrics.model(false, usage);
                self.run.spent(usage);
                // What ends with the task's own time is ended by that limit, and says so.
                match self.time_left() {
                    left if left <= LAST_MOMENT => self.run.out_of_time(),
                    _ => self.refused(&error),
                }
                Ok(())
            }
        }
    }

    fn refused(&mut self, error: &ModelError) {
        let task = self.task.claimed.claim.task;
        tracing::warn!(%task, error = %self.agent.redactor.clean(&error.to_string()), "the model gave no answer");
        let has_history = !self.task.claimed.history.is_empty();
        self.run.refused(error, has_history);
    }
}
