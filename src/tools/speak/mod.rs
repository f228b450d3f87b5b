//! Speaking into this very conversation, in public, and to people elsewhere: one implementation for all channels; what differs is data.

pub(crate) mod contacts_send;
mod envelope;
mod here;
mod leaving;
mod letter;
pub(crate) mod message;
mod pictures;
mod post;
mod post_later;
mod public;
mod react;
mod say_aloud;
pub(crate) mod send;

pub(crate) use leaving::leaving;
pub(crate) use letter::target;

use std::sync::Arc;

use selkie_channel_core::{Posting, SpeakingEffect, SpeakingTool};

use crate::{Settings, Tool};

/// Makes the runtime tool of a channel's data. It knows no task: the call's scope says where it speaks.
pub fn tool(data: &'static SpeakingTool, channel: &'static str, settings: &Settings) -> Arc<Tool> {
    match data.effect {
        SpeakingEffect::React => Tool::new(react::React { data, channel }),
        SpeakingEffect::SayAloud => Tool::new(say_aloud::SayAloud { data, channel }),
        SpeakingEffect::SendFile | SpeakingEffect::SendPhoto | SpeakingEffect::SendVoice => {
            let max_bytes = settings.send.max_bytes.min(data.max_bytes);
            Tool::new(send::Send { data, channel, max_bytes })
        }
    }
}

/// Makes the tools that post in public by a channel's data, from whatever conversation.
pub fn posting(data: &'static Posting, channel: &'static str) -> [Arc<Tool>; 2] {
    let now = post::PostNow { data, channel };
    [Tool::new(now), Tool::new(post_later::PostLater { data, channel })]
}

/// Whether config leaves a speaking tool on.
pub fn is_enabled(data: &SpeakingTool, settings: &Settings) -> bool {
    match data.effect {
        SpeakingEffect::React => settings.react.enabled,
        SpeakingEffect::SayAloud => settings.say_aloud.enabled,
        SpeakingEffect::SendFile | SpeakingEffect::SendPhoto | SpeakingEffect::SendVoice => {
            settings.send.enabled
        }
    }
}

#[cfg(test)]
mod posting_tests;
#[cfg(test)]
mod tests;
