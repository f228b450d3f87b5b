//! What work is told by config: its workers, what a message does to a task that runs, what single places may do.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use schemars::JsonSchema;
use selkie_channel_core::{ConversationId, PlaceId};
use serde::{Deserialize, Serialize};

use selkie_domain::effort::Effort;

/// The workers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkerSettings {
    /// How many tasks run at once, in all conversations together. Where there are owners, one of them is
    /// always an owner's, when it is not 1.
    pub max_concurrency: NonZeroUsize,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self { max_concurrency: const { NonZeroUsize::new(16).unwrap() } }
    }
}

/// What workers keep to with every task.
#[derive(Clone, Debug)]
pub struct AnswerSettings {
    /// What becomes of a message that arrives while its conversation's task runs.
    pub while_busy: WhileBusy,
    /// How long requests to allow a call stay open.
    pub approvals: selkie_guard::policy::Settings,
    /// Answers to other bots in a row, without a person's line between them.
    pub bot_answers: u32,
}

/// What holds in one place: a group, a private chat, or a topic or thread of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PlaceSettings {
    /// Tools and classes of tools that are open here although it is a group.
    pub allow: Vec<String>,
    /// When the bot speaks here although nobody spoke to it. Default: the key of the same name at the
    /// top.
    pub group_trigger_mode: Option<TriggerMode>,
    /// Other bots are answered when they speak to this one; `gate.bot_answers` ends it.
    pub bots: bool,
    /// The profile that answers here. Default: the route `main`.
    pub model: Option<String>,
    /// How hard it thinks here. Default: what the route says.
    pub effort: Option<Effort>,
    /// The agent that answers here (`agents.<name>`).
    pub agent: Option<String>,
    /// Whether answers to voice messages are said aloud, too, where `speech` is configured. Default: text.
    pub voice: Option<AnswerVoice>,
}

/// How voice messages are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum AnswerVoice {
    /// In writing.
    Text,
    /// In writing, and behind it as a recording.
    InKind,
}

impl PlaceSettings {
    /// Returns what holds in a conversation: its own entry says what it names, its chat's the rest.
    pub fn of(
        places: &BTreeMap<String, Self>,
        conversation: &ConversationId,
        place: &PlaceId,
    ) -> Self {
        let chat = places.get(place.key());
        let own = places.get(conversation.key()).filter(|_| conversation.key() != place.key());
        match (own, chat) {
            (Some(own), Some(chat)) => own.clone().or(chat),
            (own, chat) => own.or(chat).cloned().unwrap_or_default(),
        }
    }

    fn or(self, chat: &Self) -> Self {
        Self {
            allow: if self.allow.is_empty() { chat.allow.clone() } else { self.allow },
            group_trigger_mode: self.group_trigger_mode.or(chat.group_trigger_mode),
            bots: self.bots || chat.bots,
            model: self.model.or_else(|| chat.model.clone()),
            effort: self.effort.or(chat.effort),
            agent: self.agent.or_else(|| chat.agent.clone()),
            voice: self.voice.or(chat.voice),
        }
    }
}

/// What becomes of a message that arrives while its conversation's task runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum WhileBusy {
    /// It waits in its lane.
    #[default]
    Queue,
    /// The running task sees it before its next model call, when it says no more than that task may.
    Steer,
    /// It stops the running task, when that is the speaker's own, and is the next.
    Interrupt,
}

/// When the bot speaks in a group although nobody spoke to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum TriggerMode {
    /// Never.
    #[default]
    Strict,
    /// When it is meant all the same.
    Smart,
    /// When it has something to say.
    Talkative,
}

#[cfg(test)]
mod tests {
    use selkie_channel_core::AccountId;

    use super::*;

    #[test]
    fn a_topic_goes_before_its_chat_in_what_it_names() {
        let places: BTreeMap<String, PlaceSettings> = serde_json::from_value(serde_json::json!({
            "tg:-1": { "allow": ["exec"], "model": "quick", "effort": "low" },
            "tg:-1:7": { "model": "strong" },
            "tg:-2:7": { "effort": "max" },
        }))
        .unwrap();
        let of = |conversation: &str, place: &str| {
            let account = AccountId::new("tg:8");
            let conversation = ConversationId::new(account.clone(), conversation);
            let here = PlaceSettings::of(&places, &conversation, &PlaceId::new(account, place));
            (here.allow.len(), here.model.unwrap_or_default(), here.effort)
        };
        let (quick, strong) = ("quick".to_owned(), "strong".to_owned());
        assert_eq!(of("tg:-1", "tg:-1"), (1, quick.clone(), Some(Effort::Low)));
        assert_eq!(of("tg:-1:8", "tg:-1"), (1, quick, Some(Effort::Low)));
        assert_eq!(of("tg:-1:7", "tg:-1"), (1, strong, Some(Effort::Low)));
        assert_eq!(of("tg:-2:7", "tg:-2"), (0, String::new(), Some(Effort::Max)));
        assert_eq!(of("tg:5", "tg:5"), (0, String::new(), None));
    }
}
