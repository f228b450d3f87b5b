//! Beginnings of streams of which nobody knows whether they stand: Slack's answer was lost, and a stream has no key. They
//! are looked for in their threads.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::TimeDelta;
use selkie_channel_core::{Lookup, Now, locked};
use serde_json::Value;

use crate::api::Api;
use crate::call::{Call, key_of};
use crate::ids;
use crate::lookup::{self, UnclearStream};
use crate::refusal;
use crate::whoami::Me;

/// Beginnings in doubt at once; older ones are forgotten.
const MANY: usize = 100;
/// How far our clock may be ahead of Slack's.
const CLOCKS: TimeDelta = TimeDelta::seconds(60);

/// The beginnings in doubt of one bot, by the keys of the messages they stand for.
pub struct Doubts {
    open: Mutex<HashMap<String, Doubt>>,
    now: Now,
    /// It was said that they cannot be looked for.
    is_told: AtomicBool,
}

/// A beginning, and what is needed to take it up.
#[derive(Clone, Debug)]
pub struct Doubt {
    /// What is looked for.
    pub begun: UnclearStream,
    /// By what its message is to be found when it is whole.
    pub metadata: Option<Value>,
    /// The key of the message that it stands for.
    pub key: String,
}

impl Doubts {
    /// There are none yet.
    pub fn new(now: Now) -> Self {
        Self { open: Mutex::default(), now, is_told: AtomicBool::new(false) }
    }

    /// Describes a stream that is about to be begun with the parameters of a message.
    pub fn begin(&self, post: &Value, text: &str) -> Doubt {
        let field = |name: &str| post[name].as_str().unwrap_or_default().to_owned();
        let key = post.pointer("/metadata/event_payload/key").and_then(Value::as_str);
        let key = key.unwrap_or_default().to_owned();
        // The question is older by Slack's own clock; where none is answered, ours has to do.
        let ours = || ids::ts(((self.now)() - CLOCKS).timestamp_micros().max(0));
        let after = lookup::answered(&key).map_or_else(ours, str::to_owned);
        let text = text.to_owned();
        let begun =
            UnclearStream { channel: field("channel"), thread: field("thread_ts"), text, after };
        Doubt { begun, metadata: post.get("metadata").cloned(), key }
    }

    /// Notes a beginning whose answer was lost.
    pub fn add(&self, doubt: Doubt) {
        let mut open = locked(&self.open);
        if open.len() >= MANY {
            open.clear();
        }
        open.insert(doubt.key.clone(), doubt);
    }

    /// Returns the beginning that a message in doubt may have become.
    pub fn of(&self, way: &Call) -> Option<Doubt> {
        locked(&self.open).get(key_of(way)?).cloned()
    }

    /// Looks for a beginning. Where the app may not look, that is said, once.
    pub async fn look(&self, api: &Api, doubt: &Doubt, me: &Me) -> Lookup {
        let known = lookup::stream(api, &doubt.begun, me).await;
        let known = known.unwrap_or_else(|fault| {
            lookup::later(&fault).unwrap_or_else(|| {
                if !self.is_told.swap(true, Ordering::Relaxed) {
                    tracing::warn!(
                        why = refusal::why(&fault),
                        "Slack does not show the thread: a beginning whose confirmation was lost may stay beside its answer"
                    );
                }
                Lookup::Unknown
            })
        });
        if !matches!(known, Lookup::NotSent | Lookup::Later { .. }) {
            locked(&self.open).remove(&doubt.key);
        }
        known
    }
}
