//! A setting in words: for the policy, and for people.

use selkie_channel_core::Audience;

use selkie_domain::facts::{Facts, Mode, Trigger};
use selkie_guard::policy;

/// A setting in the words of the policy.
pub(super) fn in_words<'a>(facts: &Facts, place: &'a str) -> policy::Setting<'a> {
    policy::Setting {
        place,
        is_group: facts.audience() == Audience::Group,
        trust: facts.trust.name(),
        trigger: trigger(facts.trigger),
    }
}

fn trigger(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Asked => "asked",
        Trigger::Scheduled => "scheduled",
        Trigger::Heartbeat => "heartbeat",
        Trigger::Relayed => "relayed",
        Trigger::Webhook => "webhook",
    }
}

/// A setting in words, as a trace shows it.
pub(super) fn setting(facts: &Facts) -> String {
    let trigger = trigger(facts.trigger);
    let mode = match facts.mode {
        Mode::Normal => "normal",
        Mode::Plan => "plan",
    };
    let agent = if facts.parent.is_some() { " · agent" } else { "" };
    let others = if facts.taint.is_any() { " · other people's words" } else { "" };
    let own = facts.pick.agent.as_ref().map(|name| format!(" · agent {name}")).unwrap_or_default();
    let place = facts.place.name();
    let trust = facts.trust.name();
    format!("{place} · {trust} · {trigger} · {mode}{agent}{others}{own}")
}
