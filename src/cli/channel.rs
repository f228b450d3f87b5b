//! `selkie channel manifest`.

use std::ffi::OsString;

use clap::Subcommand;

use super::outcome::{Failure, Outcome};
use super::print;
use selkie_app::Binary;

/// `selkie channel`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie channel manifest slack
  selkie slack manifest                     the same")]
pub enum Channel {
    /// Print the app manifest to paste at the platform
    Manifest {
        /// The channel: slack
        name: String,
    },
}

/// Takes `selkie <channel> manifest` for `selkie channel manifest <channel>`: the channels' names are data. Help
/// behind a channel's name, or nothing, is the help of these commands.
pub fn spelled_out(binary: &Binary, line: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut line: Vec<OsString> = line.into_iter().collect();
    let named = line.get(1).is_some_and(|word| binary.kits.iter().any(|kit| word == kit.name));
    if named && line.get(2).is_some_and(|word| word == "manifest") {
        line.insert(1, "channel".into());
        line.swap(2, 3);
    } else if named
        && line.get(2).is_none_or(|word| ["--help", "-h", "help"].iter().any(|h| word == h))
    {
        line.splice(1.., ["channel".into(), "--help".into()]);
    }
    line
}

/// Prints what a person pastes at the platform to make the bot.
pub fn manifest(binary: &Binary, name: &str) -> Outcome {
    let wanted = binary.kits.iter().find(|kit| kit.name == name);
    if let Some(manifest) = wanted.and_then(|kit| kit.manifest) {
        return Ok(print::out(&manifest())?);
    }
    let known = binary.kits.iter().filter(|kit| kit.manifest.is_some()).map(|kit| kit.name);
    let known = known.collect::<Vec<_>>().join(", ");
    let known = if known.is_empty() { "none here" } else { known.as_str() };
    Err(Failure::Usage(format!("no manifest for {name:?}; channels that have one: {known}")))
}
