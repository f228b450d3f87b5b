//! One platform call of what is said, in the form in which it is stored.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ConversationId;
use crate::split;

/// The most that is shown, UTF-16 units.
const SHOWN: usize = 200;

/// One platform call, ready to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Version of this layout; see [`Part::VERSION`].
    pub v: u16,
    /// Where it goes.
    pub conversation: ConversationId,
    /// The call, in the channel's own words (opaque above the channel).
    pub call: Value,
    /// The same call in its plainest form, proven to fit, for when the platform refuses the first.
    pub fallback: Option<Value>,
    /// What a person will see, for logs, traces and the terminal; at most 200 characters.
    pub shown: String,
    /// It sets a state (a reaction, an edit): repeating it after an unclear result changes nothing.
    #[serde(default)]
    pub repeatable: bool,
    /// It asks somebody something: one answer settles all copies, so that it may be repeated with the mark,
    /// wherever it goes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
    /// It goes on from the part before it: it is made only when that has arrived, with its message; see
    /// [`crate::Sender::following`]. When that has not, it is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub follows: bool,
}

impl Part {
    /// The layout written today.
    pub const VERSION: u16 = 1;
    /// Stands before a text that may be there twice.
    pub const MARK: &str = "(possibly repeated)";

    /// Makes a part of a call, in whose plain words a person sees it.
    pub fn new(conversation: ConversationId, call: &impl Serialize, words: &str) -> Self {
        Self {
            v: Self::VERSION,
            conversation,
            // A call is plain fields: it always becomes JSON.
            call: serde_json::to_value(call).unwrap_or_default(),
            fallback: None,
            shown: shown(words),
            repeatable: false,
            asks: false,
            follows: false,
        }
    }

    /// Gives it a plainer form.
    #[must_use]
    pub fn or(self, fallback: Option<&impl Serialize>) -> Self {
        let fallback = fallback.and_then(|call| serde_json::to_value(call).ok());
        Self { fallback, ..self }
    }

    /// Puts a richer call before this one, which is then its plain form; a call that this version cannot read stays as
    /// it is.
    #[must_use]
    pub fn enriched<C: Serialize + DeserializeOwned>(&self, richer: impl FnOnce(C) -> C) -> Self {
        let read = serde_json::from_value(self.call.clone());
        match read.and_then(|call| serde_json::to_value(richer(call))) {
            Ok(call) => Self { call, fallback: Some(self.call.clone()), ..self.clone() },
            Err(_) => self.clone(),
        }
    }

    /// Says that repeating it changes nothing.
    #[must_use]
    pub fn repeatable(self) -> Self {
        Self { repeatable: true, ..self }
    }

    /// Changes the call and its plain form alike; a call that this version cannot read stays as it is.
    #[must_use]
    pub fn changed<C: Serialize + DeserializeOwned>(&self, change: impl Fn(&mut C)) -> Self {
        let apply = |value: &Value| {
            let mut call: C = serde_json::from_value(value.clone()).ok()?;
            change(&mut call);
            serde_json::to_value(call).ok()
        };
        let call = apply(&self.call).unwrap_or_else(|| self.call.clone());
        let fallback = self.fallback.as_ref().and_then(apply);
        Self { call, fallback, ..self.clone() }
    }

    /// Shows the mark, once.
    #[must_use]
    pub fn shown_marked(self) -> Self {
        if self.shown.starts_with(Self::MARK) {
            return self;
        }
        let shown = shown(&format!("{} {}", Self::MARK, self.shown));
        Self { shown, ..self }
    }
}

/// Returns what a log shows of a text.
fn shown(text: &str) -> String {
    let line = text.trim();
    if split::utf16_len(line) <= SHOWN {
        return line.to_owned();
    }
    let cut: String = line.chars().take(SHOWN - 1).collect();
    cut + "…"
}
