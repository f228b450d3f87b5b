//! What everything between channels and agent is told, as config places it at its top level.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::delivery::settings::{OutboxSettings, ProgressSettings, StatusMode};
pub use crate::intake::gate::settings::GateSettings;
pub use crate::intake::heartbeat::settings::HeartbeatSettings;
pub use crate::work::agents::AgentSettings;
pub use crate::work::limits::settings::LimitSettings;
pub use crate::work::settings::{PlaceSettings, TriggerMode, WhileBusy, WorkerSettings};
pub use crate::work::workspace::WorkspaceSettings;
use selkie_domain::span::Span;

/// Apps send the pieces of what a person sends at once, such as a comment and what is forwarded with it, within this time.
pub const JOIN_WITHIN: Span = Span(Duration::from_millis(1_500));

/// Everything flow can be told by config. Each field is a top-level key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What becomes of a message that arrives while its conversation's task runs.
    pub while_busy: WhileBusy,
    /// Several messages of one speaker, none later than this after the one before, are one task. 0: each
    /// is its own.
    pub debounce: Span,
    /// How soon behind each other a speaker's messages are one request.
    pub join_within: Span,
    /// What somebody has to approve, and how long they are waited for.
    pub approvals: selkie_guard::policy::Settings,
    /// The workers.
    pub worker: WorkerSettings,
    /// What is said, until its receipt.
    pub outbox: OutboxSettings,
    /// Where files of private conversations live.
    pub workspace: WorkspaceSettings,
    /// How people are shown what a long task is doing.
    pub progress: ProgressSettings,
    /// Agents of one's own, by their names.
    pub agents: BTreeMap<String, AgentSettings>,
    /// What holds in single places, by their ids (`tg:-100123`).
    pub places: BTreeMap<String, PlaceSettings>,
    /// Keep what a group says without meaning the bot, as context for the next task there.
    pub record_untriggered: bool,
    /// When the bot speaks in a group although nobody spoke to it; `places.<id>` may say otherwise.
    pub group_trigger_mode: TriggerMode,
    /// How that is decided.
    pub gate: GateSettings,
    /// What the bot looks at by itself.
    pub heartbeat: HeartbeatSettings,
    /// How long what is stored is kept.
    pub store: selkie_store::settings::Settings,
    /// What people may use; owners are not held.
    pub limits: LimitSettings,
    /// How long an agent that has ended is known.
    pub keep_agents: Span,
    /// Whether strangers who write in private get a code by which an owner can let them in.
    pub pairing: Pairing,
}

/// What becomes of strangers who write to the bot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pairing {
    /// An owner is asked by a button whether they are let in.
    #[default]
    Button,
    /// They get a code, by which an owner lets them in.
    Ask,
    /// They read that the bot does not know them, and nobody hears of them.
    Off,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            while_busy: WhileBusy::default(),
            debounce: Span::seconds(0),
            join_within: JOIN_WITHIN,
            approvals: selkie_guard::policy::Settings::default(),
            worker: WorkerSettings::default(),
            outbox: OutboxSettings::default(),
            workspace: WorkspaceSettings::default(),
            progress: ProgressSettings::default(),
            agents: BTreeMap::new(),
            places: BTreeMap::new(),
            record_untriggered: true,
            group_trigger_mode: TriggerMode::default(),
            gate: GateSettings::default(),
            heartbeat: HeartbeatSettings::default(),
            store: selkie_store::settings::Settings::default(),
            limits: LimitSettings::default(),
            keep_agents: selkie_tools::agents::settings::Settings::default().keep,
            pairing: Pairing::default(),
        }
    }
}

impl Settings {
    /// What delivery is told.
    pub fn delivery(&self) -> crate::delivery::settings::Settings {
        crate::delivery::settings::Settings {
            outbox: self.outbox.clone(),
            progress: self.progress.clone(),
        }
    }

    /// Whether the gate has anything to decide anywhere.
    pub fn has_gate(&self) -> bool {
        let here = self.places.values().filter_map(|place| place.group_trigger_mode);
        here.chain([self.group_trigger_mode]).any(|mode| mode != TriggerMode::Strict)
    }
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
