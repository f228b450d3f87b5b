//! Bodies with an end: a request's is whole in time or an error, an answer's keeps its seat until it is out.

use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use tokio::time::{Sleep, sleep};

use super::seats::Busy;

/// A request's body that is an error when it is not whole in time.
pub(super) struct InTime {
    body: Incoming,
    deadline: Pin<Box<Sleep>>,
    late: bool,
    /// Told when the body is whole; a handler that keeps the body keeps no seat with it.
    busy: Weak<Busy>,
}

impl InTime {
    pub(super) fn new(body: Incoming, within: Duration, busy: &Arc<Busy>) -> Self {
        let deadline = Box::pin(sleep(within));
        let body = Self { body, deadline, late: false, busy: Arc::downgrade(busy) };
        body.look(false);
        body
    }

    fn look(&self, ended: bool) {
        if (ended || self.body.is_end_stream())
            && let Some(busy) = self.busy.upgrade()
        {
            busy.whole();
        }
    }
}

impl HttpBody for InTime {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.late {
            return Poll::Ready(None);
        }
        // The deadline first: a client that always has one more byte does not put it off.
        if self.deadline.as_mut().poll(cx).is_ready() {
            self.late = true;
            return Poll::Ready(Some(Err("the body did not arrive in time".into())));
        }
        let polled = Pin::new(&mut self.body).poll_frame(cx).map_err(Into::into);
        if polled.is_ready() {
            self.look(matches!(polled, Poll::Ready(None)));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.late || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// An answer's body that keeps its connection's seat.
pub(super) struct SeatedBody {
    body: Body,
    _busy: Arc<Busy>,
}

impl SeatedBody {
    pub(super) fn new(body: Body, busy: Arc<Busy>) -> Self {
        Self { body, _busy: busy }
    }
}

impl HttpBody for SeatedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
