//! What people and conversations have used, counted so that no restart begins anew.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::error::Result;
use selkie_domain::usage::UsageDelta;

/// Counters of use.
#[async_trait]
pub trait UsageCounters: Send + Sync {
    /// Adds to counters and returns what each has come to, in the same order; nothing is added with an
    /// amount of 0. Forgets counters whose time began before `forget`. Relaxed.
    async fn spend(&self, spent: Vec<UsageDelta>, forget: DateTime<Utc>) -> Result<Vec<u64>>;
}
