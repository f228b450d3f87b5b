//! An event on its way into the store, with its texts written before it reaches the writer.

use std::borrow::Cow;

use super::precheck::{Glance, glance};
use super::rows::lean;
use super::{facts, keys, texts};
use crate::arrival::{Arrival, Disposition};
use crate::error::Result;
use crate::tx::Tx;

/// A message of a task.
pub const TASK: &str = "task";

/// An arrival, written as text before it reaches the writer.
#[derive(Debug)]
pub struct Row {
    /// The arrival.
    pub arrival: Arrival,
    /// Its event, as it is stored.
    pub text: String,
    /// Of the task that it may become.
    pub facts: Option<facts::FactsText>,
}

impl Row {
    /// Writes an arrival's texts.
    pub fn new(mut arrival: Arrival) -> Result<Self> {
        keys::shorten(&mut arrival);
        let text = lean(&arrival.inbound)?;
        let facts = arrival.task().map(|task| facts::FactsText::new(&task.facts)).transpose()?;
        Ok(Self { arrival, text, facts })
    }

    /// Looks for what there is of it.
    pub fn glance(&self, tx: &mut dyn Tx) -> Result<Glance> {
        let place = self.facts.as_ref().map_or("", facts::FactsText::place);
        glance(tx, &self.arrival.inbound, place)
    }

    /// Returns it without its words: they were taken back before it came.
    pub fn taken_back(&self) -> Self {
        let mut arrival = self.arrival.clone();
        arrival.inbound.quote = None;
        Self { arrival, text: texts::taken_back(&self.text), facts: None }
    }

    /// Returns the account that brought it.
    pub fn account(&self) -> &str {
        self.arrival.inbound.conversation.account().as_str()
    }

    /// Whether it may be part of a request.
    pub fn may_ask(&self) -> bool {
        let is_edit = matches!(self.arrival.disposition, Disposition::MeantNow(_));
        !is_edit && self.arrival.task().is_some()
    }

    /// Whether a message is taken back: its text must not stay in the log.
    pub fn takes_back(&self) -> bool {
        matches!(self.arrival.disposition, Disposition::Unsent)
    }

    /// Returns about how many bytes it will take.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.facts.as_ref().map_or(0, facts::FactsText::bytes)
    }
}

/// Returns a disposition's name in rows.
pub fn name(disposition: &Disposition) -> Cow<'static, str> {
    Cow::Borrowed(match disposition {
        Disposition::Task(_) | Disposition::MeantNow(_) => TASK,
        Disposition::Command => "command",
        Disposition::Tap => "tap",
        Disposition::Edit => "edit",
        Disposition::Gate => "gate",
        Disposition::Unsent => "unsend",
        Disposition::Context | Disposition::Earlier(_) => "context",
        Disposition::Ignored(reason) => return Cow::Owned(format!("ignored: {reason}")),
        Disposition::Unparsed => "unparsed",
        Disposition::Moved(_) => "moved",
        Disposition::Closed(_) => "closed",
        Disposition::Opened => "opened",
    })
}
