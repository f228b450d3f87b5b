//! What people and conversations have used, counted so that no restart begins anew.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::Result;

/// Counters of use.
#[async_trait]
pub trait Spending: Send + Sync {
    /// Adds to counters and returns what each has come to, in the same order; nothing is added with an
    /// amount of 0. Forgets counters whose time began before `forget`. Relaxed.
    async fn spend(&self, spent: Vec<Spent>, forget: DateTime<Utc>) -> Result<Vec<u64>>;
}

/// One addition to a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    /// Whose it is, e.g. a person's id.
    pub who: String,
    /// What is counted, e.g. `calls`.
    pub what: &'static str,
    /// When the counted time began.
    pub since: DateTime<Utc>,
    /// How much is added.
    pub amount: u64,
}
