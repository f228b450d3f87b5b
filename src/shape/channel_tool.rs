//! A speaking tool of a channel, and where it is.

use std::sync::Arc;

use selkie_channel_core::{SpeakingEffect, SpeakingTool};

use crate::rules::rows;
use crate::views::Key;
use selkie_tools::refusals::{disabled, unset};
use selkie_tools::{Settings, Tool, speak};

/// A runtime tool of a channel, made once.
pub(super) struct ChannelTool {
    pub(super) channel: &'static str,
    pub(super) data: &'static SpeakingTool,
    pub(super) tool: Arc<Tool>,
    enabled: bool,
}

impl ChannelTool {
    pub(super) fn new(
        channel: &'static str,
        data: &'static SpeakingTool,
        settings: &Settings,
    ) -> Self {
        let group = if channel.is_empty() { "channels" } else { channel };
        let tool = speak::tool(data, group, settings);
        Self { channel, data, tool, enabled: speak::is_enabled(data, settings) }
    }

    /// Why a setting does not have it; `None` when it does.
    pub(super) fn why_not(&self, key: &Key<'_>, has_speech: bool) -> Option<String> {
        if !self.enabled {
            return Some(disabled(self.data.name));
        }
        if self.data.effect == SpeakingEffect::SayAloud && !has_speech {
            return Some(unset("speech"));
        }
        let here = key.features.filter(|f| self.channel.is_empty() || f.channel == self.channel);
        let listed = here.is_some_and(|f| f.speaking.iter().any(|name| name == self.data.name));
        if listed {
            // Recordings are paid for, unlike what else is said.
            let mut rules = rows(key.mask).map(|(_, rule)| rule);
            let rule = rules.find(|rule| rule.names.contains(&self.data.name));
            return rule.map(|rule| rule.reason.to_owned());
        }
        let place = key.features.map_or("cli".to_owned(), |f| format!("{}:{}", f.channel, f.kind));
        let whose = if self.channel.is_empty() { "some" } else { self.channel };
        Some(format!("a tool of {whose} conversations; this is {place}"))
    }
}
