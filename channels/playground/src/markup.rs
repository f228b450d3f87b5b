//! What a person sees of a platform's own markup: the text, and its styles as entities in Telegram's form.

use serde_json::Value;

use crate::control::mrkdwn;
use crate::telegram::html;

/// A text as a person sees it.
pub struct SeenText {
    /// The visible text.
    pub text: String,
    /// `[{type, offset, length, …}]`, in UTF-16 units.
    pub entities: Vec<Value>,
}

/// Reads Telegram's HTML.
///
/// # Errors
/// What follows `can't parse entities: ` in the refusal.
pub fn telegram(html: &str) -> Result<SeenText, String> {
    html::parse(html).map(|plain| SeenText { text: plain.text, entities: plain.entities })
}

/// Reads Slack's mrkdwn, but for quotes.
pub fn slack(text: &str) -> SeenText {
    let shown = mrkdwn::read(text, &|_| None);
    SeenText { text: shown.text, entities: shown.entities }
}
