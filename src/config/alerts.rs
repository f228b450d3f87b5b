//! What the owner is told of by itself. Part of the config.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use selkie_domain::span::Span;

/// What the owner is told of in chat, once each time it comes about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Alerts {
    /// Whether anything is told.
    pub enabled: bool,
    /// With fewer free bytes on the disk of the state folder; 0: not told.
    pub disk_free_bytes: u64,
    /// When the tasks of a day have cost more US dollars; 0: not told.
    #[schemars(range(min = 0.0))]
    pub daily_cost_usd: f64,
    /// When a channel's platform has not answered for so long, or refuses us for so long; 0s: not told.
    pub channel_silent: Span,
    /// So long before a certificate expires by which selkie is reached, or its database; 0s: not told.
    pub certificate: Span,
    /// After so many ends within an hour that nobody asked for; 0: not told.
    pub crashes: u32,
}

impl Default for Alerts {
    fn default() -> Self {
        Self {
            enabled: true,
            disk_free_bytes: 500_000_000,
            daily_cost_usd: 10.0,
            channel_silent: Span::seconds(15 * 60),
            certificate: Span::seconds(14 * 24 * 3600),
            crashes: 3,
        }
    }
}
