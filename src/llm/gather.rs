//! One question to a provider and its answer, from one document or from events: the same for every provider.

use serde::Serialize;
use serde_json::Value;

use crate::body::Events;
use crate::profile::Profile;
use crate::refusal::{IncompleteAnswer, ProviderRefusal};
use crate::wire::{GoodAnswer, Wire};
use crate::{OnText, Reply, StopReason};
use selkie_domain::usage::Usage;
use selkie_domain::written::TextProgress;

/// How a provider says that its model has come to its end, and wants nothing more.
const ENDS: [&str; 4] = ["stop", "end_turn", "stop_sequence", "completed"];

/// No answer asks for more calls than this.
pub(super) const MAX_CALLS: usize = 128;

/// An answer that is there.
pub(super) struct Whole {
    /// The answer; it may hold nothing.
    pub reply: Reply,
    /// The same in the provider's own form, where only that can read a part of it.
    pub own: Option<Value>,
    /// The provider's word for why it ended.
    pub word: String,
}

/// How one provider's answer is put together.
pub(super) trait Gather: Default {
    /// Takes a whole answer.
    fn take_whole(&mut self, answer: &Value, heard: &OnText<'_>);

    /// Takes one event of a stream. `torn`: see [`crate::halves::Event`].
    fn take(&mut self, event: &Value, torn: bool, heard: &OnText<'_>);

    /// Whether an event said that nothing follows.
    fn has_ended(&self) -> bool;

    /// What the provider counted so far.
    fn usage(&self) -> Usage;

    /// Ends the answer. `told`: the provider said that it is complete.
    ///
    /// # Errors
    /// Why it is none: cut streams are worth another try.
    fn finish(self, by: String, told: bool) -> Result<Whole, IncompleteAnswer>;
}

/// Asks once. `profile` answers, `may_end`: see [`crate::Request::may_end`].
///
/// # Errors
/// The provider's refusal, an answer that breaks off, or one that says nothing where it has to.
pub(super) async fn gather<G: Gather>(
    wire: &Wire,
    body: &impl Serialize,
    profile: &Profile,
    may_end: bool,
    heard: &OnText<'_>,
) -> Result<Reply, ProviderRefusal> {
    let mut gathered = G::default();
    heard(TextProgress::Begun);
    let told = match wire.post(body).await? {
        GoodAnswer::Whole(answer) => {
            if is_error(&answer) {
                return Err(wire.refused_inside(&answer));
            }
            gathered.take_whole(&answer, heard);
            true
        }
        GoodAnswer::Events(events) => {
            let listened = listen(wire, events, &mut gathered, heard).await;
            listened.map_err(|refused| refused.after(gathered.usage()))?
        }
    };
    let whole = gathered.finish(profile.by(), told);
    whole
        .and_then(|whole| whole.answers(profile, may_end))
        .map_err(|failed| wire.unfinished(failed))
}

impl Whole {
    /// The answer, if it is one: an empty one is where the model may end.
    fn answers(self, profile: &Profile, may_end: bool) -> Result<Reply, IncompleteAnswer> {
        let Self { mut reply, own, word } = self;
        let ends = may_end && reply.stopped.is_none() && ENDS.contains(&word.as_str());
        if !reply.is_empty() || ends {
            reply.own = own.filter(|_| !reply.calls.is_empty()).and_then(|own| profile.own(own));
            return Ok(reply);
        }
        let why = format!("an empty answer (it ended with {word:?})");
        Err(IncompleteAnswer { reason: StopReason::empty(reply.stopped), why, usage: reply.usage })
    }
}

/// Takes events until the answer is complete; whether the provider said so.
async fn listen(
    wire: &Wire,
    mut events: Events,
    gathered: &mut impl Gather,
    heard: &OnText<'_>,
) -> Result<bool, ProviderRefusal> {
    while let Some(event) = events.next().await.map_err(|e| wire.broken(&e))? {
        let is_done = event.data.trim() == "[DONE]";
        let read = if is_done { None } else { wire.read(&event)? };
        if let Some(read) = read {
            if is_error(&read.value) {
                return Err(wire.refused_inside(&read.value));
            }
            gathered.take(&read.value, read.torn, heard);
        }
        if is_done || gathered.has_ended() {
            events.drain().await;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether an answer is an error in disguise.
fn is_error(answer: &Value) -> bool {
    let is_named = matches!(answer["type"].as_str(), Some("error" | "response.failed"))
        || answer["object"] == "error";
    is_named || answer.get("error").is_some_and(|e| !e.is_null())
}
