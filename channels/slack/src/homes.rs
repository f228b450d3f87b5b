//! Where a person is alone with the bot: Slack writes to `U…`, and edits, takes files and tells of taps in the direct
//! message's own `D…`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use selkie_channel_core::http::Fault;
use selkie_channel_core::locked;
use serde_json::{Value, json};

use crate::api::Api;
use crate::ids::is_id;
use crate::refusal::{Kind, kind};

/// Direct messages whose id is known; more people are asked about again.
const MANY: usize = 10_000;

/// The direct messages of one bot.
#[derive(Clone, Default)]
pub struct Homes {
    known: Arc<Mutex<HashMap<String, String>>>,
}

impl Homes {
    /// Returns the channel that a call names: a person's own is opened, once.
    ///
    /// # Errors
    /// When Slack does not open it; an app without the scope for that writes to the person's id.
    pub async fn channel(&self, api: &Api, channel: &str) -> Result<String, Fault> {
        if !is_person(channel) {
            return Ok(channel.to_owned());
        }
        if let Some(home) = locked(&self.known).get(channel) {
            return Ok(home.clone());
        }
        match api.call("conversations.open", &json!({ "users": channel })).await {
            Ok(answer) => {
                let home = answer.pointer("/channel/id").and_then(Value::as_str);
                home.inspect(|home| self.learn(channel, home));
                Ok(home.unwrap_or(channel).to_owned())
            }
            Err(Fault::Refused(refusal)) if kind(&refusal) == Kind::Scope => Ok(channel.to_owned()),
            Err(fault) => Err(fault),
        }
    }

    /// Remembers where a message to `channel` has arrived.
    pub fn learn(&self, channel: &str, arrived: &str) {
        if !is_person(channel) || !is_id(arrived, b"D") {
            return;
        }
        let mut known = locked(&self.known);
        if known.len() >= MANY {
            known.clear();
        }
        known.insert(channel.to_owned(), arrived.to_owned());
    }
}

fn is_person(channel: &str) -> bool {
    is_id(channel, b"UW")
}
