//! What the bot has said that stands in no transcript: why it was said, and what became of it.

use chrono::{DateTime, Utc};
use selkie_channel_core::Outbound;
use serde::Serialize;

use crate::delivery::DeliveryState;
use selkie_domain::ids::{InboxId, OutboundId, ScheduleId, TaskId};

/// Something that was said.
#[derive(Clone, Debug)]
pub struct Utterance {
    /// The row.
    pub id: OutboundId,
    /// When it was stored.
    pub at: DateTime<Utc>,
    /// Why it was said.
    pub said_for: SpokenFor,
    /// What.
    pub outbound: Outbound,
    /// In words.
    pub text: String,
    /// Where it stands.
    pub standing: DeliveryState,
}

/// A schedule, where its words are told: they are its own, and nobody typed them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedSchedule {
    /// Which.
    pub id: ScheduleId,
    /// What people call it; empty when it is not kept any more.
    pub name: String,
}

impl std::fmt::Display for NamedSchedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name.as_str() {
            "" => write!(f, "schedule {}", self.id),
            name => write!(f, "schedule {} “{name}”", self.id),
        }
    }
}

/// Why something was said that stands in no transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum SpokenFor {
    /// It answers a command, by the command's row.
    Command {
        /// The row.
        inbox: InboxId,
    },
    /// A task asks a question, sends a file, or has an owner asked for approval.
    Task {
        /// The task.
        task: TaskId,
        /// It is one of another conversation, which asks an owner for approval.
        elsewhere: bool,
    },
    /// The owner said it at the command line.
    Say,
    /// A schedule posts it.
    Schedule {
        /// The schedule.
        schedule: NamedSchedule,
    },
    /// Selkie tells it of its own accord.
    Notice {
        /// What it is about.
        about: &'static str,
    },
}

impl SpokenFor {
    /// Reads why it was said out of the key that lets it be said once. The key itself is told to nobody: it may hold a
    /// pairing code.
    pub fn of_notice(key: Option<&str>) -> Self {
        let key = key.unwrap_or_default();
        let kind = key.strip_prefix("notice:").unwrap_or(key).split(':').next();
        let about = match kind.unwrap_or_default() {
            "say" => return Self::Say,
            // A command that was typed at the command line, and what became of a post.
            "" => "what was asked for here",
            "hint" => "who was not on the allow list",
            "pairing" | "paired" => "pairing",
            "approval" => "a request for approval",
            "question" => "a question",
            "reminder" | "todo" => "something to be done",
            "schedule" | "heartbeat" | "ahead" => "a schedule",
            "post" => "a post",
            "limit" => "a limit that was reached",
            "held" | "cut" | "unclear" => "an answer that did not arrive as a whole",
            "moved" => "a chat with a new id",
            "voice" => "a voice message",
            "contact" => "a name that somebody else has now",
            _ => "how selkie is doing",
        };
        Self::Notice { about }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_says_what_a_notice_is_about_and_nothing_else() {
        let about = |key: &str| match SpokenFor::of_notice(Some(key)) {
            SpokenFor::Notice { about } => about,
            other => panic!("{other:?}"),
        };
        assert_eq!(about("pairing:tg:4712:ab3defgh:in"), "pairing");
        assert_eq!(about("notice:schedule:3:2026-11-24"), "a schedule");
        assert_eq!(about("cost:2026-11-24"), "how selkie is doing");
        assert_eq!(SpokenFor::of_notice(Some("say:tg|tg:1:5:x")), SpokenFor::Say);
    }
}
