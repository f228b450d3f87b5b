//! Puts an emoji on a message.

use selkie_channel_core::http::Fault;
use selkie_channel_core::{Delivery, Receipt};
use serde_json::json;

use super::SlackSender;
use crate::emoji;
use crate::verdict::{unproven, verdict};

impl SlackSender {
    pub(super) async fn react(&self, channel: &str, ts: &str, written: &str) -> Delivery {
        let names = emoji::names(written);
        // A standard name that a server does not list is Slack's to judge.
        let known = names.iter().find(|name| self.whoami.knows_emoji(name));
        let known = known.or(names.first().filter(|name| emoji::is_standard(name)));
        let Some(name) = known else {
            return Delivery::refused(match names.first() {
                Some(name) => format!("invalid_name: this workspace has no emoji {name}"),
                None => format!(
                    "{written} is not an emoji name: Slack takes names such as thumbsup or eyes"
                ),
            });
        };
        let params = json!({ "channel": channel, "timestamp": ts, "name": name });
        match self.api.call("reactions.add", &params).await {
            Ok(_) => Delivery::Sent(Receipt::default()),
            Err(Fault::Refused(refusal)) => verdict(&refusal),
            Err(fault) => unproven(fault, true),
        }
    }
}
