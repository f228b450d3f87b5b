//! The requests of one connection that have no answer yet, by their numbers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use selkie_channel_core::locked;
use selkie_tools::ports::Progress;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::error::McpError;
use crate::progress::{ProgressNews, ProgressTeller};

/// What a request comes to.
pub(crate) type Answered = Result<Box<RawValue>, McpError>;

/// Requests that are waited for.
#[derive(Default)]
pub(crate) struct OpenCalls(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// Why there are no more answers.
    end: Option<McpError>,
    calls: HashMap<u64, OpenCall>,
}

struct OpenCall {
    answer: oneshot::Sender<Answered>,
    progress: Option<ProgressTeller>,
}

impl OpenCalls {
    /// Opens one.
    ///
    /// # Errors
    /// There are no more answers.
    pub(crate) fn open(
        &self,
        id: u64,
        progress: Option<&Arc<dyn Progress>>,
    ) -> Result<oneshot::Receiver<Answered>, McpError> {
        let mut inner = locked(&self.0);
        if let Some(end) = &inner.end {
            return Err(end.clone());
        }
        let (answer, receiver) = oneshot::channel();
        let progress = progress.map(ProgressTeller::new);
        inner.calls.insert(id, OpenCall { answer, progress });
        Ok(receiver)
    }

    /// Gives one its answer; whether anybody has waited for it.
    pub(crate) fn answer(&self, id: u64, answer: Answered) -> bool {
        let call = locked(&self.0).calls.remove(&id);
        call.is_some_and(|call| call.answer.send(answer).is_ok())
    }

    /// Tells how far one is.
    pub(crate) fn tell(&self, news: &ProgressNews) {
        let mut inner = locked(&self.0);
        let call = inner.calls.get_mut(&news.progress_token);
        if let Some(progress) = call.and_then(|call| call.progress.as_mut()) {
            progress.tell(news);
        }
    }

    /// Forgets one; whether it was still open.
    pub(crate) fn close(&self, id: u64) -> bool {
        locked(&self.0).calls.remove(&id).is_some()
    }

    /// Gives all of them this answer, and every one that is opened later the second.
    pub(crate) fn end(&self, open: &McpError, later: McpError) {
        let mut inner = locked(&self.0);
        inner.end = Some(later);
        let calls = std::mem::take(&mut inner.calls);
        drop(inner);
        for call in calls.into_values() {
            call.answer.send(Err(open.clone())).ok();
        }
    }

    /// Opens no more; those that are open go on waiting.
    pub(crate) fn shut(&self, later: McpError) {
        locked(&self.0).end.get_or_insert(later);
    }
}
