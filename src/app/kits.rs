//! What the kinds of channel that were built in come to: the channels of a config, and how each writes ids.

use selkie_channel_core::{BuildContext, Channel};
use selkie_config::RawConfig;
use selkie_people::forms::{Form, Forms};
use selkie_tools::base::PublicChannel;

use crate::Binary;

/// Lets every channel look at its section.
pub fn channels(binary: &Binary, context: &BuildContext, reading: &mut RawConfig) -> Vec<Channel> {
    let mut built = Vec::new();
    for kit in &binary.kits {
        let Some(section) = reading.section(kit.name).cloned() else { continue };
        let state_dir = context.state_dir.join(kit.name);
        match (kit.build)(section, BuildContext { state_dir, ..context.clone() }) {
            Ok(channel) => built.extend(channel),
            Err(problems) => reading.add(kit.name, problems),
        }
    }
    built
}

/// How every kind of channel writes the ids of people and chats.
pub fn forms(binary: &Binary) -> Forms {
    let of = |kit: &selkie_channel_core::ChannelKit| Form {
        channel: kit.name,
        people: kit.people,
        places: kit.places,
        contacts: kit.contacts,
    };
    Forms::new(binary.kits.iter().map(of))
}

/// Lists the channels that can post in public, and which of them have an account.
pub fn public_channels(binary: &Binary, channels: &[Channel]) -> Vec<PublicChannel> {
    let of = |kit: &selkie_channel_core::ChannelKit| {
        let configured = channels.iter().any(|channel| channel.name == kit.name);
        Some(PublicChannel { name: kit.name, data: kit.posting?, configured })
    };
    binary.kits.iter().filter_map(of).collect()
}
