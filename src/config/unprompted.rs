//! Where the bot is to speak although nobody asked, as far as a config tells: schedules and the heartbeat.

use selkie_channel_core::ChannelKit;

use crate::named::conversation;
use crate::problem::{Wrong, one_of};
use selkie_engine::intake::settings::HeartbeatSettings;

/// What is known of those who can be spoken to.
pub struct Targets<'a> {
    /// The channels that are built in.
    pub kits: &'a [ChannelKit],
    /// Whose bot it is.
    pub owners: &'a [String],
    /// Whether the channel of this name is configured.
    pub has_section: &'a dyn Fn(&str) -> bool,
}

impl Targets<'_> {
    /// Says what is wrong with a text that names where to speak.
    pub fn fault(&self, to: &str) -> Option<String> {
        if let Some(why) = conversation(to, self.kits) {
            return Some(why);
        }
        let carry: Vec<&ChannelKit> =
            self.kits.iter().filter(|kit| (kit.people.fit)(to) || (kit.places.fit)(to)).collect();
        if carry.is_empty() || carry.iter().any(|kit| (self.has_section)(kit.name)) {
            return None;
        }
        let names: Vec<String> = carry.iter().map(|kit| kit.name.to_owned()).collect();
        Some(format!(
            "is {to:?}, and {} has no section here: write one, or name a conversation of a channel that has",
            one_of(&names)
        ))
    }

    /// Says why what names nobody cannot be said to the first owner.
    pub fn nobody(&self) -> Option<String> {
        if self.owners.is_empty() {
            return (!self.kits.is_empty()).then(|| {
                "the first owner's, and `owners` is empty: write your id there".to_owned()
            });
        }
        let with_section = || self.kits.iter().filter(|kit| (self.has_section)(kit.name));
        let is_known = |owner: &String| with_section().any(|kit| (kit.people.fit)(owner));
        // Without any channel nothing is heard or said: that is noted.
        let is_reached = with_section().next().is_none() || self.owners.iter().any(is_known);
        (!is_reached).then(|| {
            "for the first owner, and no channel with a section knows an id of `owners`: name a conversation in `to`"
                .to_owned()
        })
    }
}

/// Lists what is wrong with the heartbeat.
pub fn heartbeat(settings: &HeartbeatSettings, targets: &Targets<'_>) -> Vec<Wrong> {
    let HeartbeatSettings { enabled, to, .. } = settings;
    let fault = |to: &str| match enabled {
        true => targets.fault(to),
        // Switched off it may name what is switched off, too.
        false => conversation(to, targets.kits),
    };
    let to_wrong = to.as_deref().and_then(fault).map(|why| (path("to"), why));
    let is_nobodys = *enabled && (to.is_none() || targets.owners.is_empty());
    let nobody = is_nobodys.then(|| targets.nobody()).flatten();
    let nobody = nobody.map(|why| (path("enabled"), format!("is {why}")));
    to_wrong.into_iter().chain(nobody).collect()
}

fn path(key: &str) -> Vec<String> {
    ["heartbeat", key].map(str::to_owned).into()
}
