//! The log of calls the bot made: counted always, kept with their parameters unless under load.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

use chrono::{DateTime, Utc};
use selkie_channel_core::locked;
use serde::Serialize;
use serde_json::Value;

/// The most calls that are kept.
const KEPT: usize = 10_000;

/// How a call ended.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// With a result.
    Done,
    /// With this refusal.
    Refused(u16, String),
    /// A planned fault met it before it had an effect.
    Faulted,
}

/// One call of the bot.
#[derive(Clone, Debug, Serialize)]
pub struct Call {
    /// The method in lower case.
    pub method: String,
    /// The parameters; a file as its name and size.
    pub params: Value,
    /// When it came.
    pub at: DateTime<Utc>,
    /// How it ended.
    pub outcome: Outcome,
}

/// The log.
#[derive(Default)]
pub(crate) struct CallLog(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    counts: HashMap<String, u64>,
    calls: VecDeque<Call>,
    load: bool,
}

impl CallLog {
    /// Whether calls are kept.
    pub(crate) fn keeps(&self) -> bool {
        !self.lock().load
    }

    /// StopTokens or starts keeping calls.
    pub(crate) fn set_load(&self, load: bool) {
        let mut inner = self.lock();
        inner.load = load;
        if load {
            inner.calls.clear();
        }
    }

    /// Counts a call.
    pub(crate) fn count(&self, method: &str) {
        let mut inner = self.lock();
        match inner.counts.get_mut(method) {
            Some(count) => *count += 1,
            None => {
                inner.counts.insert(method.to_owned(), 1);
            }
        }
    }

    /// Keeps a call.
    pub(crate) fn keep(&self, call: Call) {
        let mut inner = self.lock();
        if inner.calls.len() == KEPT {
            inner.calls.pop_front();
        }
        inner.calls.push_back(call);
    }

    /// How often a method was called.
    pub(crate) fn counted(&self, method: &str) -> u64 {
        self.lock().counts.get(&method.to_ascii_lowercase()).copied().unwrap_or_default()
    }

    /// The kept calls, oldest first.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.lock().calls.iter().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        locked(&self.0)
    }
}
