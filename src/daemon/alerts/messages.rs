//! What the owner reads of trouble.

use crate::daemon::status::ChannelStatus;
use crate::domain::count::counted;
use crate::domain::span::Span;
use crate::domain::usage::dollars;

/// The disk is nearly full.
pub(super) fn disk(free: u64, least: u64, folder: &str) -> String {
    let [free, least] = [free, least].map(|bytes| bytes / 1_000_000);
    format!(
        "The disk is nearly full: {free} MB are free for `{folder}`, and I warn you below {least} MB. Please make \
         room: when it is full, I cannot answer anybody."
    )
}

/// The day is dear.
pub(super) fn cost(micro_usd: u64, most: f64) -> String {
    format!(
        "Today's tasks have cost {}, more than ${most:.2} (`alerts.daily_cost_usd`). `selkie trace` lists them; \
         `limits` in the config limits what people can use.",
        dollars(micro_usd)
    )
}

/// A platform says nothing.
pub(super) fn silent(channel: &ChannelStatus, most: Span) -> String {
    let ChannelStatus { name, account, why, .. } = channel;
    let how = match why {
        Some(why) => format!("{name} ({account}) has refused me for {most}: {why}"),
        None => format!("{name} ({account}) has not answered me for {most}"),
    };
    format!("{}. I keep trying; `selkie doctor` tells you more.", how.trim_end_matches('.'))
}

/// The daemon dies again and again.
pub(super) fn crashes(times: u32) -> String {
    let times = counted(times.into(), ["time", "times"]);
    format!("I ended {times} within an hour without being asked to. `selkie logs` tells you why.")
}
