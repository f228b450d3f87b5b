//! `selkie channel manifest`.

use super::{Failure, Outcome, print};
use crate::daemon::Binary;

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
