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

#[derive(Default)]
pub(crate) struct OpenCalls(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    is_over: bool,
    calls: HashMap<u64, OpenCall>,
}

struct OpenCall {
    answer: oneshot::Sender<Reply>,
    progress: Option<ProgressTeller>,
}

impl OpenCalls {
    /// Opens one; nothing where there are no more answers.
    pub(crate) fn open(
        &self,
        id: u64,
        progress: Option<&Arc<dyn Progress>>,
    ) -> Option<oneshot::Receiver<Reply>> {
        let mut inner = locked(&self.0);
        if inner.is_over {
            return None;
        }
        let (answer, receiver) = oneshot::channel();
        let progress = progress.map(ProgressTeller::new);
        inner.calls.insert(id, OpenCall { answer, progress });
        Some(receiver)
    }

    /// Gives one its answer. One that nobody waits for, or not any more, is nobody's.
    pub(crate) fn answer(&self, id: u64, answer: Reply) {
        let call = locked(&self.0).calls.remove(&id);
        call.map(|call| call.answer.send(answer).ok());
    }

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

    pub(crate) fn end(&self) {
        locked(&self.0).is_over = true;
    }

    pub(crate) fn answer_all(&self, error: &McpError) {
        for call in std::mem::take(&mut locked(&self.0).calls).into_values() {
            call.answer.send(Err(error.clone())).ok();
        }
    }
}
