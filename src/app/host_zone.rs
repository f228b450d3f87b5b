//! The zone of the machine.

use std::path::Path;

use selkie_config::source::Environment;
use selkie_schedule::zone::{Host, Zone};

/// The zone that this machine is in, UTC where it does not say.
pub fn host_zone(env: &Environment) -> Zone {
    let link = std::fs::read_link("/etc/localtime").ok();
    let written = std::fs::read_to_string("/etc/timezone").ok();
    let host = Host {
        tz: env.get("TZ").map(String::as_str),
        localtime: link.as_deref().and_then(Path::to_str),
        timezone: written.as_deref(),
    };
    Zone::of_host(&host).unwrap_or(Zone::UTC)
}
