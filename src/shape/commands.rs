//! What the sandbox changes of a shape: which rules give way to commands that it holds, and where there are none without.

use crate::rules::{COMMANDS, Effect, Rule};
use crate::views::Key;
use selkie_channel_core::Audience;
use selkie_domain::facts::{Facts, Trust};
use selkie_domain::tool::Class;
use selkie_guard::policy;
use selkie_sandbox::{Confinement, Policy};

/// How the commands of a task run.
pub(super) fn confinement(
    sandbox: &Policy,
    facts: &Facts,
    words: &policy::Setting<'_>,
) -> Confinement {
    // In a group, what an owner runs may be what somebody else has written there.
    let has_network = facts.trust == Trust::Owner && facts.audience() != Audience::Group;
    sandbox.of(has_network, |rule| {
        let is_there = rule.place.as_deref().is_none_or(|place| policy::is_place(place, words));
        is_there && rule.trust.as_deref().is_none_or(|trust| trust == words.trust)
    })
}

/// The commands that a rule gives way to because a sandbox without the network holds them.
pub(super) fn eased(rule: &Rule, key: &Key<'_>) -> Vec<&'static str> {
    let class = Class::Exec.name();
    let is_opened = |name: &str| key.opened.iter().any(|word| word == name || word == class);
    let is_free = |name: &&str| rule.effect == Effect::Ask || is_opened(name);
    COMMANDS.into_iter().filter(|name| is_eased(rule, key, name)).filter(is_free).collect()
}

/// Whether a rule may give way to a tool at all.
pub(super) fn is_eased(rule: &Rule, key: &Key<'_>, name: &str) -> bool {
    rule.eases && key.confinement.is_closed() && COMMANDS.contains(&name)
}
