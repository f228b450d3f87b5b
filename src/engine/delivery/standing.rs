//! Where the message stands that shows the beginning of an answer.

use std::time::Duration;

use tokio::time::Instant;

use crate::delivery::doubt::{Doubt, LookupResult};
use crate::delivery::status_calls::{Stand, StatusCalls};
use selkie_store::StatusNote;

/// Whoever looked at what was written before a tool was called looks elsewhere after so long: the answer comes as a new
/// message, which is heard.
const LOOKED_AT: Duration = Duration::from_secs(30);

/// A message that shows the beginning of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PreviewMessage {
    pub(super) stand: Stand,
    /// When it was sent, by this claim, and by which answer of the model.
    pub(super) sent: Option<SentPreview>,
    /// The platform does not let it be changed.
    pub(super) is_stuck: bool,
    /// Nobody knows yet whether it stands.
    pub(super) doubt: Option<Doubt>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SentPreview {
    pub(super) at: Instant,
    pub(super) answer: u32,
}

impl PreviewMessage {
    pub(super) fn of(stand: Stand) -> Self {
        Self { stand, sent: None, is_stuck: false, doubt: None }
    }

    /// As an earlier life has noted it: what was about to be sent then may stand.
    pub(super) fn recalled(noted: Option<StatusNote>) -> Self {
        let stand = Stand::of(noted.as_ref());
        let doubt = noted.filter(|_| stand == Stand::Gone).and_then(|noted| noted.part);
        Self { doubt: doubt.map(Doubt::of), ..Self::of(stand) }
    }

    /// Nothing more of it is shown.
    pub(super) fn is_closed(&self) -> bool {
        self.is_stuck || (self.stand == Stand::Gone && self.doubt.is_none())
    }

    /// Whether whoever reads it is still looking when the model has begun so many answers.
    pub(super) fn is_looked_at(&self, answers: u32) -> bool {
        let is_recent =
            self.sent.is_none_or(|sent| sent.answer == answers || sent.at.elapsed() < LOOKED_AT);
        is_recent && !self.is_stuck
    }

    /// Looks for the last time where it stands, when that is in doubt.
    pub(super) async fn look_for(&mut self, calls: &StatusCalls<'_>) {
        let Some(doubt) = self.doubt.take() else { return };
        match doubt.last_look(calls).await {
            LookupResult::At(message) => self.stand = Stand::At(message),
            LookupResult::NotYet(doubt) => self.doubt = Some(doubt),
            LookupResult::Never => {}
        }
    }
}

/// What the message shows.
pub(super) struct ShownText {
    pub(super) call: serde_json::Value,
    /// The first call sends it, the others change it.
    pub(super) text: String,
}

impl ShownText {
    /// Whether a call would change nothing of it. Of a long text the message shows the beginning alone.
    pub(super) fn is(&self, call: &serde_json::Value, text: &str) -> bool {
        self.call == *call || self.text == text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_sent_is_not_changed_into_itself() {
        let sent = json!({ "send": "The water …" });
        let shown = ShownText { call: sent.clone(), text: "The water".to_owned() };
        assert!(
            shown.is(&json!({ "edit": "The water …" }), "The water"),
            "another call, the same words"
        );
        assert!(shown.is(&sent, "The water and more than fits"));
        assert!(!shown.is(&json!({ "edit": "The water will …" }), "The water will"));
    }
}
