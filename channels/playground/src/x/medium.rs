//! One picture that is uploaded.

use chrono::{DateTime, Utc};

/// A picture that is uploaded.
pub(super) struct Medium {
    pub(super) id: String,
    pub(super) owner: &'static str,
    pub(super) mime: String,
    /// How many bytes were announced.
    pub(super) total: usize,
    pub(super) content: Vec<u8>,
    pub(super) pieces: u64,
    /// It was ended, and may be named by a post when X has read it.
    pub(super) is_ended: bool,
    /// It was asked after since: what moves takes X a while.
    pub(super) is_read: bool,
    pub(super) ends: DateTime<Utc>,
}
