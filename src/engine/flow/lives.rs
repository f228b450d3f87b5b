//! What of the rooms a reload of the config puts others in the place of, each where it is used.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::flow::parts::SummaryConfig;
use crate::flow::rooms::Rooms;
use crate::intake::policy::RuleSettings;
use crate::intake::settings::{
    GateSettings, HeartbeatSettings, LimitSettings, Pairing, PlaceSettings, Settings,
};
use crate::work::agents::Agents;
use crate::work::runner::AgentRunner;
use crate::work::settings::AnswerSettings;
use crate::work::studio::Studio;
use crate::work::voice_settings::VoiceConfig;
use crate::work::workspace::Workspaces;
use selkie_domain::live::Live;
use selkie_llm::{Model, ModelList};
use selkie_memory::SummarySettings;
use selkie_store::settings::Retention;
use selkie_tools::PictureKeeper;
use selkie_tools::ports::Small;

/// The rooms hold clones of these.
pub struct Lives {
    pub(super) places: Live<BTreeMap<String, PlaceSettings>>,
    pub(super) rules: Live<RuleSettings>,
    pub(super) answers: Live<AnswerSettings>,
    pub(super) limits: Live<LimitSettings>,
    pub(super) studio: Arc<Studio>,
    pub(super) gate: Live<GateSettings>,
    pub(super) retention: Live<Retention>,
    pub(super) pairing: Live<Pairing>,
    pub(super) heartbeat: Live<HeartbeatSettings>,
    pub workspaces: Live<Workspaces>,
    pub(super) decision: Live<dyn Model>,
    pub(super) models: Live<ModelList>,
    pub(super) agents: Live<Agents>,
    pub(super) sees: Live<Option<PictureKeeper>>,
    pub(super) voice: Live<Option<VoiceConfig>>,
    pub(super) summing: Option<LiveSumming>,
    /// None in tests of other things.
    pub(super) runner: Option<Live<AgentRunner>>,
}

/// Who sums up conversations, and when.
#[derive(Clone)]
pub(super) struct LiveSumming {
    pub(super) model: Live<dyn Small>,
    pub(super) settings: Live<SummarySettings>,
}

impl Lives {
    pub(super) fn of(rooms: &Rooms) -> Self {
        let settings = &rooms.settings;
        let summing = |SummaryConfig { model, settings }: &SummaryConfig| LiveSumming {
            model: Live::of(Arc::clone(model)),
            settings: Live::of(*settings),
        };
        Self {
            places: rooms.rights.places.clone(),
            rules: Live::of(rules(settings)),
            answers: Live::of(answers(settings)),
            limits: rooms.studio.limits().settings().clone(),
            studio: Arc::clone(&rooms.studio),
            gate: Live::of(settings.gate),
            retention: Live::of(settings.store.retention.clone()),
            pairing: Live::of(settings.pairing),
            heartbeat: Live::of(settings.heartbeat.clone()),
            workspaces: Live::of(rooms.workspaces.clone()),
            decision: Live::of(Arc::clone(&rooms.decision)),
            models: Live::of(rooms.models.clone()),
            agents: rooms.agents.own.clone(),
            sees: Live::of(rooms.sees.clone()),
            voice: Live::of(rooms.voice.clone()),
            summing: rooms.summing.as_ref().map(summing),
            runner: rooms.live.clone(),
        }
    }

    /// Puts settings in the place of those of before.
    pub(super) fn put(&self, settings: &Settings) {
        self.places.put(settings.places.clone());
        self.agents.put(Agents::of(&settings.agents, &self.workspaces.now().state_dir));
        self.rules.put(rules(settings));
        self.answers.put(answers(settings));
        self.limits.put(settings.limits.clone());
        self.gate.put(settings.gate);
        self.retention.put(settings.store.retention.clone());
        self.pairing.put(settings.pairing);
        self.heartbeat.put(settings.heartbeat.clone());
    }
}

/// What becomes of messages.
fn rules(settings: &Settings) -> RuleSettings {
    RuleSettings {
        record_untriggered: settings.record_untriggered,
        debounce: settings.debounce,
        join_within: settings.join_within,
        while_busy: settings.while_busy,
        mode: settings.group_trigger_mode,
    }
}

/// What workers keep to.
fn answers(settings: &Settings) -> AnswerSettings {
    AnswerSettings {
        while_busy: settings.while_busy,
        approvals: settings.approvals.clone(),
        bot_answers: settings.gate.bot_answers,
    }
}
