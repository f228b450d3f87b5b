//! How a socket ends, and what is said of it.

use std::time::Duration;

use selkie_channel_core::http::{Fault, Refusal};

use crate::refusal::{Kind, kind, words};

/// When Slack limits us and names no time.
const LIMITED: Duration = Duration::from_secs(10);

/// Why a socket ended.
#[derive(Debug)]
pub enum End {
    /// Slack asked for it: another is opened at once.
    Renewed,
    /// It broke, was silent, or never came to be.
    Broken(String),
    /// Slack names a time to wait.
    Limited(Duration),
    /// The app was forbidden to use sockets.
    Disabled,
    /// So many sockets of this app are another program's.
    Taken(u64),
    /// No token will be taken until it is replaced.
    Refused(String),
}

impl End {
    /// Reads the reason of a `disconnect`.
    pub fn of_disconnect(reason: &str) -> Self {
        match reason {
            "link_disabled" => Self::Disabled,
            "too_many_websockets" => {
                Self::Broken("Slack holds ten sockets of this app already".to_owned())
            }
            _ => Self::Renewed,
        }
    }

    /// Reads why no socket was to be had.
    pub fn of_fault(fault: Fault) -> Self {
        let refusal = match fault {
            Fault::NotSent(why) | Fault::Unclear(why) => return Self::Broken(why),
            Fault::Refused(refusal) => refusal,
        };
        match kind(&refusal) {
            Kind::Limited => Self::Limited(refusal.retry_after.unwrap_or(LIMITED)),
            Kind::Token | Kind::Scope => Self::Refused(credential(&refusal)),
            _ => Self::Broken(words(&refusal)),
        }
    }
}

/// Says that a socket failed: loudly at first and now and then, so that an outage fills no log.
pub fn grumble(slot: u8, fails: u32, error: &str) {
    if fails <= 3 || fails.is_multiple_of(20) {
        tracing::warn!(slot, error, fails, "a socket failed; opening another");
    } else {
        tracing::debug!(slot, error, fails, "a socket failed; opening another");
    }
}

/// Told when Socket Mode is off.
pub const DISABLED: &str = "Slack has switched Socket Mode off for this app, so I receive nothing there. Switch it \
    on under \"Socket Mode\" in the app's settings. I keep trying.";

/// Told when another program listens with this app's token.
pub const TAKEN: &str = "Another program listens to Slack with my app's token (slack.app_token). Slack splits the \
    messages between us, so I miss some while it runs. Stop it, or give one of us an app of its own.";

fn credential(refusal: &Refusal) -> String {
    format!(
        "Slack refuses the app's token ({}). Make one with connections:write under \"Basic \
         Information\", put it into slack.app_token_file or slack.app_token, check slack.base_url, \
         and start again.",
        words(refusal)
    )
}
