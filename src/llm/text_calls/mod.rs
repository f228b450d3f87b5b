//! A model that writes its calls as text: they are made where nobody else can have put them there, and shown to nobody.

mod block;
mod harmony;
mod read;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;

pub(super) use self::block::MAX_LENGTH;
pub(super) use self::read::BEGINNINGS;
use self::read::Parts;
use crate::{AskError, Card, Model, ModelError, OnText, Reason, Reply, Request};
use selkie_domain::tool::{Class, named_in};
use selkie_domain::transcript::Turn;

/// For the model, when its calls were not made.
const AGAIN: &str = "[Your last answer held a tool call written as text. It was not made, and nobody has seen it. Call tools \
    with the calls of this API, or answer in words.]";

/// A model whose calls in text are read.
pub(super) struct TextCalls {
    inner: Arc<dyn Model>,
    /// It has made a call as it should: what it writes as text is none.
    calls_natively: AtomicBool,
}

impl TextCalls {
    /// Wraps `inner`.
    pub fn new(inner: Arc<dyn Model>) -> Self {
        Self { inner, calls_natively: AtomicBool::new(false) }
    }

    /// The answer as people may read it; nothing where calls in it are not made.
    fn judged(&self, reply: &mut Reply, request: &Request) -> TextCallVerdict {
        if !reply.calls.is_empty() {
            self.calls_natively.store(true, Ordering::Relaxed);
        }
        let Some(parts) = read::read(&reply.text) else { return TextCallVerdict::Fine };
        let has_calls = parts.is_broken || !parts.calls.is_empty();
        let may = reply.calls.is_empty() && reply.stopped.is_none();
        if has_calls && may && self.may_call(&parts, request) {
            reply.text.clear();
            reply.calls = parts.calls;
            return TextCallVerdict::Fine;
        }
        parts.words.trim().clone_into(&mut reply.text);
        // Beside calls that are made, nobody misses those that are not.
        if has_calls && reply.calls.is_empty() {
            TextCallVerdict::Hidden
        } else {
            TextCallVerdict::Fine
        }
    }

    /// Whether the model alone can have meant these calls.
    fn may_call(&self, parts: &Parts, request: &Request) -> bool {
        // What changes something or leaves this machine is asked for with the calls of the API alone: the words may be
        // somebody else's all the same, spelt in another way.
        let looks = request.tools.specs().iter().filter(|spec| spec.class == Class::Read);
        let names: Vec<&str> = looks.map(|spec| spec.name).collect();
        let listed = |name: &str| named_in(name, names.iter().copied()).is_some();
        request.may_call
            && !parts.is_broken
            && parts.words.trim().is_empty()
            && !self.calls_natively.load(Ordering::Relaxed)
            && parts.calls.iter().all(|call| listed(&call.name))
            && !parts.written.iter().any(|written| stands_in(written, request))
    }
}

/// What became of an answer.
#[derive(PartialEq, Eq)]
enum TextCallVerdict {
    /// It is one.
    Fine,
    /// There were calls in it, and they are not made.
    Hidden,
}

#[async_trait]
impl Model for TextCalls {
    async fn ask(&self, request: &Request, heard: &OnText<'_>) -> Result<Reply, AskError> {
        let mut first = self.inner.ask(request, heard).await?;
        let written = first.text.clone();
        if self.judged(&mut first, request) == TextCallVerdict::Fine {
            return answer(first, request);
        }
        tracing::info!(by = first.by, "a model wrote a call as text: it is asked again");
        let mut again = request.clone();
        let end = written.floor_char_boundary(MAX_LENGTH);
        again.turns.push(Turn::Assistant(written[..end].to_owned()));
        again.turns.push(Turn::User(AGAIN.to_owned()));
        let asked = self.inner.ask(&again, heard).await;
        let mut second = asked.map_err(|mut failed| {
            failed.usage.add(first.usage);
            failed
        })?;
        second.usage.add(first.usage);
        let written = second.text.clone();
        if self.judged(&mut second, request) == TextCallVerdict::Hidden && read::is_prose(&written)
        {
            second.text = written;
        }
        answer(second, request)
    }

    fn card(&self) -> Card {
        self.inner.card()
    }

    fn inner(&self) -> Option<&dyn Model> {
        Some(&*self.inner)
    }
}

/// An answer, unless nothing is left of it.
fn answer(reply: Reply, request: &Request) -> Result<Reply, AskError> {
    if !reply.is_empty() || request.may_end {
        return Ok(reply);
    }
    let why = "the answer holds calls as text alone".to_owned();
    let error = ModelError::Transient { why, reason: Reason::Empty, retry_after: None };
    Err(AskError { error, usage: reply.usage })
}

/// Whether somebody's words in the request hold this text: then they may have asked for it.
fn stands_in(written: &str, request: &Request) -> bool {
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let written = bare(written);
    let holds = |text: &str| bare(text).contains(&written);
    holds(&request.system)
        || request.turns.iter().any(|turn| match turn {
            Turn::User(text) | Turn::Assistant(text) | Turn::Shown { text, .. } => holds(text),
            Turn::Calls { text, calls, .. } => {
                holds(text) || calls.iter().any(|(_, answer)| holds(&answer.text))
            }
        })
}
