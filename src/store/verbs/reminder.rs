//! Reminders that were said: the verbs of [`Reminders`].

use async_trait::async_trait;
use selkie_channel_core::ConversationId;

use super::conversations;
use super::reminders::{self, SettleText};
use crate::error::Result;
use crate::reminder::{ReminderRow, Reminders, Settle, SettleResult};
use crate::sql::{Plan, SqlLedger};
use selkie_domain::reminder::ReminderId;

#[async_trait]
impl Reminders for SqlLedger {
    async fn reminder(&self, id: ReminderId) -> Result<Option<ReminderRow>> {
        self.read(move |tx| reminders::by_id(tx, id)).await
    }

    async fn reminders_in(
        &self,
        conversation: &ConversationId,
        most: usize,
    ) -> Result<Vec<ReminderRow>> {
        let id = conversation.clone();
        self.read(move |tx| match conversations::find(tx, &id)? {
            Some(row) => reminders::newest(tx, row, most),
            None => Ok(Vec::new()),
        })
        .await
    }

    async fn settle_reminder(&self, settle: Settle) -> Result<SettleResult> {
        let settle = SettleText::new(settle)?;
        let now = self.now();
        let plan = Plan::DURABLE.bytes(settle.bytes()).after(&settle.of());
        self.write(plan, move |tx| reminders::settle(tx, &settle, now)).await
    }
}
