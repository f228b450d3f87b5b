//! The look at each channel, by its platform's own "who am I", and at the owners.

use selkie_channel_core::{Channel, ChannelKit, Examine, PersonId};

use super::finding::Finding;
use super::look::{Look, LookResult};
use selkie_app::Binary;
use selkie_app::build::AppConfig;
use selkie_domain::clock::SharedClock;

/// One for each channel that is configured, and one for owners whom no channel knows.
pub fn looks(binary: &Binary, plan: &AppConfig, daemon_runs: bool) -> Vec<Look> {
    let owners = &plan.settings.owners;
    let mut looks = Vec::new();
    // With mistakes a channel may be missing that is configured.
    if plan.mistakes.is_none() {
        looks.push(strangers(binary, plan));
    }
    for channel in &plan.channels {
        let kit = binary.kits.iter().find(|kit| kit.name == channel.name);
        let owners = owners.iter().filter(|owner| kit.is_some_and(|kit| (kit.people.fit)(owner)));
        let visit = Visit {
            channel: channel.clone(),
            owners: owners.map(|owner| PersonId::new(owner.as_str())).collect(),
            daemon_runs,
            clock: plan.clock(),
        };
        looks.push(Look::new("channel", channel.name, visit.make()));
    }
    looks
}

/// A channel that is to be asked.
struct Visit {
    channel: Channel,
    owners: Vec<PersonId>,
    daemon_runs: bool,
    clock: SharedClock,
}

impl Visit {
    async fn make(self) -> LookResult {
        let Self { channel, owners, daemon_runs, clock } = self;
        let found = channel.sender.examine(Examine { owners: &owners, daemon_runs }).await;
        let ahead = found.clock.map(|theirs| theirs - clock.now());
        let of = |found| Finding::of_channel(found).of(channel.name);
        LookResult { findings: found.findings.into_iter().map(of).collect(), ahead }
    }
}

/// Owners of a platform that has no section are never heard.
fn strangers(binary: &Binary, plan: &AppConfig) -> Look {
    let served = |kit: &&ChannelKit| plan.channels.iter().any(|channel| channel.name == kit.name);
    let kits: Vec<&ChannelKit> = binary.kits.iter().filter(served).collect();
    let unserved = |owner: &&String| !kits.iter().any(|kit| (kit.people.fit)(owner));
    let message = |owner: &String| {
        Finding::warning(
            "owners",
            format!("the owner {owner} belongs to a channel that is not configured"),
            "write that channel's section, or take the id out of owners",
        )
    };
    let findings: Vec<Finding> = match plan.channels.is_empty() {
        // That is said of the config already.
        true => Vec::new(),
        false => plan.settings.owners.iter().filter(unserved).map(message).collect(),
    };
    Look::new("owners", "", async move { findings.into() })
}
