//! `selkie channel manifest`.

use super::{Failure, Outcome, print};
use crate::daemon::Binary;

/// Prints what a person pastes at the platform to make the bot.
pub fn manifest(binary: &Binary, name: &str) -> Outcome {
    let known = binary.kits.iter().filter_map(|kit| Some((kit.name, kit.manifest?)));
    let known: Vec<(&str, fn() -> String)> = known.collect();
    let Some((_, manifest)) = known.iter().find(|(known, _)| *known == name) else {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let names = if names.is_empty() { "none here".to_owned() } else { names.join(", ") };
        return Err(Failure::Usage(format!(
            "no manifest for {name:?}; channels that have one: {names}"
        )));
    };
    Ok(print::out(&manifest())?)
}
