//! The settings of flow, as config places them at its top level.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::span::Span;
use crate::flow::WorkspaceSettings;
pub use crate::flow::gate::settings::{GateSettings, TriggerMode};
pub use crate::flow::limits::settings::LimitSettings;

/// Everything flow can be told by config. Each field is a top-level key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What becomes of a message that arrives while its conversation's task runs.
    pub while_busy: WhileBusy,
    /// Several messages of one speaker, none later than this after the one before, are one task. 0: each
    /// is its own.
    pub debounce: Span,
    /// The workers.
    pub worker: WorkerSettings,
    /// What is said, until its receipt.
    pub outbox: OutboxSettings,
    /// Where files of private conversations live.
    pub workspace: WorkspaceSettings,
    /// How people are shown what a long task is doing.
    pub progress: ProgressSettings,
    /// What single places may do beyond their setting, by place key (`tg:-100123`).
    pub groups: BTreeMap<String, GroupSettings>,
    /// Keep what a group says without meaning the bot, as context for the next task there.
    pub record_untriggered: bool,
    /// When the bot speaks in a group although nobody spoke to it; `groups.<id>` may say otherwise.
    pub group_trigger_mode: TriggerMode,
    /// How that is decided.
    pub gate: GateSettings,
    /// How long what is stored is kept.
    pub store: crate::store::settings::Settings,
    /// What people may use; owners are not held.
    pub limits: LimitSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            while_busy: WhileBusy::default(),
            debounce: Span::seconds(0),
            worker: WorkerSettings::default(),
            outbox: OutboxSettings::default(),
            workspace: WorkspaceSettings::default(),
            progress: ProgressSettings::default(),
            groups: BTreeMap::new(),
            record_untriggered: true,
            group_trigger_mode: TriggerMode::default(),
            gate: GateSettings::default(),
            store: crate::store::settings::Settings::default(),
            limits: LimitSettings::default(),
        }
    }
}

impl Settings {
    /// When the bot speaks unasked in a place.
    pub fn trigger_mode(&self, place: &str) -> TriggerMode {
        let here = self.groups.get(place).and_then(|group| group.group_trigger_mode);
        here.unwrap_or(self.group_trigger_mode)
    }

    /// Whether the gate has anything to decide anywhere.
    pub fn has_gate(&self) -> bool {
        let here = self.groups.values().filter_map(|group| group.group_trigger_mode);
        here.chain([self.group_trigger_mode]).any(|mode| mode != TriggerMode::Strict)
    }
}

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

/// What is said, until its receipt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OutboxSettings {
    /// How long an unclear delivery rests before it is looked up, repeated with a mark, or left.
    pub unclear_after: Span,
    /// An answer that could not be delivered for so long expires.
    pub answer_expires: Span,
}

impl Default for OutboxSettings {
    fn default() -> Self {
        Self { unclear_after: Span::seconds(30), answer_expires: Span::seconds(24 * 3600) }
    }
}

/// How people are shown what a long task is doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProgressSettings {
    /// Whether a long task has a message that says what it is doing.
    pub status: StatusMode,
    /// A task that is quicker shows none.
    pub after: Span,
    /// Not more than one edit in this time.
    pub every: Span,
}

impl Default for ProgressSettings {
    fn default() -> Self {
        Self { status: StatusMode::default(), after: Span::seconds(4), every: Span::seconds(2) }
    }
}

/// Whether a long task has a message that says what it is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum StatusMode {
    /// Wherever the platform lets messages be changed.
    #[default]
    Auto,
    /// Never.
    Off,
}

/// What one place may do beyond its setting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GroupSettings {
    /// Tools and classes of tools that are open here although it is a group.
    pub allow: Vec<String>,
    /// When the bot speaks here although nobody spoke to it. Default: the key of the same name at the
    /// top.
    pub group_trigger_mode: Option<TriggerMode>,
    /// Other bots are answered when they speak to this one; `gate.bot_answers` ends it.
    pub bots: bool,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_section_is_the_default_and_unknown_keys_are_refused() {
        assert_eq!(serde_json::from_str::<Settings>("{}").unwrap(), Settings::default());
        assert!(serde_json::from_str::<Settings>(r#"{"workers": {}}"#).is_err());
        assert!(serde_json::from_str::<Settings>(r#"{"worker": {"max_concurrency": 0}}"#).is_err());
    }
}
