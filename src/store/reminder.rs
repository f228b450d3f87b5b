//! Reminders that were said: found, and settled by their person, each once.

use async_trait::async_trait;
use selkie_channel_core::{ConversationId, MessageRef};

use crate::delivery::{Draft, QueuedOutbound};
use crate::error::Result;
use crate::schedule::{NewSchedule, ScheduleRow};
use selkie_domain::ids::{InboxId, OutboundId};
use selkie_domain::reminder::{ReminderId, ReminderState};

/// Reminders that were said.
#[async_trait]
pub trait Reminders: Send + Sync {
    /// Returns a reminder; `None` when it was never said, or is forgotten.
    async fn reminder(&self, id: ReminderId) -> Result<Option<ReminderRow>>;

    /// Returns the newest reminders that were said in a conversation, the newest first, so many at most.
    async fn reminders_in(
        &self,
        conversation: &ConversationId,
        most: usize,
    ) -> Result<Vec<ReminderRow>>;

    /// Settles a reminder, once for ever; what says it again is kept in the same write. Durable.
    async fn settle_reminder(&self, settle: Settle) -> Result<SettleResult>;
}

/// A reminder that was said.
#[derive(Clone, Debug, PartialEq)]
pub struct ReminderRow {
    /// Which.
    pub id: ReminderId,
    /// Its schedule.
    pub schedule: ScheduleRow,
    /// What its person has made of it.
    pub settled: Option<ReminderState>,
    /// What says it; nothing when that is forgotten.
    pub said: Option<OutboundId>,
    /// The message that says it, and carries its buttons, when it has arrived.
    pub message: Option<MessageRef>,
}

/// How a reminder is settled.
#[derive(Clone, Debug)]
pub struct Settle {
    /// The tap that does it; nothing for a command.
    pub row: Option<InboxId>,
    /// Which.
    pub id: ReminderId,
    /// What says it again; nothing when it is done.
    pub again: Option<Box<NewSchedule>>,
    /// Its message as it looks from now on, for a tap.
    pub revision: Option<Draft>,
}

/// What became of it.
#[derive(Clone, Debug)]
pub enum SettleResult {
    /// It is settled, and this is to be sent.
    Settled(Option<QueuedOutbound>),
    /// Its tap was carried out before.
    Repeated,
    /// Somebody was quicker.
    Late,
    /// Its maker has as many schedules as they may: nothing is settled.
    Full,
}
