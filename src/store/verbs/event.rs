//! An event on its way into the store, with its texts written before it reaches the writer.

use super::precheck::{Glance, glance};
use super::rows::lean;
use super::{facts, keys, texts};
use crate::arrival::{Arrival, Disposition};
use crate::error::Result;
use crate::tx::Tx;

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
        let facts = match &arrival.disposition {
            Disposition::Task(task) | Disposition::MeantNow(task) => {
                Some(facts::FactsText::new(&task.facts)?)
            }
            _ => None,
        };
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

    /// Whether a task comes of it.
    pub fn is_task(&self) -> bool {
        matches!(self.arrival.disposition, Disposition::Task(_))
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
