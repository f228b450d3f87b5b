//! What of a run is to be stored: its new items, and which call of a model wrote which.

use super::{Run, StoredProgress};
use crate::header::since_stored;
use selkie_domain::transcript::Item;
use selkie_domain::usage::{ModelCall, Usage};
use selkie_store::{SeenMarks, StepForm, WritingCall};

/// What is to be stored after a step.
#[derive(Debug)]
pub struct StepRecord {
    /// New items.
    pub append: Vec<Item>,
    /// The header.
    pub header: String,
    /// New usage.
    pub usage: Usage,
    /// What the new items have seen besides.
    pub seen: SeenMarks,
    /// The calls of a model that wrote new items.
    pub wrote: Vec<WritingCall>,
    /// What a provider wants back with new answers.
    pub kept: Vec<StepForm>,
}

impl Run {
    /// Notes the call that brought the answer, beside what the answer wrote, if it wrote anything.
    pub fn called(&mut self, call: ModelCall) {
        if let Some(Item::Asked { .. } | Item::Said { .. }) = self.items.last() {
            self.wrote.push(WritingCall { item: self.items.len() - 1, call });
        }
    }

    /// Hands over what is not stored yet and counts it as stored.
    pub fn take_unstored(&mut self) -> StepRecord {
        let until = self.pending.as_ref().map_or(self.items.len(), |(begin, _)| *begin);
        let append = self.items[self.stored.items..until].to_vec();
        let wrote = self.take_wrote();
        let usage = since_stored(self.header.usage, self.stored.usage);
        self.stored = StoredProgress { items: until, usage: self.header.usage };
        let seen = std::mem::take(&mut self.seen);
        // A header of plain data always serializes.
        let header = serde_json::to_string(&self.header).unwrap_or_default();
        let kept = std::mem::take(&mut self.own.unstored);
        StepRecord { append, header, usage, seen, wrote, kept }
    }

    /// Hands over the calls that wrote what is not stored yet, by its place in that.
    fn take_wrote(&mut self) -> Vec<WritingCall> {
        let stored = self.stored.items;
        let wrote = std::mem::take(&mut self.wrote).into_iter();
        wrote.map(|one| WritingCall { item: one.item.saturating_sub(stored), ..one }).collect()
    }
}
