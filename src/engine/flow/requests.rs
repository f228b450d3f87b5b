//! What people at the machine ask of approvals: listed, decided.

use std::sync::Arc;

use crate::flow::Flow;
use selkie_domain::approval::{self, Verdict};
use selkie_store::{ApprovalRow, StoreError};

impl Flow {
    /// Lists what waits for somebody's approval.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn approvals(&self) -> Result<Vec<ApprovalRow>, StoreError> {
        self.outbox.storage.ledger.approvals(None).await
    }

    /// Lists the requests with which somebody was muted who still is.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn muted(&self) -> Result<Vec<ApprovalRow>, StoreError> {
        self.outbox.storage.ledger.muted().await
    }

    /// Decides what waits under this code, in the name of the machine's owner; returns what came of it, `None`
    /// when nothing, or more than one thing, waits under it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn decide(&self, code: &str, verdict: Verdict) -> Result<Option<String>, StoreError> {
        let mut open = match verdict {
            Verdict::Unmute => self.muted().await?,
            _ => self.approvals().await?,
        };
        open.retain(|row| row.key == code || approval::code(&row.key) == code.to_lowercase());
        if open.len() != 1 {
            return Ok(None);
        }
        let intake = Arc::clone(&self.intake);
        let decided = async move {
            match open.pop() {
                Some(row) => Some(intake.commands.buttons.decisions.at_machine(row, verdict).await),
                None => None,
            }
        };
        Ok(self.outbox.runtime.to_the_end(decided).await)
    }
}
