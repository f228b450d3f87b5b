//! `--in WHERE --as WHO --trigger … --mode …`, turned into the facts that shape looks at.

use chrono::{DateTime, Utc};
use selkie_channel_core::{ChannelKit, MessageRef};

use super::args::Setting;
use super::outcome::Failure;
use selkie_app::build::AppConfig;
use selkie_config::problem::one_of;
use selkie_domain::choice::{Choice, Pick};
use selkie_domain::clock::{Clock, SystemClock};
use selkie_domain::facts::{Facts, Mode, Trigger, Trust, Where};
use selkie_domain::ids::TaskId;
use selkie_domain::parent::Parent;
use selkie_domain::taint::Taint;
use selkie_engine::work::agents::{AgentAsker, Agents};

/// Reads a setting in full.
///
/// # Errors
/// When there is no such place; lists what is taken.
pub fn facts_of(kits: &[ChannelKit], setting: &Setting) -> Result<Facts, Failure> {
    let mut facts = facts(kits, setting.place.as_deref().unwrap_or("cli"))?;
    facts.trust = match setting.who.as_deref() {
        Some("allowed") => Trust::Allowed,
        Some("stranger") => Trust::Stranger,
        _ => Trust::Owner,
    };
    facts.trigger = match setting.trigger.as_deref() {
        Some("scheduled") => Trigger::Scheduled,
        Some("heartbeat") => Trigger::Heartbeat,
        Some("relayed") => Trigger::Relayed,
        Some("webhook") => Trigger::Webhook,
        _ => Trigger::Asked,
    };
    facts.parent =
        (setting.trigger.as_deref() == Some("child")).then(|| Box::new(some_parent(facts.at)));
    facts.mode = if setting.mode.as_deref() == Some("plan") { Mode::Plan } else { Mode::Normal };
    facts.taint = if setting.tainted { Taint::Raw } else { Taint::Clean };
    if facts.trigger == Trigger::Webhook {
        // Nobody here has read what another service sends.
        (facts.trust, facts.taint) = (facts.trust.min(Trust::Allowed), Taint::Raw);
    }
    // Only who asks has written a message.
    let asked = facts.trigger == Trigger::Asked && facts.parent.is_none();
    facts.message = facts.message.filter(|_| asked);
    Ok(facts)
}

/// The same with the agent that the setting names.
///
/// # Errors
/// When the config has none of that name; lists what is taken.
pub fn with_agent(facts: Facts, setting: &Setting, plan: &AppConfig) -> Result<Facts, Failure> {
    let Some(name) = &setting.agent else { return Ok(facts) };
    let agents = Agents::of(&plan.settings.agents, &plan.folders.state);
    let asker = AgentAsker { trust: Trust::Owner, bound: None };
    let agent =
        agents.given(name, asker).map_err(|why| Failure::Usage(format!("--agent {why}")))?;
    let pick = Pick::named(Choice { agent: Some(agent.name.clone()), ..agent.choice() });
    Ok(Facts { narrowed: agent.narrowing().into_iter().collect(), pick, ..facts })
}

/// Reads a place as the owner who asks there.
///
/// # Errors
/// When there is none of that name; lists what is taken.
pub fn facts(kits: &[ChannelKit], name: &str) -> Result<Facts, Failure> {
    let place = place(kits, name).ok_or_else(|| {
        Failure::Usage(format!("--in takes {}, not {name:?}", one_of(&names(kits))))
    })?;
    // Whoever asks in a channel has written a message, which a reaction points at by itself.
    let message = matches!(place, Where::Channel(_)).then(|| MessageRef::new("0"));
    Ok(Facts {
        v: Facts::VERSION,
        place,
        speaker: None,
        trust: Trust::Owner,
        taint: Taint::Clean,
        trigger: Trigger::Asked,
        mode: Mode::Normal,
        message,
        opened: Vec::new(),
        passed: None,
        summoned: Vec::new(),
        narrowed: Vec::new(),
        parent: None,
        reports: 0,
        pick: Pick::default(),
        at: SystemClock.now(),
    })
}

/// A task that an agent could work for.
fn some_parent(at: DateTime<Utc>) -> Parent {
    Parent {
        task: TaskId(0),
        key: String::new(),
        name: "agent".to_owned(),
        until: at,
        schema: None,
    }
}

/// Lists every setting.
pub fn names(kits: &[ChannelKit]) -> Vec<String> {
    let kinds = kits.iter().flat_map(|k| k.kinds.iter().map(move |(kind, _)| (k.name, kind)));
    let channels = kinds.map(|(channel, kind)| format!("{channel}:{kind}"));
    std::iter::once("cli".to_owned()).chain(channels).collect()
}

fn place(kits: &[ChannelKit], name: &str) -> Option<Where> {
    if name == "cli" {
        return Some(Where::CommandLine { terminal: true });
    }
    let (channel, kind) = name.split_once(':')?;
    let kit = kits.iter().find(|k| k.name == channel)?;
    kit.kinds.iter().find(|(k, _)| *k == kind)?;
    Some(Where::Channel((kit.features)(kind)))
}
