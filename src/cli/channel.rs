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
    let at = first_word(&line);
    let named = line.get(at).is_some_and(|word| binary.kits.iter().any(|kit| word == kit.name));
    if named && line.get(at + 1).is_some_and(|word| word == "manifest") {
        line.insert(at, "channel".into());
        line.swap(at + 1, at + 2);
    } else if named
        && line.get(at + 1).is_none_or(|word| ["--help", "-h", "help"].iter().any(|h| word == h))
    {
        line.splice(at.., ["channel".into(), "--help".into()]);
    }
    line
}

/// The place of the first word behind the options that stand before every command.
fn first_word(line: &[OsString]) -> usize {
    let mut at = 1;
    while let Some(word) = line.get(at).and_then(|word| word.to_str()) {
        at += match ["--config", "--state"].iter().find_map(|name| word.strip_prefix(name)) {
            // Its value is the next word.
            Some("") => 2,
            Some(value) if value.starts_with('=') => 1,
            _ => break,
        };
    }
    at
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
