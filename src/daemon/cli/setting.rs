//! `--in SETTING`: `cli` or `<channel>:<kind>`, turned into the facts of the owner who asks there.

use selkie_channel_core::{ChannelKit, MessageRef};

use super::Failure;
use crate::config::problem::one_of;
use crate::domain::clock::{Clock, SystemClock};
use crate::domain::facts::{Facts, Mode, Occasion, Trust, Where};

/// Reads a setting.
///
/// # Errors
/// When there is none of that name; lists what is taken.
pub fn facts(kits: &[ChannelKit], name: &str) -> Result<Facts, Failure> {
    let place = place(kits, name).ok_or_else(|| {
        Failure::Usage(format!("--in takes {}, not {name:?}", one_of(&names(kits))))
    })?;
    // Whoever asks in a channel has written a message: tools that point at one are there.
    let message = matches!(place, Where::Channel(_)).then(|| MessageRef::new("0"));
    Ok(Facts {
        v: Facts::VERSION,
        place,
        speaker: None,
        trust: Trust::Owner,
        untrusted_text: false,
        occasion: Occasion::Asked,
        mode: Mode::Normal,
        message,
        opened: Vec::new(),
        passed: None,
        summoned: Vec::new(),
        at: SystemClock.now(),
    })
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
