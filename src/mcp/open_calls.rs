//! The requests of one program that have no answer yet, by their numbers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use selkie_channel_core::locked;
use selkie_tools::ports::Progress;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::error::McpError;
use crate::news::{ProgressNews, ProgressTeller};

/// What a request comes to.
pub(crate) type Reply = Result<Box<RawValue>, McpError>;

/// Requests that are waited for.
#[derive(Default)]
pub(crate) struct OpenCalls(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// Why no more can be opened.
    end: Option<McpError>,
    calls: HashMap<u64, OpenCall>,
}

struct OpenCall {
    answer: oneshot::Sender<Reply>,
    progress: Option<ProgressTeller>,
}

impl OpenCalls {
    /// Opens one.
    pub(crate) fn open(
        &self,
        id: u64,
        progress: Option<&Arc<dyn Progress>>,
    ) -> Result<oneshot::Receiver<Reply>, McpError> {
        let mut inner = locked(&self.0);
        if let Some(end) = &inner.end {
            return Err(end.clone());
        }
        let (answer, receiver) = oneshot::channel();
        let progress = progress.map(ProgressTeller::new);
        inner.calls.insert(id, OpenCall { answer, progress });
        Ok(receiver)
    }

    /// Gives one its answer. One that nobody waits for, or not any more, is nobody's.
    pub(crate) fn answer(&self, id: u64, answer: Reply) {
        let call = locked(&self.0).calls.remove(&id);
        call.map(|call| call.answer.send(answer).ok());
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

    /// Opens no more, and gives those that are open an answer, where there is one for them.
    pub(crate) fn end(&self, open: Option<&McpError>, later: McpError) {
        let mut inner = locked(&self.0);
        inner.end = Some(later);
        if let Some(error) = open {
            for call in std::mem::take(&mut inner.calls).into_values() {
                call.answer.send(Err(error.clone())).ok();
            }
        }
    }
}
