//! Messages that were taken back, for who removes their files.

use selkie_domain::ids::InboxId;

/// What was taken back and has files, perhaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnsentFiles {
    /// The messages.
    pub messages: Vec<UnsentMessage>,
    /// The events that took them back of which no task brings another file any more.
    pub over: Vec<InboxId>,
}

/// A message that was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsentMessage {
    /// The row number of its place's first conversation: names the place's folder in the cache.
    pub place_row: i64,
    /// Its row.
    pub row: InboxId,
}
