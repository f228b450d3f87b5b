//! What tests and the demo see of the emulated LINE.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

/// A message in a chat.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineMessage {
    /// LINE's id, a number as text.
    pub id: String,
    /// Who wrote it; `None` for the bot.
    pub from: Option<String>,
    /// Its text; for other kinds what kind it is.
    pub text: String,
    /// The message it quotes.
    pub quote: Option<String>,
    /// When it was posted.
    pub at: DateTime<Utc>,
    /// How it came.
    pub via: Via,
    /// Its buttons: of a card, which stay, or quick replies, which go with the next message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buttons: Vec<LineButton>,
    /// For a reply: the message whose token it used.
    pub answers: Option<String>,
}

/// A button under a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineButton {
    /// What stands on it.
    pub label: String,
    /// What a tap brings to the bot.
    pub data: String,
    /// What the chat then shows the person to have said.
    pub display: String,
    /// It goes with the next message.
    pub quick: bool,
}

/// How a message came into its chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// A person wrote it.
    Person,
    /// The bot, free of charge.
    Reply,
    /// The bot, counted per recipient.
    Push,
}

/// One call of the bot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineCall {
    /// `reply`, `push`, `loading`, `quota`, `consumption`, `profile`, `member`, `summary`, `count`, `info`,
    /// `content`, `transcoding`.
    pub method: String,
    /// The body, or null.
    pub body: Value,
    /// The `X-Line-Retry-Key`.
    pub retry_key: Option<String>,
    /// The status it was answered with; 0 when the connection was cut.
    pub status: u16,
}
